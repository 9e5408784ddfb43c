class _Event(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("event", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("kind", ctypes.c_int32),
        ("width", ctypes.c_int32),
        ("n_fields", ctypes.c_int32),
        ("n_values", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("fields", ctypes.POINTER(_Field)),
        ("field_names", ctypes.POINTER(ctypes.c_char_p)),
        ("is_written", ctypes.POINTER(ctypes.c_bool)),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
        ("value_names", ctypes.POINTER(ctypes.c_char_p)),
        ("value_dtypes", ctypes.POINTER(ctypes.c_int32)),
        ("domain", ctypes.c_int64 * 3),
    ]


_ANSWER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Event))
_TYPES = ["|b1", "|i1", "i2", "i4", "i8", "f4", "f8"]


class _Caller(ctypes.Structure):
    _fields_ = [("answer", _ANSWER), ("user", ctypes.c_void_p)]


class Array:
    """A field of an event where it lies, halo included, for `numpy.asarray`. It is the program's: use it in the answer alone."""

    def __init__(self, field, is_written):
        kind = _TYPES[field.dtype]
        item, rank = int(kind[-1]), field.rank
        order = "" if kind[0] == "|" else "<" if sys.byteorder == "little" else ">"
        self.origin = tuple(field.origin[:rank])
        self.__array_interface__ = {
            "version": 3,
            "typestr": order + kind,
            "data": (field.data, not is_written),
            "shape": tuple(field.shape[:rank]),
            "strides": tuple(it * item for it in field.stride[:rank]),
        }


class Event:
    """A statement that the caller carries out.

    Attributes:
        event: "callback", "update", "start" or "wait"
        number: which statement, as README.md lists them; the phases of an exchange have one number
        name: of the callback, or of the exchange's plan; None without one
        kind: of the exchange, "scalar", "vector" or "interface"; None of a callback
        width: points of the halo on each side
        fields: for each name its arrays, in order: an exchange may have several parts of one field
        gives: the names of the numbers that the answer returns as a dict
        domain: points along I, J, K
    """

    def __init__(self, told):
        name = told.name.decode()
        self.event = ["callback", "update", "start", "wait"][told.event]
        self.name, self.kind = name, None
        if told.event != 0:
            self.name, self.kind = name or None, ["scalar", "vector", "interface"][told.kind]
        self.number, self.width, self.domain = told.number, told.width, tuple(told.domain)
        self.fields = {}
        for at in range(told.n_fields):
            array = Array(told.fields[at], told.is_written[at])
            self.fields.setdefault(told.field_names[at].decode(), []).append(array)
        self.gives = [told.value_names[at].decode() for at in range(told.n_values)]


def _answered(answer, raised):
    """A function of C that answers with one of Python, and keeps what that raises."""

    def of_c(_, told):
        try:
            told = told.contents
            event = Event(told)
            given = answer(event) or {}
            if not set(event.gives) <= set(given):
                raise TypeError(f"the callback `{event.name}` gives {event.gives}, and the answer has {sorted(given)}")
            for at, name in enumerate(event.gives):
                dtype = told.value_dtypes[at]
                value = _scalar(name, given[name], _DTYPES[dtype])
                ctypes.memmove(told.values[at], ctypes.byref(value), ctypes.sizeof(value))
        except BaseException as error:
            raised.append(error)
            return 1
        return 0

    return _ANSWER(of_c)


def _run_asking(function, arguments, domain, origin, threads, answer):
    raised = []
    kept = _answered(answer, raised)
    try:
        _run(function, arguments, domain, origin, threads, [ctypes.byref(_Caller(kept, None))])
    except Error:
        if raised:
            raise raised[0] from None
        raise


