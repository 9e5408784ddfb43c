"""Arrays of others as NumPy's, of the same memory: nothing is copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import CallTypeError, WrongDeviceError


def array_of(name: str, value: Any, is_written: bool = False) -> tuple[np.ndarray, list[int] | None]:
    """The array behind an object, and the index of its first compute point where it knows one (`__gt_origin__`).

    Asks for a type derived from NumPy's, DLPack, the buffer protocol and `__array_interface__`, in this order.
    """
    origin = getattr(value, "__gt_origin__", None)
    origin = [int(it) for it in origin] if origin is not None else None
    dims = getattr(value, "__gt_dims__", None)
    array = _memory_of(name, value, is_written)
    if dims is not None and len(dims) == array.ndim:
        # Whoever names dimensions may have them in any order; fields have I, J, K, then those of data.
        order = sorted(range(len(dims)), key=lambda at: (_place(dims[at]), at))
        array = array.transpose(order)
        origin = [origin[at] for at in order] if origin is not None and len(origin) == len(order) else origin
    return array, origin


def _place(dim: Any) -> int:
    return "IJK".find(str(dim)) if str(dim) in {"I", "J", "K"} else 3


def _memory_of(name: str, value: Any, is_written: bool) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise CallTypeError(
            f"`{name}` is a masked array, and a stencil has no masks: pass `{name}.data` to compute with what lies "
            f"under the mask, or `{name}.filled(value)` to put one value there"
        )
    if isinstance(value, np.ndarray):
        # As the base class, so that nothing of the derived one runs.
        return value.view(np.ndarray)
    if (found := _wrapped(value)) is not None:
        what, *texts = found
        remedy, note = (it.format(name) for it in texts)
        if is_written:
            # What is made for the call alone is lost with what the stencil wrote.
            told = f"`array = {remedy}`{note}, pass `array`, and read there what the stencil writes"
        else:
            told = f"pass `{remedy}`{note}"
        raise CallTypeError(f"`{name}` is {what}, and a field is an array: {told}")
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


def refuse_scalar(name: str, value: Any) -> None:
    """Raises `CallTypeError` where an object has no number for a scalar, although its type may say so."""
    if value is np.ma.masked:
        raise CallTypeError(f"`{name}` is `numpy.ma.masked`, which has no value: pass a number")
    if isinstance(value, np.ma.MaskedArray):
        raise CallTypeError(
            f"`{name}` is a masked array, and a stencil has no masks: pass `{name}.data` to compute with what lies "
            f"under the mask, or `{name}.filled(value)` to put one value there"
        )
    if _package(value) == "dask":
        what, remedy, _ = _REMEDIES["dask"]
        raise CallTypeError(f"`{name}` is {what}, and a scalar is a number: pass `{remedy.format(name)}`")


def _wrapped(value: Any) -> tuple[str, str, str] | None:
    """Of what others wrap arrays in: what it is, what is inside, and what else to do."""
    package, kind = _package(value), type(value).__name__
    if package == "xarray" and kind in ("Dataset", "DataTree"):
        return f"a {kind} of xarray", '{}["NAME"].values', ""
    return _REMEDIES.get(package)


def _package(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


# What others wrap arrays in, and what is inside.
_REMEDIES = {
    "pandas": ("an object of pandas", "{}.to_numpy()", ""),
    "xarray": ("an object of xarray", "{}.values", ", after `{}.transpose(...)` where its dimensions are not in the order I, J, K"),
    "dask": ("an array of dask, which is not computed yet", "{}.compute()", ""),
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
