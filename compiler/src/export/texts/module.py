"""Stencils that Isobar compiled. README.md says how they are built and called."""

import ctypes
import os
import sys

_ABI = @ABI@
_DTYPES = ["bool", "int8", "int16", "int32", "int64", "float32", "float64"]
_CODES = {"b1": 0, "i1": 1, "i2": 2, "i4": 3, "i8": 4, "f4": 5, "f8": 6}
_SCALARS = [
    ctypes.c_bool,
    ctypes.c_int8,
    ctypes.c_int16,
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.c_float,
    ctypes.c_double,
]


class Error(ValueError):
    """A call that was refused, or a run that ended early."""

    def __init__(self, status, code, message, file="", line=0, cell=(0, 0, 0)):
        place = f" ({file}, line {line}, point {cell})" if line else ""
        super().__init__(f"{code}: {message}{place}")
        self.status, self.code, self.file, self.line, self.cell = status, code, file, line, cell


class _Field(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_int64 * 8),
        ("stride", ctypes.c_int64 * 8),
        ("origin", ctypes.c_int64 * 8),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("domain", ctypes.c_int64 * 3),
        ("threads", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("scratch", ctypes.c_void_p),
        ("scratch_bytes", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("cancel", ctypes.c_void_p),
    ]


class _Error(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("code", ctypes.c_char * 8),
        ("line", ctypes.c_int32),
        ("column", ctypes.c_int32),
        ("cell", ctypes.c_int64 * 3),
        ("message", ctypes.c_char * 512),
        ("file", ctypes.c_char * 256),
    ]


_library = None


def _loaded():
    """The library, from the first call on."""
    global _library
    if _library is None:
        name = "lib@NAME@" + (".dylib" if sys.platform == "darwin" else ".so")
        here = os.path.dirname(os.path.abspath(__file__))
        places = [os.path.join(here, it, name) for it in ("", "..", "../build", "../lib")]
        named = os.environ.get("@UPPER@_LIBRARY")
        if named:
            places = [named]
        found = [it for it in places if os.path.exists(it)]
        if not found:
            raise ImportError(f"there is no {name}: build it, or name it in @UPPER@_LIBRARY; looked in {places}")
        _library = ctypes.CDLL(found[0])
    return _library


def _field(name, value, axes, is_written, origin):
    told = getattr(value, "__array_interface__", None)
    if told is None:
        raise Error(2, "C01", f"field `{name}` is a {type(value).__name__}, and an array is expected")
    kind = told["typestr"]
    dtype = _CODES.get(kind[1:], -1) if kind[0] in ("|", "<" if sys.byteorder == "little" else ">") else -1
    address, is_read_only = told["data"]
    if is_written and is_read_only:
        raise Error(2, "C08", f"field `{name}` is written, and its array is read-only")
    shape, strides = tuple(told["shape"]), told.get("strides")
    if len(shape) > 8:
        raise Error(2, "C02", f"field `{name}` has {len(shape)} dimensions")
    item = int(kind[2:])
    if strides is None:
        strides, step = [], item
        for length in reversed(shape):
            strides.insert(0, step)
            step *= length
    if any(it % item for it in strides):
        raise Error(2, "A02", f"field `{name}` has neighbours that are no whole number of elements apart")
    made = _Field(size=ctypes.sizeof(_Field), dtype=dtype, rank=len(shape), data=address)
    for at, (length, stride) in enumerate(zip(shape, strides)):
        made.shape[at], made.stride[at] = length, stride // item
    own = origin.get(name, origin.get("_all_", (0, 0, 0))) if isinstance(origin, dict) else origin or (0, 0, 0)
    if len(own) not in (3, len(axes)):
        raise Error(2, "C02", f"the origin {tuple(own)} of field `{name}` has {len(own)} entries")
    for at, axis in enumerate(axes):
        if at < 8:
            made.origin[at] = own[at] if len(own) == len(axes) and len(own) != 3 else own[axis]
    return made


def _scalar(name, value, dtype):
    try:
        if dtype == "bool":
            if value not in (True, False):
                raise TypeError
            return ctypes.c_bool(bool(value))
        made = _SCALARS[_DTYPES.index(dtype)](float(value) if dtype.startswith("float") else value.__index__())
        if not dtype.startswith("float") and made.value != value:
            raise TypeError
        return made
    except (TypeError, ValueError, AttributeError):
        raise Error(2, "C01", f"scalar `{name}` is {value!r}, and is declared {dtype}") from None


def _run(function, arguments, domain, origin, threads, asked=()):
    library = _loaded()
    passed = []
    for name, value, dtype, axes, is_written in arguments:
        if axes is None:
            passed.append(_scalar(name, value, dtype))
        elif value is None:
            passed.append(None)
        else:
            passed.append(ctypes.byref(_field(name, value, axes, is_written, origin)))
    call = _Call(size=ctypes.sizeof(_Call), abi=_ABI, threads=threads)
    call.domain[:] = (-1, -1, -1) if domain is None else domain
    error = _Error(size=ctypes.sizeof(_Error))
    status = getattr(library, function)(ctypes.byref(call), *passed, *asked, ctypes.byref(error))
    if status != 0:
        code, message, file = (it.decode("utf-8", "replace") for it in (error.code, error.message, error.file))
        raise Error(status, code, message, file, error.line, tuple(error.cell))


@CALLER@@FUNCTIONS@
