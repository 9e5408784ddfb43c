"""Isobar as a back end of GT4Py: `import isobar.gt4py`, then `gtscript.stencil(backend="isobar")`.

Nothing of GT4Py is edited. Its builder hands over the definition, externals and types; the text of the definition goes to
Isobar's own front end, so that GT4Py parses nothing and writes no files.

`python -m isobar.gt4py model.py args...` runs a program that knows nothing of Isobar, with the back ends registered.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from gt4py.cartesian import backend as gt_backend
from gt4py.cartesian import definitions as gt
from gt4py.cartesian.frontend.exceptions import GTScriptSyntaxError
from gt4py.cartesian.gtc.definitions import Boundary
from gt4py.cartesian.stencil_object import FrozenStencil, StencilObject

from . import _config, _memo
from ._program import run_program
from .errors import StencilError
from .stencil import BACKENDS, FAILURES, Stencil, of_call, timed

# What models pass to other back ends of GT4Py; it means nothing here.
_IGNORED = ("verbose", "debug_mode", "device_sync", "opt_level", "oir_pipeline")

# A call is over when it returns, whatever this says: what it wrote is there, and traps are exceptions.
_OF_GPUS: dict[str, Any] = {"device_sync": {"versioning": True, "type": bool}}

_ACCESS: dict[str, Any] = {
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


def _is_optimal_on_gpu(array: Any, dimensions: tuple[str, ...]) -> bool:
    """Threads side by side take neighbours along I."""
    sides = [stride // array.itemsize for stride, it in zip(array.strides, dimensions) if it == "I"]
    return sides in ([], [1]) or min(array.shape, default=1) <= 1


# What differs from back ends of the host: arrays are CuPy's, and rows start at lines as GT4Py's own have them.
_ON_GPU: dict[str, Any] = {
    "alignment": 32,
    "device": "gpu",
    "layout_map": _layout,
    "is_optimal_layout": _is_optimal_on_gpu,
}

# The classes that there are: by stencil and what GT4Py calls it.
_classes: dict[Any, type[StencilObject]] = {}


def _tell_layouts(given: dict[str, Any], fields: dict[str, Any], is_optimal: Callable[..., bool]) -> None:
    """Warns of arrays that are slow, as GT4Py does, when a stencil is called with them for the first time."""
    for name, it in fields.items():
        array = given.get(name)
        # NumPy's and CuPy's; others tell their strides in other ways.
        has_strides = isinstance(getattr(array, "strides", None), tuple) and hasattr(array, "itemsize")
        if has_strides and it.access != gt.AccessKind.NONE and not is_optimal(array, it.axes):
            warnings.warn(
                f"The layout of the field '{name}' is not recommended for this backend."
                "This may lead to performance degradation. Please consider using the"
                "provided allocators in `gt4py.storage`.",
                UserWarning,
                stacklevel=3,
            )


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
        if self.builder.options.raise_if_not_cached and not _memo.is_built(self._captured(), self.native):
            return None
        # What is there is found in no time.
        begun = time.perf_counter()
        found = self.generate()
        if self.builder.options.build_info is not None:
            self.builder.options.build_info["load_time"] = time.perf_counter() - begun
        return found

    def _captured(self) -> Any:
        builder, options = self.builder, self.builder.options
        precisions = (options.literal_int_precision, options.literal_float_precision)
        return _memo.captured(builder._definition, builder.externals, builder.dtypes, None, precisions)

    def generate(self) -> type[StencilObject]:
        begun = time.perf_counter()
        builder, options = self.builder, self.builder.options
        if unknown := set(options.backend_opts) - set(self.options):
            warnings.warn(f"Unknown options '{unknown}' for backend '{self.name}'", RuntimeWarning, stacklevel=2)
        try:
            captured = self._captured()
            parsed = built = time.perf_counter()
            wanted = _config.wanted(self.native, None, "reproducible", captured.n_positional)
            named = (options.name, options.module, self.name, repr(sorted(options.backend_opts.items())))
            key = (captured.text, *wanted.items(), *named)
            found = _classes.get(key)
            if found is None:
                made = Stencil(captured, self.native, definition=builder._definition)
                built = time.perf_counter()
                found = _memo.once(lambda: _stencil_class(made, builder, self.name), _classes, key)
        except SyntaxError as error:
            raise _syntax_error(error) from None
        if options.build_info is not None:
            # There is one step from text to machine code, and no file of a module is written.
            options.build_info.update(
                parse_time=parsed - begun, module_time=time.perf_counter() - built, codegen_time=built - parsed,
                build_time=built - parsed, load_time=0.0,
            )  # fmt: skip
        return found


class StencilSyntaxError(StencilError, GTScriptSyntaxError):
    """A stencil that does not compile, as GT4Py's callers expect it."""

    def __init__(self, error: StencilError):
        place = (error.filename, error.lineno, error.offset, error.text, error.end_lineno, error.end_offset)
        StencilError.__init__(self, error.msg, place, error.diagnostics)
        self.loc = None
        self.message = error.msg


