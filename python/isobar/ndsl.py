"""Isobar as a back end of NDSL: `import isobar.ndsl`, then `backend="isobar"`, or `Backend("st:isobar:cpu:KJI")`.

With `Backend("orch:isobar:cpu:KJI")`, methods that NDSL orchestrates are programs of Isobar's (`isobar.program`): those of
`NDSLRuntime`, and those that `orchestrate` names. A method is compiled when it is first called.

NDSL up to 2026.01 hands the name of a back end to GT4Py; from 2026.02 on it has a list of its own, to which the names
are added here. Nothing of NDSL is edited. Import it before the model makes its first stencil; `python -m isobar.ndsl
model.py args...` does so for a model that nobody edits.
"""

from __future__ import annotations

import sys
import types
from typing import Any

# GT4Py's settings are NDSL's, which asks to be imported first.
import ndsl.dsl  # noqa: F401

from . import gt4py as _gt4py
from ._program import run_program
from .program import Program
from .stencil import BACKENDS

# As NDSL from 2026.02 on calls them: strategy, framework, device, order of loops.
_ON_HOST = tuple(it for it in BACKENDS if it != "cuda")
NAMES = {
    "st:isobar:cpu:KJI": "isobar",
    "st:isobar:gpu:KJI": "isobar:cuda",
    "orch:isobar:cpu:KJI": "isobar",
    **{f"st:isobar-{it}:cpu:KJI": f"isobar:{it}" for it in _ON_HOST},
}


def install() -> bool:
    """Adds the names to NDSL's list, where it has one; once is enough. Answers whether it has."""
    _gt4py.register()
    try:
        from ndsl.config import backend as of_ndsl
    except ImportError:
        return False
    frameworks = of_ndsl.BackendFramework
    for name in ("isobar", *(f"isobar-{it}" for it in _ON_HOST)):
        if name in frameworks._value2member_map_:
            continue
        member = object.__new__(frameworks)
        member._name_, member._value_, member.__objclass__ = name.upper().replace("-", "_"), name, frameworks
        frameworks._member_map_[member._name_] = frameworks._value2member_map_[name] = member
        frameworks._member_names_.append(member._name_)
    of_ndsl._NDSL_TO_GT4PY_BACKEND_NAMING.update(NAMES)
    _orchestrate()
    return True


def _orchestrate() -> None:
    """Takes the methods that are orchestrated for a back end of Isobar's; those of other back ends stay with NDSL."""
    try:
        from ndsl.dsl.dace import orchestration
    except ImportError:
        return
    others = getattr(orchestration, "_LazyComputepathMethod", None)
    if others is None or getattr(others, "of_isobar", False):
        return

    class Method(others):  # type: ignore[misc, valid-type]
        of_isobar = True

        def __new__(cls, func: Any, config: Any) -> Any:
            backend = str(config.get_backend().as_gt4py())
            return _Orchestrated(func, backend) if backend.startswith("isobar") else super().__new__(cls)

    orchestration._LazyComputepathMethod = Method


class _Orchestrated:
    """A method that NDSL orchestrates, before it belongs to an object."""

    def __init__(self, function: types.FunctionType, backend: str):
        self.function, self.backend = function, backend

    def __get__(self, obj: Any, _of: Any = None) -> Program:
        # The method of the object's class is another one now: that is where its text is.
        obj.__dict__.setdefault("_isobar_methods", {})[self.function.__name__] = self.function
        backend = "rayon" if self.backend == "isobar" else self.backend
        return Program(types.MethodType(self.function, obj), backend=backend)


install()


if __name__ == "__main__":
    run_program("isobar.ndsl", sys.argv[1:])
