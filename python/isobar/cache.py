"""What is kept of compiled stencils for other processes: in `isobar` of `XDG_CACHE_HOME`, else of `~/.cache`, or where
`ISOBAR_CACHE` says; nowhere with `ISOBAR_CACHE=off`.

Ranks of a model share the folder: what one of them makes the others find. It may be removed at any time.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from . import _config, _memo, _native
from .errors import CallError

__all__ = ["Entry", "Explanation", "clear", "explain", "folder", "ls"]

# What differs, in words.
_WORDS = {
    "text": "the text, or a value that it sees",
    "flags": "externals, types, the mode, or for C the options of its compiler",
    "compiler": "what makes the code: this build of Isobar, or the C compiler",
    "processor": "the processor",
    "version": "the version of Isobar",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """Something that is kept."""

    backend: str
    stencil: str
    key: str
    bytes: int
    is_whole: bool
    """Whether it is as it was written; else it is made anew when it is needed."""
    unused_s: float
    """Seconds since it was made, or used last."""


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Whether a stencil is found without being compiled, and if not, why."""

    is_hit: bool
    key: str
    nearest: str | None
    """The key of what is most like it."""
    differs: tuple[str, ...]
    """By what that differs."""

    def __str__(self) -> str:
        if self.is_hit:
            return f"the code is there: {self.key[:12]}"
        if self.nearest is None:
            return f"there is no code {self.key[:12]}, nor any other"
        return f"there is no code {self.key[:12]}; of {self.nearest[:12]} differs: {', '.join(self.differs)}"


def folder() -> Path | None:
    """The folder; none where nothing is kept."""
    return _config.cache_folder()


def ls() -> list[Entry]:
    """Everything that is kept, what was used last first."""
    root = folder()
    return [] if root is None else [Entry(*it) for it in _native.cache_list(root)]


def clear() -> int:
    """Removes everything that is kept; answers how much there was. Raises `OSError` where it cannot be removed."""
    root = folder()
    return 0 if root is None else _native.cache_clear(root)


def explain(definition: Any, backend: str = "rayon", **options: Any) -> Explanation:
    """Whether another process would find a stencil compiled, and if not, by what it differs from what there is.

    `options` are those of `isobar.stencil`. Raises `CallError` where nothing is kept: `debug` and `numpy` are compiled in
    every process.
    """
    precisions = (options.pop("literal_int_precision", 64), options.pop("literal_float_precision", 64))
    captured = _memo.captured(
        definition, options.pop("externals", None), options.pop("dtypes", None), options.pop("source", None), precisions
    )
    backend = backend.removeprefix("isobar:")
    backend = "rayon" if backend == "isobar" else backend
    wanted = _config.wanted(backend, options.pop("threads", None), options.pop("mode", "reproducible"), 0)
    wanted["copies"] = options.pop("copies", True)
    if options:
        raise CallError(f"there is no option {', '.join(f'`{name}`' for name in sorted(options))} of a stencil")
    found = _native.cache_explain(captured.text, wanted)
    if found is None:
        raise CallError(f"nothing is kept of `{captured.name}` with the back end `{backend}` here")
    is_hit, key, nearest, differs = found
    return Explanation(is_hit, key, nearest, tuple(_WORDS.get(it, it) for it in differs))
