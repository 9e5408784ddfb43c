"""Stencils that are there already: found by the function and the values that it sees, before its text is read again.

Models ask for the same stencil for each of their objects, on each of their tiles. The first level knows functions by
their code and the identity of what they see; whatever of that was bound anew is noticed. The second one knows requests
by their text: two functions of one text and the same values are one stencil. Whoever asks for what another thread is
just compiling waits for it.
"""

from __future__ import annotations

import collections
import enum
import logging
import threading
import time
import types
import weakref
from typing import Any, Callable

import numpy as np

from . import _config, _native
from ._capture import Captured, capture, field_type
from .errors import CaptureError

_LOG = logging.getLogger("isobar")

# So many functions are known with their values; the oldest are forgotten.
_MOST = 1024

_lock = threading.Lock()
_captured: collections.OrderedDict[Any, tuple[Captured, list[Any]]] = collections.OrderedDict()
_natives: weakref.WeakValueDictionary[tuple[Any, ...], Any] = weakref.WeakValueDictionary()
_infos: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_building: dict[tuple[Any, ...], threading.Lock] = {}

# What was found how often: `functions` without reading a text, `texts` as compiled code, `built` not at all.
counts = {"functions": 0, "texts": 0, "built": 0}


def captured(
    definition: Any,
    externals: dict[str, Any] | None,
    dtypes: dict[Any, Any] | None,
    source: str | None,
    precisions: tuple[int, int],
) -> Captured:
    """The request of a function, from memory where nothing of what it sees has changed."""
    if not isinstance(definition, types.FunctionType):
        raise CaptureError(f"a stencil is a function that is written with `def`, and {definition!r} is none")
    held: list[Any] = [definition, externals, dtypes]
    closure = tuple(_identity(_content(it), held) for it in definition.__closure__ or ())
    key = (
        definition.__code__,
        id(definition.__globals__),
        closure,
        tuple((name, _identity(it, held)) for name, it in sorted((externals or {}).items())),
        tuple((str(name), _identity(it, held)) for name, it in (dtypes or {}).items()),
        tuple((name, field_type(it) or _identity(it, held)) for name, it in definition.__annotations__.items()),
        source,
        precisions,
    )
    with _lock:
        known = _captured.get(key)
    if known is not None and known[0].is_current():
        with _lock:
            counts["functions"] += 1
            if key in _captured:
                _captured.move_to_end(key)
        return known[0]
    made = capture(definition, externals=externals, dtypes=dtypes, source=source)
    made.request["literal_int_precision"], made.request["literal_float_precision"] = precisions
    made.finish()
    with _lock:
        # What is known by its identity is held, so that nothing else can have it.
        _captured[key] = (made, held)
        while len(_captured) > _MOST:
            _captured.popitem(last=False)
    return made


def native(it: Captured, backend: str, threads: int | None, mode: str, copies: bool = True) -> Any:
    """The compiled stencil of a request; made once, whoever asks."""
    wanted = _config.wanted(backend, threads, mode, it.n_positional, copies=copies)
    key = _key(it, wanted)
    with _lock:
        known = _natives.get(key)
        if known is not None:
            counts["texts"] += 1
            return known
        lock = _building.setdefault(key, threading.Lock())
    with lock:
        with _lock:
            known = _natives.get(key)
            if known is not None:
                counts["texts"] += 1
                return known
        begun = time.perf_counter()
        try:
            made = _native.Stencil(it.text, wanted)
        finally:
            with _lock:
                _building.pop(key, None)
        with _lock:
            counts["built"] += 1
            _natives[key] = made
    _LOG.info("%s compiled for %s in %.1f ms", it.name, backend, 1e3 * (time.perf_counter() - begun))
    return made


def is_built(it: Captured, backend: str) -> bool:
    """Whether the stencil of a request is compiled in this process."""
    wanted = _config.wanted(backend, None, "reproducible", it.n_positional)
    with _lock:
        return _key(it, wanted) in _natives


def _key(it: Captured, wanted: dict[str, Any]) -> tuple[Any, ...]:
    return (it.text, *wanted.items())


def infos(native: Any, read: Callable[[Any], Any]) -> Any:
    """What is read of a compiled stencil, once."""
    with _lock:
        known = _infos.get(native)
    if known is None:
        known = read(native)
        with _lock:
            _infos[native] = known
    return known


def rebuild() -> None:
    """Forgets all functions, so that their texts are read again."""
    with _lock:
        _captured.clear()


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _identity(value: Any, held: list[Any]) -> Any:
    """What tells a value from others: numbers by type and digits, objects by themselves."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, enum.Enum):
        return type(value), repr(value)
    if isinstance(value, (np.generic, np.dtype)):
        return type(value), str(value.dtype) if isinstance(value, np.generic) else None, repr(value)
    if type(value).__name__ in {"AxisIndex", "AxisOffset", "Axis"}:
        return type(value), repr(value), str(vars(value)) if hasattr(value, "__dict__") else None
    if isinstance(value, types.SimpleNamespace):
        return tuple((name, _identity(it, held)) for name, it in sorted(vars(value).items()))
    if isinstance(value, (list, tuple)):
        return tuple(_identity(it, held) for it in value)
    held.append(value)
    return id(value)


def once(make: Callable[[], Any], known: dict[Any, Any], key: Any) -> Any:
    """What is known by a key, else made by whoever asks first."""
    with _lock:
        if key in known:
            return known[key]
    made = make()
    with _lock:
        return known.setdefault(key, made)
