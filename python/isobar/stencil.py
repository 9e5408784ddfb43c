"""Stencils of Python functions."""

from __future__ import annotations

import dataclasses
import html
import json
import linecache
import logging
import time
from typing import Any, Callable

import numpy as np

from . import _config, _memo, _native
from ._capture import Captured
from .errors import (
    BackendUnavailable,
    CallError,
    CallTypeError,
    CancelledError,
    InternalError,
    IsobarError,
    MissingArgumentError,
    StencilError,
    TrapError,
    WrongDeviceError,
)

_LOG = logging.getLogger("isobar")

# What the native part raises; a bug of it is no `Exception` of Python's.
FAILURES = (Exception, _native.Panicked)

BACKENDS = ("rayon", "openmp", "numpy", "debug", "cuda")


@dataclasses.dataclass(frozen=True)
class FieldInfo:
    """What a stencil does with a field."""

    access: str
    """`none`, `read`, `write` or `read-write`."""
    boundary: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    """Points that are touched before and behind the compute domain along I, J and K; negative where none of the first
    or last ones is."""
    axes: tuple[str, ...]
    data_dims: tuple[int, ...]
    dtype: np.dtype


@dataclasses.dataclass(frozen=True)
class ParameterInfo:
    """What a stencil does with a scalar."""

    access: str
    dtype: np.dtype
    default: Any = None


@dataclasses.dataclass(frozen=True)
class Layout:
    """What a call makes of how its arrays lie."""

    way: str
    """`as given`: the code has the strides of the arrays; `turned`: loops along I and K change places; `copied`: each
    call computes on copies of some fields, which lie along I."""
    copied: tuple[str, ...]
    there_bytes: int
    """Of those, so many bytes are copied before each call."""
    back_bytes: int
    """And so many behind it."""
    rows: int | None
    """How many rows along J are copied at a time, where it is not all of them."""


@dataclasses.dataclass(frozen=True)
class DomainInfo:
    """What a stencil asks of its compute domain."""

    parallel_axes: tuple[str, str]
    sequential_axis: str
    min_sequential_axis_size: int
    ndim: int


def stencil(
    backend: str | Callable[..., Any] = "rayon",
    definition: Callable[..., Any] | None = None,
    *,
    build_info: dict[str, Any] | None = None,
    dtypes: dict[Any, Any] | None = None,
    externals: dict[str, Any] | None = None,
    format_source: bool = True,
    name: str | None = None,
    rebuild: bool = False,
    cache_settings: dict[str, Any] | None = None,
    raise_if_not_cached: bool = False,
    literal_int_precision: int = 64,
    literal_float_precision: int = 64,
    source: str | None = None,
    mode: str = "reproducible",
    threads: int | None = None,
    copies: bool = True,
    **options: Any,
) -> Any:
    """Compiles a function as GTScript, as `gt4py.cartesian.gtscript.stencil` does; it needs no GT4Py.

    `backend` is `rayon` (machine code, no compiler needed: the default, also called `isobar`), `openmp` (C, by the
    system's compiler), `cuda` (on arrays of a GPU), `numpy` or `debug`, with or without `isobar:` in front. `externals`
    are the values of `from __externals__ import ...` by name, `dtypes` what types and names of annotations mean.
    `source` is the text of the function where Python has none. `mode` is `reproducible` (the bits of `debug`) or `fast`.
    `threads` are those of a run, else those of `isobar.num_threads()`. Other options of GT4Py are taken, and mean
    nothing here.

    Raises `StencilError` where the stencil does not compile, with the line of the function; `CaptureError` where Python
    has no text of it; `BackendUnavailable` where the back end lacks something.
    """
    if callable(backend):
        definition, backend = backend, "rayon"
    del format_source, cache_settings, options
    precisions = (literal_int_precision, literal_float_precision)

    def make(function: Any) -> Stencil:
        begun = time.perf_counter()
        if rebuild:
            _memo.rebuild()
        captured = _memo.captured(function, externals, dtypes, source, precisions)
        parsed = time.perf_counter()
        made = Stencil(captured, str(backend), threads=threads, mode=mode, copies=copies, name=name, definition=function)
        if build_info is not None:
            now = time.perf_counter()
            build_info.update(
                parse_time=parsed - begun, module_time=0.0, codegen_time=0.0, build_time=now - parsed, load_time=0.0
            )
        return made

    del raise_if_not_cached
    return make if definition is None else make(definition)