class StencilValueError(StencilSyntaxError, ValueError):
    """One that GT4Py's callers expect as a `ValueError`: its parser takes such a stencil, and a later level refuses it."""


# A field that is written and read at another point of one computation.
_VALUE_ERRORS = ("E18", "E19", "E21")


def _syntax_error(error: SyntaxError) -> Exception:
    if not isinstance(error, StencilError):
        return error
    found = [it["code"] for it in error.diagnostics if it["severity"] == "error"]
    return StencilValueError(error) if found and found[0] in _VALUE_ERRORS else StencilSyntaxError(error)


@dataclasses.dataclass(frozen=True)
class Frozen(FrozenStencil):
    """A stencil whose domain and origins are fixed: GT4Py's own goes through `run`, which finds both anew."""

    native: Callable[..., None]

    def __call__(self, **kwargs: Any) -> None:
        if "exec_info" in kwargs or "validate_args" in kwargs:
            kwargs.pop("validate_args", None)
            if kwargs.get("exec_info") is not None:
                super().__call__(**kwargs)
                return
            kwargs.pop("exec_info", None)
        self.native(**kwargs)


def _stencil_class(made: Stencil, builder: Any, backend: str) -> type[StencilObject]:
    fields = {
        name: gt.FieldInfo(
            access=_ACCESS[it.access],
            boundary=Boundary(*[(max(before, 0), max(behind, 0)) for before, behind in it.boundary]),
            axes=it.axes,
            data_dims=it.data_dims,
            dtype=it.dtype,
        )
        for name, it in made.field_info.items()
        # One that has no type, and that nothing uses, is no field in GT4Py either.
        if it.access != "none" or name in builder._definition.__annotations__
    }
    parameters = {
        name: gt.ParameterInfo(access=_ACCESS[it.access], dtype=it.dtype) for name, it in made.parameter_info.items()
    }
    options = builder.options
    module = options.module or builder._definition.__module__
    identity = hashlib.sha256(f"{backend}\n{made._captured.text}".encode()).hexdigest()
    call, captured = made._native.call, made._captured
    levels = made.domain_info.min_sequential_axis_size
    constants = {key: it for key, it in builder.externals.items() if isinstance(it, (int, float, np.generic))}
    order = captured.parameters
    is_optimal = gt_backend.from_name(backend).storage_info["is_optimal_layout"]

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
            return made.source

        @property
        def domain_info(self) -> gt.DomainInfo:
            return gt.DomainInfo(("I", "J"), "K", levels, 3)

        @property
        def field_info(self) -> dict[str, gt.FieldInfo]:
            return fields

        @property
        def parameter_info(self) -> dict[str, gt.ParameterInfo]:
            return parameters

        @property
        def constants(self) -> dict[str, Any]:
            return constants

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
                timed(made, exec_info, args, kwargs, domain, origin, type(self).__name__)
                return
            try:
                if call(args, kwargs, domain, origin) and validate_args:
                    _tell_layouts({**dict(zip(order, args)), **kwargs}, fields, is_optimal)
            except FAILURES as error:
                raise of_call(error, captured) from None

        def freeze(self, *, origin: dict[str, tuple[int, ...]], domain: tuple[int, ...]) -> FrozenStencil:
            try:
                return Frozen(self, origin, domain, made.freeze(origin=origin, domain=domain))
            except FAILURES as error:
                raise of_call(error, captured) from None

        def run(self, _domain_: Any, _origin_: Any, exec_info: dict[str, Any] | None = None, **arguments: Any) -> None:
            if exec_info is not None:
                timed(made, exec_info, (), arguments, _domain_, _origin_, type(self).__name__)
                return
            try:
                call((), arguments, _domain_, _origin_)
            except FAILURES as error:
                raise of_call(error, captured) from None

    Object.__name__ = Object.__qualname__ = f"{options.name}____{backend.replace(':', '_')}_{identity[:10]}"
    Object.__module__ = module
    return Object


def register() -> None:
    """Registers `isobar` and `isobar:rayon`, `:openmp`, `:numpy`, `:debug`, `:cuda` with GT4Py; once is enough.

    Whether a GPU is there is asked when a stencil or a storage is made for `isobar:cuda`.
    """
    names = {"isobar": "rayon", **{f"isobar:{it}": it for it in BACKENDS}}
    for name, native in names.items():
        if name not in gt_backend.REGISTRY.names:
            of_gpus = {"storage_info": _ON_GPU, "options": {**_Backend.options, **_OF_GPUS}}
            own = of_gpus if native == "cuda" else {}
            gt_backend.register(type(f"Isobar{native.title()}", (_Backend,), {"name": name, "native": native, **own}))


register()


if __name__ == "__main__":
    run_program("isobar.gt4py", sys.argv[1:])
