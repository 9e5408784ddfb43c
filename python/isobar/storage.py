"""Arrays that lie as compiled code likes them: plain NumPy arrays, and for `cuda` CuPy's, nothing else.

Neighbours along I lie side by side, rows start at cache lines, data dimensions are farthest. Stencils take any other
array as well.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _cuda
from .errors import CallError

_LINE = 64


def empty(
    shape: Sequence[int],
    dtype: Any = float,
    *,
    aligned_index: Sequence[int] | None = None,
    dimensions: Sequence[str] | None = None,
    backend: str | None = None,
) -> Any:
    """An array whose elements are not set.

    `shape` has the points of each dimension. `dimensions` names them, as `("I", "J", "K")`; where it is missing, they
    are the first of I, J, K, and data dimensions behind. The element at `aligned_index`, which is the first compute point
    as a rule, starts a cache line. With `backend="cuda"` it is CuPy's, on the GPU.

    Raises `CallError` where sizes are negative, or names do not match; `BackendUnavailable` where CuPy is not there.
    """
    kind = np.dtype(dtype)
    sizes = tuple(int(n) for n in shape)
    names = tuple(dimensions) if dimensions is not None else tuple("IJK"[: len(sizes)]) + ("",) * (len(sizes) - 3)
    index = tuple(int(at) for at in aligned_index) if aligned_index is not None else (0,) * len(sizes)
    if len(names) != len(sizes) or len(index) < len(sizes) and aligned_index is not None and len(index) != 3:
        raise CallError(f"{len(sizes)} sizes were given, and {len(names)} dimensions, and an index of {len(index)}")
    if any(n < 0 for n in sizes):
        raise CallError(f"a shape of {sizes} has a negative size")
    index = index + (0,) * (len(sizes) - len(index))
    # From the nearest to the farthest: I, J, K, then data from the last one to the first.
    order = sorted(range(len(sizes)), key=lambda at: ("IJK".find(names[at]) if names[at] in "IJK" and names[at] else 9, -at))
    is_on_gpu = _is_on_gpu(backend)
    per_line = max((_cuda.LINE if is_on_gpu else _LINE) // kind.itemsize, 1)
    strides = [0] * len(sizes)
    n = 1
    for at in order:
        strides[at] = n * kind.itemsize
        n *= -(-sizes[at] // per_line) * per_line if at == order[0] and len(order) > 1 else sizes[at]
    to_aligned = sum(at * stride for at, stride in zip(index, strides))
    if is_on_gpu:
        return _cuda.array(sizes, kind, tuple(strides), n * kind.itemsize, to_aligned)
    raw = np.empty(n * kind.itemsize + 2 * _LINE, dtype=np.uint8)
    start = -(raw.ctypes.data + to_aligned) % _LINE
    return np.ndarray(sizes, dtype=kind, buffer=raw, offset=start, strides=tuple(strides))


def _is_on_gpu(backend: str | None) -> bool:
    return backend is not None and backend.removeprefix("isobar:") == "cuda"


def full(shape: Sequence[int], value: Any, dtype: Any = float, **options: Any) -> Any:
    """An array of one value; options are those of `empty`."""
    made = empty(shape, dtype, **options)
    made[...] = value
    return made


def zeros(shape: Sequence[int], dtype: Any = float, **options: Any) -> Any:
    """An array of zeros; options are those of `empty`."""
    return full(shape, 0, dtype, **options)


def ones(shape: Sequence[int], dtype: Any = float, **options: Any) -> Any:
    """An array of ones; options are those of `empty`."""
    return full(shape, 1, dtype, **options)


def from_array(array: Any, dtype: Any = None, **options: Any) -> Any:
    """A copy of an array; options are those of `empty`."""
    given = _cuda.cupy().asarray(array) if _is_on_gpu(options.get("backend")) else np.asarray(array)
    made = empty(given.shape, dtype or given.dtype, **options)
    made[...] = given
    return made
