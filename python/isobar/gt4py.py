"""Isobar as a back end of GT4Py: `import isobar.gt4py`, then `gtscript.stencil(backend="isobar")`.

Nothing of GT4Py is edited. Its builder hands over the definition, externals and types; the text of the definition goes to
Isobar's own front end, so that GT4Py parses nothing and writes no files.

`python -m isobar.gt4py model.py args...` runs a program that knows nothing of Isobar, with the back ends registered.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import runpy
import sys
import time
from typing import Any, ClassVar

import numpy as np
from gt4py import storage as gt_storage
from gt4py.cartesian import backend as gt_backend
from gt4py.cartesian import definitions as gt
from gt4py.cartesian.gtc.definitions import Boundary
from gt4py.cartesian.stencil_object import StencilObject

from ._capture import capture
from .stencil import Stencil, _threads

# What models pass to other back ends of GT4Py; it means nothing here.
_IGNORED = ("verbose", "debug_mode", "device_sync", "opt_level", "oir_pipeline")

_ACCESS = {
    "none": gt.AccessKind.NONE,
    "read": gt.AccessKind.READ,
    "write": gt.AccessKind.WRITE,
    "read-write": gt.AccessKind.READ_WRITE,
}


def _layout(dimensions: tuple[str, ...]) -> tuple[int | None, ...]:
    """Neighbours along I lie side by side; data dimensions are farthest."""
    order = {"K": 0, "J": 1, "I": 2}
    axes = sorted((it for it in dimensions if it in order), key=order.__getitem__)
    data = [it for it in dimensions if it not in order]
    rank = {it: at for at, it in enumerate([*data, *axes])}
    return tuple(rank[it] for it in dimensions)


def _is_optimal(array: Any, dimensions: tuple[str, ...]) -> bool:
    """Whatever has neighbours side by side along I or K is fast; nothing is copied for others either."""
    sides = [stride // array.itemsize for stride, it in zip(array.strides, dimensions) if it in "IK"]
    return not sides or 1 in sides or min(array.shape, default=1) <= 1


class _Backend(gt_backend.Backend):
    """One back end of Isobar's."""

    options: ClassVar[dict[str, Any]] = {it: {"versioning": False, "type": object} for it in _IGNORED}
    storage_info: ClassVar[Any] = {
        "alignment": 8,
        "device": "cpu",
        "layout_map": _layout,
        "is_optimal_layout": _is_optimal,
    }
    languages: ClassVar[dict[str, Any]] = {"computation": "rust", "bindings": ["python"]}
    native: ClassVar[str]

    def load(self) -> type[StencilObject] | None:
        return None

    def generate(self) -> type[StencilObject]:
        begun = time.perf_counter()
        builder = self.builder
        options = builder.options
        captured = capture(builder._definition, externals=builder.externals, dtypes=builder.dtypes)
        captured.request["literal_int_precision"] = options.literal_int_precision
        captured.request["literal_float_precision"] = options.literal_float_precision
        made = Stencil(builder._definition, captured, self.native, _threads(), options.name)
        known = json.dumps([captured.request, self.name], sort_keys=True, default=str)
        identity = hashlib.sha256(known.encode()).hexdigest()
        if options.build_info is not None:
            took = time.perf_counter() - begun
            options.build_info.update(parse_time=0.0, module_time=0.0, codegen_time=0.0, build_time=took, load_time=0.0)
        return _stencil_class(made, builder, self.name, identity)


def _stencil_class(made: Stencil, builder: Any, backend: str, identity: str) -> type[StencilObject]:
    signature = inspect.signature(builder._definition)
    fields = {
        name: gt.FieldInfo(
            access=_ACCESS[it["access"]],
            boundary=Boundary(*[(max(-lo, 0), max(hi, 0)) for lo, hi in it["boundary"]]),
            axes=tuple(it["axes"]),
            data_dims=tuple(it.get("data_dims") or ()),
            dtype=np.dtype(it["dtype"]),
        )
        for name, it in made.field_info.items()
    }
    parameters = {
        name: gt.ParameterInfo(access=_ACCESS[it["access"]], dtype=np.dtype(it["dtype"]))
        for name, it in made.parameter_info.items()
    }
    options = builder.options
    module = options.module or builder._definition.__module__

    class Object(StencilObject):
        """A stencil of Isobar's, as GT4Py calls it."""

        _gt_id_ = identity
        definition_func = staticmethod(builder._definition)
        isobar = made

        @property
        def backend(self) -> str:
            return backend

        @property
        def source(self) -> str:
            return made._captured.request["files"][made._captured.request["main"]]

        @property
        def domain_info(self) -> gt.DomainInfo:
            return gt.DomainInfo(("I", "J"), "K", made.min_levels, 3)

        @property
        def field_info(self) -> dict[str, gt.FieldInfo]:
            return fields

        @property
        def parameter_info(self) -> dict[str, gt.ParameterInfo]:
            return parameters

        @property
        def constants(self) -> dict[str, Any]:
            return {}

        @property
        def options(self) -> dict[str, Any]:
            return {"name": options.name, "module": module, **options.backend_opts}

        def __call__(
            self,
            *args: Any,
            domain: Any = None,
            origin: Any = None,
            validate_args: bool = True,
            exec_info: dict[str, Any] | None = None,
            **kwargs: Any,
        ) -> None:
            if exec_info is not None:
                exec_info["call_start_time"] = time.perf_counter()
            if args:
                kwargs = {**dict(zip(signature.parameters, args)), **kwargs}
            bound = made.bind(domain=domain, origin=origin, **kwargs)
            self._run(bound, exec_info)

        def run(self, _domain_: Any, _origin_: Any, exec_info: dict[str, Any] | None = None, **arguments: Any) -> None:
            self._run(made.bind(domain=_domain_, origin=_origin_, **arguments), exec_info)

        def _run(self, bound: Any, exec_info: dict[str, Any] | None) -> None:
            if exec_info is None:
                bound.run()
                return
            exec_info["run_start_time"] = time.perf_counter()
            bound.run()
            now = time.perf_counter()
            exec_info.update(run_end_time=now, call_run_end_time=now, call_end_time=now)
            if exec_info.get("__aggregate_data"):
                run_time = now - exec_info["run_start_time"]
                call_time = now - exec_info.get("call_start_time", exec_info["run_start_time"])
                known = exec_info.setdefault(
                    type(self).__name__, {"ncalls": 0, "total_call_time": 0.0, "total_run_time": 0.0}
                )
                known["ncalls"] += 1
                known["call_time"], known["run_time"] = call_time, run_time
                known["total_call_time"] += call_time
                known["total_run_time"] += run_time

    Object.__name__ = Object.__qualname__ = f"{options.name}__isobar_{identity[:10]}"
    Object.__module__ = module
    return Object


def register() -> None:
    """Registers `isobar`, `isobar:debug` and `isobar:numpy` with GT4Py; once is enough."""
    for name, native in (("isobar", "rayon"), ("isobar:rayon", "rayon"), ("isobar:debug", "debug"), ("isobar:numpy", "numpy")):
        if name not in gt_backend.REGISTRY.names:
            of_name = type(f"Isobar{native.title()}", (_Backend,), {"name": name, "native": native})
            gt_backend.register(of_name)


register()

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m isobar.gt4py model.py args...")
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
