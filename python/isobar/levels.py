"""What is wrong with a stencil, and what becomes of it: without arrays, and without code that runs."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from . import _memo, _native
from ._capture import Captured
from .errors import CallError, CaptureError, StencilError
from .stencil import LazyStencil, Stencil, stencil_error

__all__ = ["Level", "check", "emit", "lower"]


@dataclasses.dataclass(frozen=True)
class Level:
    """A level of a stencil."""

    stage: str
    text: str
    nodes: list[dict[str, Any]]
    """A parent stands before its children: `id`, `kind`, `lines` of the text, `parent` by position, `links` to
    statements, and `places` in your files, each with `file`, `line`, `column`, `end_line`, `end_column`."""

    def __str__(self) -> str:
        return self.text


def check(it: Any, **request: Any) -> list[dict[str, Any]]:
    """What is wrong with a stencil: errors and warnings with `code`, `severity`, `message`, `file`, `line`, `column`,
    `end_line`, `end_column`, `help`; nothing of it is raised.

    `it` is a function, a stencil, a text of GTScript, or the path of one. `request` are options of `isobar.stencil`, and of
    a text `stencil`, the name of the one that is meant. Raises `CaptureError` where Python has no text of a function.
    """
    found, captured = _compiled(it, [], request)
    return _told(found["diagnostics"], captured)


def lower(it: Any, stage: str = "oir", **request: Any) -> Level:
    """A level with its nodes, and where each comes from: `definition`, `gtir`, `oir`, `tree`, `schedule`, `sdfg`, `loops`,
    or generated text; arguments as those of `check`.

    Raises `StencilError` where the stencil does not compile as far, and `CallError` where there is no such stage.
    """
    found, captured = _compiled(it, [stage], request)
    errors = [it for it in found["diagnostics"] if it["severity"] == "error"]
    if not found["stages"]:
        raise stencil_error(errors, captured) if errors else StencilError(f"the stage `{stage}` was not reached")
    level = found["stages"][0]
    nodes = []
    for node in level["nodes"]:
        places = [_place(captured, it["file"], it["start"], it["end"]) for it in node.pop("spans", [])]
        nodes.append({**node, "places": places})
    return Level(stage, level["text"], nodes)


def emit(it: Any, stage: str = "c", **request: Any) -> str:
    """The text of a stage, as `c`, `numpy`, `cuda`, `wgsl`; arguments and exceptions as those of `lower`."""
    return lower(it, stage, **request).text


def _compiled(it: Any, stages: list[str], options: dict[str, Any]) -> tuple[dict[str, Any], Captured]:
    captured = _captured(it, options)
    try:
        found: dict[str, Any] = json.loads(_native.compiled(captured.text, stages))
    except ValueError as error:
        raise CallError(str(error)) from None
    return found, captured


def _captured(it: Any, options: dict[str, Any]) -> Captured:
    if isinstance(it, (Stencil, LazyStencil)) and not options:
        made = it.implementation if isinstance(it, LazyStencil) else it
        return made._captured
    if isinstance(it, (Stencil, LazyStencil)):
        it = it.definition
    if isinstance(it, (str, os.PathLike)):
        return _of_text(it, options)
    precisions = (options.pop("literal_int_precision", 64), options.pop("literal_float_precision", 64))
    externals, dtypes, source = (options.pop(name, None) for name in ("externals", "dtypes", "source"))
    if options:
        raise CallError(f"there is no option {', '.join(f'`{name}`' for name in sorted(options))} of a function")
    return _memo.captured(it, externals, dtypes, source, precisions)


def _of_text(it: str | os.PathLike[str], options: dict[str, Any]) -> Captured:
    """A text as it stands: nothing of it is run, so names have the values that the text gives them."""
    if isinstance(it, str) and "\n" in it:
        name, text = "main.py", it
    else:
        path = Path(it)
        try:
            name, text = path.name, path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CaptureError(f"{os.fspath(path)} cannot be read: {error}") from None
    if not name.endswith(".py"):
        name += ".py"
    request = {"main": name, "files": {name: text}, **options}
    captured = Captured(request, {}, str(options.get("stencil") or name), None, (), 0, [])
    captured.finish()
    return captured


def _place(captured: Captured, file: str, start: dict[str, int], end: dict[str, int]) -> dict[str, Any]:
    path, line, column = captured.place(file, start["line"], start["col"])
    _, end_line, end_column = captured.place(file, end["line"], end["col"])
    return {"file": path, "line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _told(found: list[dict[str, Any]], captured: Captured) -> list[dict[str, Any]]:
    names = ("code", "severity", "message", "help")
    return [
        {name: it.get(name) for name in names} | _place(captured, it["file"], it["start"], it["end"]) for it in found
    ]
