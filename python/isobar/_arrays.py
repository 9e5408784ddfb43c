"""Arrays of others as NumPy's, of the same memory: nothing is copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import CallTypeError, WrongDeviceError


def array_of(name: str, value: Any) -> tuple[np.ndarray, list[int] | None]:
    """The array behind an object, and the index of its first compute point where it knows one (`__gt_origin__`).

    Asks for a type derived from NumPy's, DLPack, the buffer protocol and `__array_interface__`, in this order.
    """
    origin = getattr(value, "__gt_origin__", None)
    origin = [int(it) for it in origin] if origin is not None else None
    dims = getattr(value, "__gt_dims__", None)
    array = _memory_of(name, value)
    if dims is not None and len(dims) == array.ndim:
        # Whoever names dimensions may have them in any order; fields have I, J, K, then those of data.
        order = sorted(range(len(dims)), key=lambda at: (_place(dims[at]), at))
        array = array.transpose(order)
        origin = [origin[at] for at in order] if origin is not None and len(origin) == len(order) else origin
    return array, origin


def _place(dim: Any) -> int:
    return "IJK".find(str(dim)) if str(dim) in {"I", "J", "K"} else 3


def _memory_of(name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise CallTypeError(
            f"`{name}` is a masked array, and a stencil has no masks: pass `{name}.data` to compute with what lies "
            f"under the mask, or `{name}.filled(value)` to put one value there"
        )
    if isinstance(value, np.ndarray):
        # As the base class, so that nothing of the derived one runs.
        return value.view(np.ndarray)
    package = type(value).__module__.partition(".")[0]
    if package in _REMEDIES:
        what, remedy = _REMEDIES[package]
        raise CallTypeError(f"`{name}` is {what}, and a field is an array: pass `{remedy.format(name)}`")
    if hasattr(value, "__cuda_array_interface__"):
        raise WrongDeviceError(_elsewhere(name, "a GPU"))
    if hasattr(value, "__dlpack__"):
        device = value.__dlpack_device__()[0] if hasattr(value, "__dlpack_device__") else 1
        if int(device) not in (1, 3, 13):
            raise WrongDeviceError(_elsewhere(name, "a GPU" if int(device) == 2 else f"another device ({device})"))
        try:
            return _from_dlpack(value)
        except (BufferError, TypeError, RuntimeError) as error:
            raise CallTypeError(f"`{name}` does not hand over its memory: {error}") from None
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        pass
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    raise CallTypeError(f"`{name}` is a field, and was given a {type(value).__name__}, which is no array")


# What others wrap arrays in, and what is inside.
_REMEDIES = {
    "pandas": ("an object of pandas", "{}.to_numpy()"),
    "xarray": ("an object of xarray", "{}.values"),
    "dask": ("an array of dask, which is not computed yet", "{}.compute()"),
}


def _elsewhere(name: str, where: str) -> str:
    return (
        f"`{name}` lies on {where}, and the stencil runs on the processor: nothing is copied unasked; "
        f"`backend=\"cuda\"` runs on a GPU, and `{name}.get()` of CuPy's makes a copy here"
    )


def _from_dlpack(value: Any) -> np.ndarray:
    try:
        return np.from_dlpack(value, copy=False)
    except TypeError:
        # NumPy before 2.1, which copies nothing either.
        return np.from_dlpack(value)
