"""Arrays on the GPU of `tests/emulation`, lent as programs of CUDA lend theirs: for processes that find its driver."""

import ctypes
import types

import numpy as np

_DRIVER = None


def driver():
    """The driver, with a context for this thread."""
    global _DRIVER
    if _DRIVER is None:
        _DRIVER = ctypes.CDLL("libcuda.so.1")
        _DRIVER.emulated_count.restype = ctypes.c_int64
        did(_DRIVER.cuInit(0))
    use(0)
    return _DRIVER


def did(result):
    if result != 0:
        raise RuntimeError(f"the driver answers {result}")


def use(gpu):
    """Has this thread use a GPU."""
    context = ctypes.c_void_p()
    did(_DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(context), gpu))
    did(_DRIVER.cuCtxSetCurrent(context))


def current():
    """The context of this thread."""
    context = ctypes.c_void_p()
    did(_DRIVER.cuCtxGetCurrent(ctypes.byref(context)))
    return context.value


def count(what):
    """How many there are of these, or how often that was done: see `driver.cpp`."""
    return driver().emulated_count(what.encode())


def made_stream():
    """A stream, on which work waits until somebody waits for it."""
    made = ctypes.c_void_p()
    did(driver().cuStreamCreate(ctypes.byref(made), 1))
    return made.value


class OnGpu:
    """An array of a GPU. `kept` is a host array whose layout it has, and that is copied there."""

    def __init__(self, kept, gpu=0):
        self.kept = kept
        base = kept
        while base.base is not None:
            base = base.base
        self.base, self.gpu = base, gpu
        driver()
        use(gpu)
        made = ctypes.c_uint64()
        did(_DRIVER.cuMemAlloc_v2(ctypes.byref(made), ctypes.c_size_t(base.nbytes)))
        self.address = made.value
        did(_DRIVER.cuMemcpyHtoD_v2(made, ctypes.c_void_p(base.ctypes.data), ctypes.c_size_t(base.nbytes)))
        use(0)

    @property
    def first(self):
        """The address of the element at index 0."""
        return self.address + self.kept.ctypes.data - self.base.ctypes.data

    def get(self):
        """A copy on the host of what it has now."""
        now = np.empty(self.base.nbytes, dtype=np.uint8)
        to, n = ctypes.c_void_p(now.ctypes.data), ctypes.c_size_t(now.size)
        did(driver().cuMemcpyDtoH_v2(to, ctypes.c_uint64(self.address), n))
        at = self.kept.ctypes.data - self.base.ctypes.data
        return np.ndarray(self.kept.shape, self.kept.dtype, now, at, self.kept.strides).copy()

    def later(self, stream, values):
        """Writes all of its memory on a stream, some time."""
        values = np.ascontiguousarray(values)
        assert values.nbytes == self.base.nbytes
        data, n = ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
        did(driver().emulated_later(ctypes.c_void_p(stream), ctypes.c_uint64(self.address), data, n))

    def free(self):
        if self.address:
            did(driver().cuMemFree_v2(ctypes.c_uint64(self.address)))
            self.address = 0


class Interface:
    """As `__cuda_array_interface__` has it; `changed` are entries that differ."""

    def __init__(self, array, **changed):
        self.array, self.changed = array, changed

    @property
    def __cuda_array_interface__(self):
        kept = self.array.kept
        told = {
            "shape": kept.shape,
            "typestr": kept.dtype.str,
            "data": (self.array.first, False),
            "strides": kept.strides,
            "version": 3,
            "stream": None,
            **self.changed,
        }
        return {name: value for name, value in told.items() if value is not Ellipsis}


class _Pointer:
    """An address within an array, as CuPy has it."""

    def __init__(self, array, at=0):
        self.array, self.at = array, at
        self.ptr = array.address + at

    def __add__(self, n):
        return _Pointer(self.array, self.at + n)


class _OfCupy(Interface):
    """An array as CuPy has it, as far as it is needed here."""

    def __init__(self, shape, dtype, memptr, strides):
        self.array, self.changed = memptr.array, {}
        self.array.kept = np.ndarray(shape, dtype, self.array.base, memptr.at, strides)
        self.data, self.strides = memptr, strides

    def __setitem__(self, key, value):
        self.array.kept[key] = value.array.kept if isinstance(value, Interface) else value
        self.array.later(None, self.array.base)
        self.array.get()

    def get(self):
        return self.array.get()


def cupy():
    """A library that makes arrays as CuPy does."""
    made = types.ModuleType("cupy")
    made.ndarray = _OfCupy

    def empty(n, dtype):
        return _OfCupy((n,), dtype, _Pointer(OnGpu(np.zeros(n, dtype=dtype))), (1,))

    def asarray(array):
        lent = Interface(OnGpu(array))
        lent.shape, lent.dtype = array.shape, array.dtype
        return lent

    made.empty, made.asarray = empty, asarray
    return made


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_CAPSULES = {}


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _ends(capsule):
    _CAPSULES.pop(capsule)


_NEW = ctypes.pythonapi.PyCapsule_New
_NEW.restype, _NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def n_capsules():
    """Loans that have not ended."""
    return len(_CAPSULES)


class Dlpack:
    """As DLPack has it, in either kind of capsule. `stream` is that on which it is written."""

    def __init__(self, array, version=(1, 0), flags=0, stream=None, device=None, code=None, has_strides=True):
        self.array, self.version, self.flags, self.stream = array, version, flags, stream
        self.device, self.code, self.has_strides = device or (2, array.gpu), code, has_strides
        self.asked = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.version is None and "max_version" in options:
            raise TypeError("it knows no versions")
        self.asked.append((options, n_capsules()))
        if self.stream is not None:
            self._wait(options["stream"])
        kept = self.array.kept
        tensor = _Tensor()
        # It begins within its memory.
        tensor.data, tensor.byte_offset = self.array.address, self.array.first - self.array.address
        tensor.device = (ctypes.c_int32 * 2)(*self.device)
        tensor.ndim, tensor.bits, tensor.lanes = kept.ndim, 8 * kept.itemsize, 1
        tensor.code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[kept.dtype.kind] if self.code is None else self.code
        shape = (ctypes.c_int64 * kept.ndim)(*kept.shape)
        strides = (ctypes.c_int64 * kept.ndim)(*(it // kept.itemsize for it in kept.strides))
        tensor.shape = shape
        if self.has_strides:
            tensor.strides = strides
        if self.version is None:
            whole, name = _Managed(tensor), ctypes.c_char_p(b"dltensor")
        else:
            whole = _Versioned((ctypes.c_uint32 * 2)(*self.version), None, None, self.flags, tensor)
            name = ctypes.c_char_p(b"dltensor_versioned")
        capsule = _NEW(ctypes.addressof(whole), name, ctypes.cast(_ends, ctypes.c_void_p))
        _CAPSULES[id(capsule)] = (whole, name, shape, strides)
        return capsule

    def _wait(self, stream):
        """Has a stream of the consumer's wait for what writes the array."""
        event = ctypes.c_void_p()
        did(driver().cuEventCreate(ctypes.byref(event), 2))
        did(_DRIVER.cuEventRecord(event, ctypes.c_void_p(self.stream)))
        did(_DRIVER.cuStreamWaitEvent(ctypes.c_void_p(stream), event, 0))
        did(_DRIVER.cuEventDestroy_v2(event))
