"""Stencils of Python functions."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Callable

import numpy as np

from . import _native
from ._capture import Captured, capture
from .errors import BackendUnavailable, CallError, CallTypeError, StencilError, TrapError

BACKENDS = ("rayon", "debug", "numpy")


def _threads() -> int:
    """How many threads a run has: as the environment says, else one for each processor of this process."""
    for name in ("ISOBAR_NUM_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"):
        text = os.environ.get(name, "").split(",")[0]
        if text.isdigit() and int(text) > 0:
            return int(text)
    local = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or os.environ.get("MPI_LOCALNRANKS") or "1"
    ranks = int(local) if local.isdigit() and int(local) > 0 else 1
    return max(len(os.sched_getaffinity(0)) // ranks, 1)


def stencil(
    backend: str | Callable[..., Any] = "rayon",
    definition: Callable[..., Any] | None = None,
    *,
    externals: dict[str, Any] | None = None,
    dtypes: dict[Any, Any] | None = None,
    name: str | None = None,
    literal_int_precision: int = 64,
    literal_float_precision: int = 64,
    source: str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Any:
    """Compiles a function as GTScript, as `gt4py.cartesian.gtscript.stencil` does; it needs no GT4Py.

    `backend` is `rayon` (machine code, the default), `debug` or `numpy`. `externals` are values of
    `from __externals__ import ...` by name, `dtypes` what types and names of annotations mean. `source` is the text of
    the function where Python has none. `threads` are those of a run, else as `ISOBAR_NUM_THREADS`, `OMP_NUM_THREADS` or
    the processors of this process say. Other options of GT4Py are taken, and mean nothing here.

    Raises `StencilError` where the stencil does not compile, with the line of the function.
    """
    if callable(backend):
        backend, definition = "rayon", backend

    def make(function: Any) -> Stencil:
        captured = capture(function, externals=externals, dtypes=dtypes, source=source)
        captured.request["literal_int_precision"] = literal_int_precision
        captured.request["literal_float_precision"] = literal_float_precision
        return Stencil(function, captured, backend.removeprefix("isobar:"), threads or _threads(), name)

    return make if definition is None else make(definition)


class Stencil:
    """A compiled stencil. It is called with arrays, which it updates in place, and scalars."""

    def __init__(self, definition: Any, captured: Captured, backend: str, threads: int, name: str | None = None):
        if backend not in BACKENDS:
            raise BackendUnavailable(f"there is no back end `{backend}`; there are {', '.join(BACKENDS)}")
        self.backend, self.definition, self._captured = backend, definition, captured
        self.__name__ = name or definition.__name__
        self.__doc__ = definition.__doc__
        try:
            self._native = _native.Stencil(json.dumps(captured.request), backend, threads)
        except _native.Refused as refused:
            raise _stencil_error(json.loads(refused.args[0]), captured) from None
        signature = json.loads(self._native.signature())
        self.field_info: dict[str, dict[str, Any]] = {it["name"]: it for it in signature["fields"]}
        self.parameter_info: dict[str, dict[str, Any]] = {it["name"]: it for it in signature["scalars"]}
        self.min_levels: int = signature["min_levels"]
        self._signature = inspect.signature(definition)
        self._order = list(self._signature.parameters)

    def __call__(
        self,
        *args: Any,
        domain: tuple[int, int, int] | None = None,
        origin: Any = None,
        validate_args: bool = True,
        exec_info: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Runs it: arrays are updated in place.

        `domain` is the number of points along I, J, K, else the largest that fits; `origin` the index of its first
        point in all arrays, or by name, else as far inside as the stencil reads. Arrays have the axes of their fields in
        the order I, J, K, then data dimensions; any strides, in elements of the declared types.
        """
        if len(args) > len(self._order):
            raise CallTypeError(f"`{self.__name__}` takes {len(self._order)} arguments, and was given {len(args)}")
        for key, value in zip(self._order, args):
            if key in kwargs:
                raise CallTypeError(f"`{key}` is given twice")
            kwargs[key] = value
        self.bind(domain=domain, origin=origin, **kwargs).run()

    def bind(self, *, domain: Any = None, origin: Any = None, **arguments: Any) -> Any:
        """Checks a call and fixes it: `run()` of the result calls it as often as one likes, on the same arrays."""
        fields, scalars, origins = {}, {}, {}
        for key, value in arguments.items():
            if key in self.field_info:
                if value is None:
                    continue
                fields[key] = value if isinstance(value, np.ndarray) else _array(key, value)
                at = self._origin(key, origin, value)
                if at is not None:
                    origins[key] = at
            elif key in self.parameter_info:
                if value is not None:
                    scalars[key] = value
            else:
                raise CallTypeError(f"`{self.__name__}` has no parameter `{key}`")
        try:
            return self._native.bind(fields, scalars, list(domain) if domain is not None else None, origins)
        except _native.Refused as refused:
            found = json.loads(refused.args[0])
            errors = [it for it in found if it["severity"] == "error"]
            told = "\n".join(_told(it) for it in errors)
            raise CallError(told or "the call does not fit") from None
        except TypeError as error:
            raise CallTypeError(str(error)) from None

    def _origin(self, key: str, origin: Any, value: Any) -> list[int] | None:
        if origin is None:
            return list(value.__gt_origin__) if hasattr(value, "__gt_origin__") else None
        if isinstance(origin, dict):
            found = origin.get(key, origin.get("_all_"))
            if found is None and hasattr(value, "__gt_origin__"):
                found = value.__gt_origin__
            return [int(it) for it in found] if found is not None else None
        return [int(it) for it in origin]

    def ir(self, stage: str = "schedule") -> str:
        """The text of a stage: `definition`, `gtir`, `oir`, `tree`, `schedule`, `sdfg`, `loops`, `c`, ..."""
        text = self._native.text(stage)
        if text is None:
            raise StencilError(f"the stage `{stage}` was not reached")
        return text

    def remarks(self) -> list[dict[str, Any]]:
        """What was decided while it was compiled, and why."""
        return json.loads(self._native.remarks())

    def __repr__(self) -> str:
        params = ", ".join(self._order)
        return f"<isobar stencil {self.__name__}({params}) on {self.backend}>"


def _array(key: str, value: Any) -> np.ndarray:
    """An object of somebody else's as an array of the same memory."""
    for protocol in ("__array_interface__", "__dlpack__", "__buffer__"):
        if hasattr(value, protocol):
            return np.from_dlpack(value) if protocol == "__dlpack__" else np.asarray(value)
    try:
        return np.asarray(memoryview(value))
    except TypeError:
        raise CallTypeError(f"`{key}` is a field, and was given a {type(value).__name__}, which is no array") from None


def _told(found: dict[str, Any]) -> str:
    text = f"{found['message']} [{found['code']}]"
    return text + (f"; {found['help']}" if found.get("help") else "")


def _stencil_error(found: list[dict[str, Any]], captured: Captured) -> StencilError:
    told = []
    for it in found:
        path, line, column = captured.place(it["file"], it["start"]["line"], it["start"]["col"])
        end_path, end_line, end_column = captured.place(it["file"], it["end"]["line"], it["end"]["col"])
        told.append({**it, "file": path, "line": line, "column": column, "end_line": end_line, "end_column": end_column})
    errors = [it for it in told if it["severity"] == "error"] or told
    first = errors[0]
    import linecache

    text = linecache.getline(first["file"], first["line"])
    message = _told(first)
    if len(errors) > 1:
        message += f" (and {len(errors) - 1} more)"
    place = (first["file"], first["line"], first["column"], text, first["end_line"], first["end_column"])
    return StencilError(message, place, told)
