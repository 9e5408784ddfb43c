"""Arrays on a GPU, by CuPy: Isobar takes those of any library, and makes none itself."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .errors import BackendUnavailable

# What a GPU fetches at a time.
LINE = 128


def cupy() -> Any:
    """CuPy. Raises `BackendUnavailable` where it is not there."""
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise BackendUnavailable(
            f"arrays on a GPU are made by CuPy, which is not there: {error}; `pip install cupy-cuda12x` has it, and "
            "stencils take arrays of any other library as well"
        ) from None


def array(shape: tuple[int, ...], kind: np.dtype, strides: tuple[int, ...], nbytes: int, aligned: int) -> Any:
    """An array of CuPy's with these strides in bytes, in memory of its own; the byte `aligned` starts a line."""
    library = cupy()
    try:
        raw = library.empty(nbytes + LINE, dtype=np.uint8)
        start = -(raw.data.ptr + aligned) % LINE
        return library.ndarray(shape, dtype=kind, memptr=raw.data + start, strides=strides)
    except RuntimeError as error:
        raise BackendUnavailable(f"CuPy makes no array on a GPU: {error}") from None
