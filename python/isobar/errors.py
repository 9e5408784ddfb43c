"""What goes wrong, and where."""

from __future__ import annotations

from typing import Any


class IsobarError(Exception):
    """Anything that Isobar says."""


class StencilError(IsobarError, SyntaxError):
    """A stencil that does not compile; shells show the line with a caret.

    `diagnostics` are all that were found, each a dictionary with `code`, `message`, `file`, `line`, `column`, `help`.
    """

    def __init__(self, message: str, place: tuple[Any, ...] | None = None, diagnostics: list[dict[str, Any]] | None = None):
        super().__init__(message, place) if place is not None else super().__init__(message)
        self.diagnostics = diagnostics or []


class CaptureError(StencilError):
    """A function whose text or values cannot be told to the compiler."""


class CallError(IsobarError, ValueError):
    """A call whose arguments do not fit: shapes, origins, domain."""


class CallTypeError(IsobarError, TypeError):
    """A call with an argument of another type, or one too many or too few."""


class MissingArgumentError(CallError, CallTypeError):
    """A call that lacks a field or a scalar."""


class WrongDeviceError(CallError, CallTypeError):
    """A call with an array that lies on another device than the back end runs on: nothing is copied unasked."""


class TrapError(IsobarError):
    """A run that ended before its end, at a statement and a cell.

    `cell` is the point along I, J, K, counted from the start of the compute domain; `filename`, `lineno` and `offset`
    are where the statement stands, and none where nobody knows.
    """

    def __init__(
        self,
        message: str,
        cell: tuple[int, int, int] = (0, 0, 0),
        filename: str | None = None,
        lineno: int | None = None,
        offset: int | None = None,
    ):
        super().__init__(message)
        self.cell, self.filename, self.lineno, self.offset = cell, filename, lineno, offset


class CancelledError(IsobarError):
    """A run that was told to end."""


class RunnerError(IsobarError):
    """A runner that does not answer, or that refuses."""


class BackendUnavailable(IsobarError):
    """A back end that cannot run here, and why."""


class InternalError(IsobarError):
    """A bug of Isobar's."""
