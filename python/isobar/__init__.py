"""Isobar compiles GT4Py's GTScript stencils in milliseconds, and runs them on arrays where they lie.

    import isobar

    @isobar.stencil
    def scale(a: "Field[float]", b: "Field[float]", *, w: float):
        with computation(PARALLEL), interval(...):
            b = w * a[1, 0, 0]

    scale(a, b, w=2.0)

`isobar.gt4py` makes it a back end of GT4Py, `isobar.ndsl` of NDSL; `isobar.Runner` runs stencils on another machine.
"""

import logging as _logging
import os as _os

from . import _native, cache, ranks
from ._config import num_threads, set_num_threads
from ._native import Frozen, __version__
from .errors import (
    BackendUnavailable,
    CallError,
    CallTypeError,
    CancelledError,
    CaptureError,
    InternalError,
    IsobarError,
    MissingArgumentError,
    RunnerError,
    StencilError,
    TrapError,
    WrongDeviceError,
)
from .levels import Level, check, emit, lower
from .program import Program, ProgramError, program
from .runner import Runner
from .stencil import Bound, Layout, LazyStencil, Stencil, backends, lazy_stencil, stencil
from .storage import empty, from_array, full, ones, zeros

__all__ = [
    "BackendUnavailable",
    "Bound",
    "CallError",
    "CallTypeError",
    "CancelledError",
    "CaptureError",
    "Frozen",
    "InternalError",
    "IsobarError",
    "Layout",
    "LazyStencil",
    "Level",
    "MissingArgumentError",
    "Program",
    "ProgramError",
    "Runner",
    "RunnerError",
    "Stencil",
    "StencilError",
    "TrapError",
    "WrongDeviceError",
    "__version__",
    "backends",
    "cache",
    "check",
    "emit",
    "empty",
    "from_array",
    "full",
    "lazy_stencil",
    "lower",
    "num_threads",
    "ones",
    "program",
    "set_num_threads",
    "stencil",
    "zeros",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_native.after_fork)

_logger = _logging.getLogger("isobar")
_logger.addHandler(_logging.NullHandler())
if _os.environ.get("ISOBAR_LOG"):
    # As the `isobar` command takes it: `error`, `warn`, `info`, `debug`, `trace`.
    _level = _os.environ["ISOBAR_LOG"].upper().replace("WARN", "WARNING").replace("TRACE", "DEBUG")
    _handler = _logging.StreamHandler()
    _handler.setFormatter(_logging.Formatter("isobar: %(message)s"))
    _logger.addHandler(_handler)
    _logger.setLevel(getattr(_logging, _level.replace("WARNINGING", "WARNING"), _logging.INFO))