def lazy_stencil(
    backend: str | Callable[..., Any] = "rayon",
    definition: Callable[..., Any] | None = None,
    *,
    eager: bool = False,
    check_syntax: bool = True,
    **options: Any,
) -> Any:
    """A stencil that is compiled at its first call, or when its `implementation` is asked for; as `stencil` else.

    With `check_syntax`, as in GT4Py, what does not compile raises at once; compiling takes milliseconds here.
    """
    if callable(backend):
        definition, backend = backend, "rayon"

    def make(function: Any) -> Any:
        lazy = LazyStencil(str(backend), function, options)
        return lazy.implementation if eager else lazy.checked() if check_syntax else lazy

    return make if definition is None else make(definition)


class LazyStencil:
    """A stencil that is compiled when it is needed."""

    def __init__(self, backend: str, definition: Callable[..., Any], options: dict[str, Any]):
        self.backend, self.definition, self._options = backend, definition, options
        self.__name__, self.__doc__ = definition.__name__, definition.__doc__
        self._made: Stencil | None = None

    @property
    def implementation(self) -> Stencil:
        """The stencil."""
        if self._made is None:
            self._made = stencil(self.backend, self.definition, **self._options)
        return self._made

    def checked(self) -> LazyStencil:
        """Itself; raises where it does not compile."""
        _ = self.implementation
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.implementation(*args, **kwargs)


