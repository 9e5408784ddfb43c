"""Isobar compiles GT4Py's GTScript stencils in milliseconds, and runs them on NumPy arrays where they lie."""

from .errors import (
    BackendUnavailable,
    CallError,
    CallTypeError,
    CancelledError,
    CaptureError,
    InternalError,
    IsobarError,
    StencilError,
    TrapError,
)
from .stencil import Stencil, stencil

__all__ = [
    "BackendUnavailable",
    "CallError",
    "CallTypeError",
    "CancelledError",
    "CaptureError",
    "InternalError",
    "IsobarError",
    "Stencil",
    "StencilError",
    "TrapError",
    "stencil",
]