class Stencil:
    """A compiled stencil. It is called with arrays, which it updates in place, and scalars.

    Threads may call it at the same time. It can be pickled: what arrives is compiled anew, in milliseconds.
    """

    def __init__(
        self,
        captured: Captured,
        backend: str = "rayon",
        *,
        threads: int | None = None,
        mode: str = "reproducible",
        copies: bool = True,
        name: str | None = None,
        definition: Any = None,
    ):
        backend = backend.removeprefix("isobar:")
        backend = "rayon" if backend == "isobar" else backend
        if backend not in BACKENDS:
            raise BackendUnavailable(f"there is no back end `{backend}`; there are {', '.join(BACKENDS)}")
        if mode not in ("reproducible", "fast"):
            raise CallError(f"the mode is `reproducible` or `fast`, and not `{mode}`")
        self.backend, self.definition, self._captured = backend, definition, captured
        self._made_of = (captured, backend, threads, mode, copies, name)
        self.__name__, self.__doc__ = name or captured.name, captured.doc
        try:
            self._native = _memo.native(captured, backend, threads, mode, copies)
        except _native.Refused as refused:
            raise stencil_error(json.loads(refused.args[0]), captured) from None
        except FAILURES as error:
            raise of_call(error, captured) from None
        self._call = self._native.call
        infos = _memo.infos(self._native, _infos)
        # Each object has its own, whatever its owner does with it.
        self.field_info: dict[str, FieldInfo] = dict(infos[0])
        self.parameter_info: dict[str, ParameterInfo] = dict(infos[1])
        self.domain_info: DomainInfo = infos[2]
        self.externals = _as_given(captured.request.get("externals", {}))

    def __call__(self, *args: Any, domain: Any = None, origin: Any = None, **kwargs: Any) -> None:
        """Runs it: arrays are updated in place.

        `domain` is the number of points along I, J, K, else the largest that fits; `origin` the index of its first
        point in all arrays, or by name, else the first element. Arrays have the axes of their fields in the order
        I, J, K, then data dimensions; any strides; elements of the declared types. `exec_info` is a dictionary that gets
        the times of the call, in seconds; `validate_args` is taken as in GT4Py, and changes nothing: calls are checked
        once for their arrays.

        Raises `CallError` or `CallTypeError` where the call does not fit, `TrapError` where the run ends early.
        """
        if "exec_info" in kwargs or "validate_args" in kwargs:
            exec_info = kwargs.pop("exec_info", None)
            kwargs.pop("validate_args", None)
            if exec_info is not None:
                timed(self, exec_info, args, kwargs, domain, origin)
                return
        try:
            self._call(args, kwargs, domain, origin)
        except FAILURES as error:
            raise of_call(error, self._captured) from None

    def run(self, *, _domain_: Any, _origin_: Any, exec_info: dict[str, Any] | None = None, **arguments: Any) -> None:
        """As GT4Py's `run`: all arguments by name, domain and origins given."""
        self(domain=_domain_, origin=_origin_, exec_info=exec_info, **arguments)

    def freeze(self, *, origin: Any = None, domain: Any = None) -> _native.Frozen:
        """The same with domain and origins fixed: it is called with arrays and scalars alone.

        Arrays that lie otherwise than those of the call before are checked as in any call.
        """
        try:
            frozen: _native.Frozen = self._native.freeze(self, domain, origin)
            return frozen
        except FAILURES as error:
            raise of_call(error, self._captured) from None

    def bind(self, *args: Any, domain: Any = None, origin: Any = None, **kwargs: Any) -> Bound:
        """Checks a call and fixes all of it: `run()` of the result calls it as often as one likes, on the same arrays,
        which it keeps alive."""
        try:
            return Bound(self._native.bind(args, kwargs, domain, origin), self)
        except FAILURES as error:
            raise of_call(error, self._captured) from None

    def layout(self, *args: Any, domain: Any = None, origin: Any = None, **kwargs: Any) -> Layout:
        """What a call with these arrays makes of how they lie, and how many bytes it copies; nothing is run.

        Raises what a call raises.
        """
        try:
            way, copied, there, back, rows = self._native.layout(args, kwargs, domain, origin)
        except FAILURES as error:
            raise of_call(error, self._captured) from None
        return Layout(way, tuple(copied), there, back, rows)

    @property
    def source(self) -> str:
        """The text that was compiled."""
        return str(self._captured.request["files"][self._captured.request["main"]])

    def ir(self, stage: str = "schedule") -> str:
        """The text of a stage: `definition`, `gtir`, `oir`, `tree`, `schedule`, `sdfg`, `loops`, `c`, ...

        Raises `CallError` where there is no such stage.
        """
        try:
            text = self._native.text(stage)
        except ValueError as error:
            raise CallError(str(error)) from None
        if text is None:
            raise StencilError(f"the stage `{stage}` was not reached")
        return str(text)

    def code(self, stage: str = "c") -> str:
        """Generated code: `c`, `numpy`, `cuda`, `wgsl`, ..."""
        return self.ir(stage)

    def memory(self, domain: tuple[int, int, int]) -> int:
        """Bytes that a call with so many points along I, J and K allocates beside its arrays: temporaries.

        Raises `CallError` where that is beyond any memory.
        """
        i, j, k = domain
        bytes_of_call = self._native.workspace_bytes((i, j, k))
        if bytes_of_call is None:
            raise CallError(f"the temporaries of a call with {i} x {j} x {k} points are beyond any memory")
        return int(bytes_of_call)

    def remarks(self) -> list[dict[str, Any]]:
        """What was decided while it was compiled, and why: dictionaries with `pass`, `applied`, `message`, `places`."""
        found: list[dict[str, Any]] = json.loads(self._native.remarks())
        return found

    def explain(self) -> str:
        """What was decided while it was compiled, and why, one line each."""
        return "\n".join(
            f"{'yes' if it['applied'] else ' no'}  {it['pass']}: {it['message']}" for it in self.remarks()
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made_of

    def __repr__(self) -> str:
        return f"<isobar stencil {self.__name__}({', '.join(self._captured.parameters)}) on {self.backend}>"

    def __str__(self) -> str:
        lines = [f"{self.__name__} on {self.backend}"]
        for name, it in self.field_info.items():
            axes = "".join(it.axes) + "".join(f"[{n}]" for n in it.data_dims)
            halo = ", ".join(
                f"{axis} {before}+{behind}" for axis, (before, behind) in zip("IJK", it.boundary) if before or behind
            )
            lines.append(f"  {name}: {it.dtype} {axes}, {it.access}" + (f", halo {halo}" if halo else ""))
        lines += [f"  {name}: {it.dtype}, {it.access}" for name, it in self.parameter_info.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Signature and levels, for notebooks."""
        parts = [f"<pre>{html.escape(str(self))}</pre>"]
        for stage in ("definition", "oir", "schedule", "c"):
            text = self._native.text(stage)
            if text is not None:
                parts.append(f"<details><summary>{stage}</summary><pre>{html.escape(text)}</pre></details>")
        remarks = html.escape(self.explain())
        parts.append(f"<details><summary>remarks</summary><pre>{remarks}</pre></details>")
        return "\n".join(parts)


def _infos(native: Any) -> tuple[dict[str, FieldInfo], dict[str, ParameterInfo], DomainInfo]:
    """What a stencil takes."""
    signature = json.loads(native.signature())
    fields = {
        it["name"]: FieldInfo(
            it["access"],
            tuple((-lo, hi) for lo, hi in it["boundary"]),  # type: ignore[arg-type]
            tuple(it["axes"]),
            tuple(it.get("data_dims") or ()),
            np.dtype(it["dtype"]),
        )
        for it in signature["fields"]
    }
    parameters = {
        it["name"]: ParameterInfo(it["access"], np.dtype(it["dtype"]), _default(it)) for it in signature["scalars"]
    }
    return fields, parameters, DomainInfo(("I", "J"), "K", signature["min_levels"], 3)


def _default(scalar: dict[str, Any]) -> Any:
    """The default of a scalar, as a number of its type: one of NumPy's where Python has no such type."""
    default, dtype = scalar.get("default"), scalar["dtype"]
    is_plain = default is None or dtype in ("bool", "int64", "float64")
    return default if is_plain else np.dtype(dtype).type(default)


def _as_given(external: Any) -> Any:
    """An external of a request as somebody gives it."""
    if not isinstance(external, dict):
        return external
    if external.keys() == {"dtype", "value"}:
        return np.dtype(external["dtype"]).type(external["value"])
    return {name: _as_given(it) for name, it in external.items()}


def _again(
    captured: Captured, backend: str, threads: int | None, mode: str, copies: bool, name: str | None
) -> Stencil:
    return Stencil(captured, backend, threads=threads, mode=mode, copies=copies, name=name)


class Bound:
    """A call that is checked and fixed; it keeps its arrays alive."""

    __slots__ = ("_native", "_run", "stencil")

    def __init__(self, native: Any, stencil: Stencil):
        self._native, self._run, self.stencil = native, native.run, stencil

    def __call__(self) -> None:
        try:
            self._run()
        except FAILURES as error:
            raise of_call(error, self.stencil._captured) from None

    run = __call__

    @property
    def domain(self) -> tuple[int, int, int]:
        """Points along I, J and K."""
        domain: tuple[int, int, int] = self._native.domain
        return domain


def timed(made: Stencil, exec_info: dict[str, Any], args: Any, kwargs: Any, domain: Any, origin: Any, name: str = "") -> None:
    """A call with its times, as GT4Py's `exec_info` has them."""
    begun = time.perf_counter()
    try:
        ran, points = made._native.timed_call(args, kwargs, domain, origin)
    except FAILURES as error:
        raise of_call(error, made._captured) from None
    ended = time.perf_counter()
    checked = begun + (ended - begun - ran) / 2
    exec_info.setdefault("call_start_time", begun)
    exec_info.update(
        domain=points, origin=_all_origins(made, args, kwargs, origin), call_run_start_time=begun,
        run_start_time=checked, run_end_time=checked + ran, call_run_end_time=ended, call_end_time=ended,
    )  # fmt: skip
    exec_info.setdefault("__aggregate_data", False)
    if exec_info.get("__aggregate_data"):
        known = exec_info.setdefault(name or made.__name__, {"ncalls": 0, "total_call_time": 0.0, "total_run_time": 0.0})
        known["ncalls"] += 1
        known["call_start_time"], known["call_end_time"] = exec_info["call_start_time"], ended
        known["run_start_time"], known["run_end_time"] = checked, checked + ran
        known["call_time"], known["run_time"] = ended - exec_info["call_start_time"], ran
        known["total_call_time"] += known["call_time"]
        known["total_run_time"] += known["run_time"]


def _all_origins(made: Stencil, args: Any, kwargs: Any, origin: Any) -> dict[str, tuple[int, ...]]:
    """The origin of each field, as GT4Py's `exec_info` has them."""
    given = dict(origin) if isinstance(origin, dict) else {} if origin is None else {"_all_": tuple(origin)}
    arguments = {**dict(zip(made._captured.parameters, args)), **kwargs}
    for name, it in made.field_info.items():
        if name in given:
            continue
        if "_all_" in given:
            at = tuple(place for place, axis in zip(given["_all_"], "IJK") if axis in it.axes)
        else:
            at = tuple(getattr(arguments.get(name), "__gt_origin__", ()))[: len(it.axes)] or (0,) * len(it.axes)
        given[name] = at + (0,) * len(it.data_dims)
    return given


def of_call(error: BaseException, captured: Captured) -> BaseException:
    """An exception of the native part as one of the package's own."""
    if isinstance(error, _native.Refused):
        found = json.loads(error.args[0])
        errors = [it for it in found if it["severity"] == "error"] or found
        text = "\n".join(told(it) for it in errors) or "the call does not fit"
        is_missing = bool(errors) and all(it["code"] == "C06" for it in errors)
        return MissingArgumentError(text) if is_missing else CallError(text)
    if isinstance(error, _native.Trapped):
        return _trap(json.loads(error.args[0]), captured)
    if isinstance(error, _native.Cancelled):
        return CancelledError(str(error))
    if isinstance(error, _native.Elsewhere):
        return WrongDeviceError(str(error))
    if isinstance(error, _native.Unavailable):
        return BackendUnavailable(str(error))
    if isinstance(error, IsobarError):
        return error
    if isinstance(error, TypeError):
        return CallTypeError(str(error))
    if isinstance(error, ValueError):
        return CallError(str(error))
    if isinstance(error, _native.Panicked):
        return InternalError(f"a bug of Isobar's, please report it: {error}")
    if isinstance(error, OverflowError):
        return CallError(f"an integer is too large: {error}")
    return error


def _trap(found: dict[str, Any], captured: Captured) -> TrapError:
    i, j, k = found["cell"]
    message = f"{found['message']}, at i={i}, j={j}, k={k}"
    place = found.get("place")
    if place is None:
        return TrapError(message, (i, j, k))
    file, start, end = place
    path, line, column = captured.place(file, start["line"], start["col"])
    error = TrapError(f"{message} ({path}:{line})", (i, j, k), path, line, column)
    text = linecache.getline(path, line).rstrip("\n")
    if text:
        width = end["col"] - start["col"] if end["line"] == start["line"] else 1
        error.add_note(f'  File "{path}", line {line}\n    {text}\n    {" " * (column - 1)}{"^" * max(width, 1)}')
    return error


def told(found: dict[str, Any]) -> str:
    """A diagnostic in one line."""
    text = f"{found['message']} [{found['code']}]"
    # What is made up is made up for the command line.
    helps = str(found.get("help") or "").split(", or have it made", 1)[0]
    return text + (f"; {helps}" if helps else "")


def stencil_error(found: list[dict[str, Any]], captured: Captured) -> StencilError:
    """What does not compile, at the lines of the user's files."""
    all_told = []
    for it in found:
        path, line, column = captured.place(it["file"], it["start"]["line"], it["start"]["col"])
        _, end_line, end_column = captured.place(it["file"], it["end"]["line"], it["end"]["col"])
        all_told.append(
            {**it, "file": path, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
        )
    errors = [it for it in all_told if it["severity"] == "error"] or all_told
    if not errors:
        return StencilError("the stencil does not compile, and nothing says why")
    first = errors[0]
    text = linecache.getline(first["file"], first["line"])
    message = told(first)
    if len(errors) > 1:
        message += f" (and {len(errors) - 1} more)"
    place = (first["file"], first["line"], first["column"], text, first["end_line"], first["end_column"])
    return StencilError(message, place, all_told)


def backends() -> dict[str, str]:
    """What can run here: by name the processor or compiler that was found, or why it cannot run, after `not here: `."""
    wanted = _config.wanted("rayon", 1, "reproducible", 0)
    return {
        name: said if is_there else f"not here: {said}"
        for name, is_there, said in _native.backends(wanted["path"], wanted["cc"])
    }


