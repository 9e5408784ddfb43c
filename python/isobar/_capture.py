"""What the compiler gets of a function of Python: text, with the values that the function sees.

The text of a stencil and of all functions that it calls goes to the compiler as it is written, each in a file named
after its module, at the lines where it stands. What names of it stand for is asked of the objects themselves: closures
before globals before builtins. So a constant that is computed while a module is imported is known, and nothing of the
module is run again.

The same functions and values give the same bytes, in whatever order they are found.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import inspect
import json
import linecache
import numbers
import sys
import textwrap
import types
from typing import Any

import numpy as np

from .errors import CaptureError

# Where GT4Py's own objects come from, and the names that a stencil knows without importing them.
_DIALECTS = ("gt4py.cartesian.gtscript", "isobar.gtscript", "ndsl.dsl.gt4py")
_DIALECT = "gt4py.cartesian.gtscript"

_TYPES = {float: "float", int: "int", bool: "bool"}


@dataclasses.dataclass
class Chunk:
    """A function within a file of a request."""

    first_line: int
    n_lines: int
    indent: int


@dataclasses.dataclass
class File:
    """A file of a request, and where its lines come from."""

    path: str
    n_header_lines: int
    chunks: list[Chunk]

    def place(self, line: int, column: int) -> tuple[str, int, int]:
        """Where a line and a column of the request stand in the user's file; columns count from 1."""
        line -= self.n_header_lines
        for chunk in self.chunks:
            if chunk.first_line <= line < chunk.first_line + chunk.n_lines:
                return self.path, line, column + chunk.indent
        return self.path, max(line, 1), column


_MISSING = object()


@dataclasses.dataclass
class Captured:
    """The part of a request that tells a stencil, and the way back to the user's files."""

    request: dict[str, Any]
    files: dict[str, File]
    name: str
    doc: str | None
    parameters: tuple[str, ...]
    n_positional: int
    # What the functions saw: a namespace or a cell, a name in it, and what stood there.
    seen: list[tuple[Any, str, Any]]
    text: str = ""

    def finish(self) -> None:
        """Fixes the request; its text is what it is known by."""
        self.text = json.dumps(self.request, sort_keys=True)

    def is_current(self) -> bool:
        """Whether the functions still see what they saw."""
        for container, name, value in self.seen:
            if isinstance(container, dict):
                now = container.get(name, _MISSING)
            elif isinstance(container, types.CellType):
                now = container.cell_contents
            else:
                now = getattr(container, name, _MISSING)
            if now is not value:
                return False
        return True

    def __getstate__(self) -> dict[str, Any]:
        # What was seen is not in the process that it is sent to.
        return {**self.__dict__, "seen": [({}, "", None)]}

    def place(self, file: str, line: int, column: int) -> tuple[str, int, int]:
        """Where something that is told of the request stands in the user's files."""
        known = self.files.get(file)
        return known.place(line, column) if known is not None else (file, line, column)


def capture(
    definition: types.FunctionType,
    *,
    externals: dict[str, Any] | None = None,
    dtypes: dict[Any, Any] | None = None,
    source: str | None = None,
) -> Captured:
    """The text of a stencil with all that it sees.

    `externals` are values by name, `dtypes` what types and names of annotations mean. `source` is the text of the
    definition, where Python has none: after `exec`, or in `python -c`.
    """
    capturing = _Capturing(source, definition)
    module = capturing.file_of(definition)
    capturing.function(definition, module, is_stencil=True)
    request: dict[str, Any] = {"main": module.name, "stencil": definition.__name__}
    # Functions among them may ask for more; what nobody asks for decides nothing.
    found: dict[str, Any] = {}
    while asked := sorted((capturing.asked & (externals or {}).keys()) - found.keys()):
        found.update({name: capturing.external((externals or {})[name], name, module) for name in asked})
    if found:
        request["externals"] = dict(sorted(found.items()))
    if dtypes:
        request["dtypes"] = {_name_of_key(key): _type_name(value) for key, value in dtypes.items()}
    files = {}
    texts = {}
    for name, it in sorted(capturing.modules.items()):
        texts[name], files[name] = it.written()
    request["files"] = texts
    kinds = inspect.signature(definition).parameters.values()
    n_positional = sum(it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD) for it in kinds)
    parameters = tuple(it.name for it in kinds)
    captured = Captured(
        request, files, definition.__name__, definition.__doc__, parameters, n_positional, capturing.seen
    )
    captured.finish()
    return captured


@dataclasses.dataclass
class CapturedStencils:
    """Several stencils in one set of files."""

    texts: dict[str, str]
    files: dict[str, File]
    # By stencil: its dotted name, and its externals in the form of a request.
    stencils: list[tuple[str, dict[str, Any]]]
    seen: list[tuple[Any, str, Any]]


def capture_all(definitions: list[tuple[types.FunctionType, dict[str, Any]]]) -> CapturedStencils:
    """The texts of several stencils, each with its externals. Functions of one module share a file."""
    capturing = _Capturing(None, definitions[0][0])
    placed = []
    for definition, externals in definitions:
        capturing.definition = definition
        module = capturing.file_of(definition)
        capturing.function(definition, module, is_stencil=True)
        placed.append((definition, externals, module))
    stencils = []
    for definition, externals, module in placed:
        found: dict[str, Any] = {}
        while asked := sorted((capturing.asked & externals.keys()) - found.keys()):
            found.update({name: capturing.external(externals[name], name, module) for name in asked})
        stencils.append((f"{module.dotted}.{definition.__name__}", dict(sorted(found.items()))))
    texts, files = {}, {}
    for name, it in sorted(capturing.modules.items()):
        texts[name], files[name] = it.written()
    return CapturedStencils(texts, files, stencils, capturing.seen)


class _Module:
    """A file of the request while it is collected."""

    def __init__(self, name: str, path: str):
        self.name, self.path = name, path
        # Names of the file's head, by what they are bound to.
        self.head: dict[str, str] = {}
        self.functions: dict[int, tuple[list[str], int, int]] = {}
        # Objects whose attributes are read: each with what was read of it.
        self.objects: dict[str, tuple[Any, dict[str, Any]]] = {}

    def bind_object(self, name: str, value: Any, read: dict[str, Any], what: str) -> None:
        """Binds a name to an object of which only what is read is known."""
        known, members = self.objects.setdefault(name, (value, {}))
        if known is not value or name in self.head:
            raise CaptureError(f"`{name}` means two things in {self.path}, in {what}")
        _merge(members, read)

    def bind(self, name: str, line: str, what: str) -> None:
        """Binds a name in the head; a name that means two things is an error."""
        known = self.head.setdefault(name, line)
        if known != line:
            raise CaptureError(f"`{name}` means two things in {self.path}: `{known}` and `{line}`, in {what}")

    @property
    def dotted(self) -> str:
        return self.name.removesuffix(".py").replace("/", ".")

    def written(self) -> tuple[str, File]:
        """The text of the file, and where it comes from."""
        lines: list[str] = []
        chunks = []
        for first_line, (text, indent, decorated) in sorted(self.functions.items()):
            if first_line - decorated - 1 < len(lines):
                # Two functions of one line: the second one stands where there is room.
                raise CaptureError(f"two functions stand in line {first_line} of {self.path}")
            lines.extend([""] * (first_line - 1 - len(lines)))
            lines.extend(text)
            chunks.append(Chunk(first_line, len(text), indent))
        head = ["import numpy as np", f"import {_DIALECT} as gtscript", f"from {_DIALECT} import *"]
        # Assignments may name what is imported.
        of_objects = [f"{name} = {_namespace(read)}" for name, (_, read) in self.objects.items()]
        if of_objects:
            head.append("from types import SimpleNamespace")
        bound = sorted([*self.head.values(), *of_objects], key=lambda it: (not it.startswith(("import", "from")), it))
        head.extend(line for it in bound for line in it.split("\n"))
        # The line of a decorator above a function in the first line.
        head.append("")
        body = [*head, *lines]
        for number in self.marks():
            body[len(head) + number - 2] = "@gtscript.function"
        return "\n".join(body) + "\n", File(self.path, len(head), chunks)

    def marks(self) -> list[int]:
        return [first for first, (_, _, decorated) in self.functions.items() if decorated]


class _Capturing:
    def __init__(self, source: str | None, definition: types.FunctionType):
        self.source, self.definition = source, definition
        self.modules: dict[str, _Module] = {}
        self.done: set[tuple[str, int]] = set()
        self.closures: dict[tuple[Any, ...], _Module] = {}
        self.seen: list[tuple[Any, str, Any]] = []
        # The externals that functions import.
        self.asked: set[str] = set()

    def file_of(self, function: types.FunctionType) -> _Module:
        """The file of the request for a function: that of its module. One that was made by another function has a file
        of its own, since each of those sees other values."""
        path = inspect.getsourcefile(function) or f"<{function.__module__}>"
        dotted = getattr(function, "__module__", None) or "main"
        if not function.__closure__:
            return self.module(dotted, path)
        key = (function.__code__, *(id(_content(it)) for it in function.__closure__))
        if key not in self.closures:
            self.closures[key] = self.module(f"{dotted}__{len(self.closures) + 1}", path)
        return self.closures[key]

    def module(self, dotted: str, path: str) -> _Module:
        parts = [it if it.isidentifier() else "".join(c if c.isalnum() else "_" for c in it) for it in dotted.split(".")]
        name = "/".join(parts) + ".py"
        known = self.modules.get(name)
        if known is None:
            known = self.modules[name] = _Module(name, path)
        return known

    def function(self, function: types.FunctionType, module: _Module, *, is_stencil: bool) -> None:
        """Adds a function, and all that it names."""
        if function.__name__ == "<lambda>":
            raise CaptureError("a lambda is no stencil: write a function with `def`")
        lines, first_line = self.lines_of(function)
        if (module.name, first_line) in self.done:
            return
        self.done.add((module.name, first_line))
        indent = len(lines[0]) - len(lines[0].lstrip())
        try:
            read = _read("".join(lines))
        except SyntaxError as error:
            raise CaptureError(f"the text of `{function.__name__}` cannot be read: {error.msg}") from None
        if read is None:
            raise CaptureError(f"`{function.__name__}` is no function with a text")
        text, node = list(read.lines), read.node
        edited = self.annotate(node, function, text)
        # Decorators made of it what it is; the compiler sees the function.
        at_def = node.lineno - 1
        text[:at_def] = [""] * at_def
        module.functions[first_line + at_def] = (text[at_def:], indent, not is_stencil)
        for name, value in sorted(self.names(read, edited, function).items()):
            self.value(name, value, module, function, [path for first, path in read.paths if first == name])

    def annotate(self, node: ast.FunctionDef, function: types.FunctionType, text: list[str]) -> set[str]:
        """Writes down the types of parameters that were set on the function object, and that its text lacks or has
        otherwise; also those that are named by variables of the function around, which are gone by now. Tells which."""
        edited = set()
        for it in reversed([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]):
            value = function.__annotations__.get(it.arg)
            if value is None or it.annotation is not None and _means(it.annotation, function, value):
                continue
            written = value if isinstance(value, str) else field_type(value) or _in_text(value)
            if it.annotation is None:
                line, at, end = it.end_lineno or it.lineno, it.end_col_offset or 0, it.end_col_offset or 0
                written = f": {written}"
            else:
                line, at, end = it.annotation.lineno, it.annotation.col_offset, it.annotation.end_col_offset or 0
                if it.annotation.end_lineno != line:
                    continue
            # Columns of the tree count bytes.
            old = text[line - 1].encode()
            text[line - 1] = (old[:at] + written.encode() + old[end:]).decode()
            edited.add(it.arg)
        return edited

    def lines_of(self, function: types.FunctionType) -> tuple[list[str], int]:
        if self.source is not None and function is self.definition:
            return self.source.splitlines(keepends=True), 1
        linecache.checkcache(function.__code__.co_filename)
        try:
            return _lines_of(function.__code__) or inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise CaptureError(
                f"Python has no text of `{function.__name__}` ({function.__code__.co_filename}): "
                "write it into a file or a notebook, or pass its text as `source=`"
            ) from None

    def names(self, read: _Read, edited: set[str], function: types.FunctionType) -> dict[str, Any]:
        """What the free names of a function stand for."""
        self.asked.update(read.asked)
        arguments = [it for it in [*read.node.args.args, *read.node.args.kwonlyargs] if it.arg not in edited]
        annotations = [it.annotation for it in arguments if it.annotation is not None]
        in_annotations = {it.id for tree in annotations for it in ast.walk(tree) if isinstance(it, ast.Name)}
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        found = {}
        for name in sorted(read.free | in_annotations):
            if name in cells:
                value = _content(cells[name])
                if value is not _MISSING:
                    found[name] = value
                    self.seen.append((cells[name], name, value))
                continue
            value = function.__globals__.get(name, _MISSING)
            self.seen.append((function.__globals__, name, value))
            if value is not _MISSING:
                found[name] = value
            # What nobody knows is told best by the compiler.
        return found

    def value(
        self,
        name: str,
        value: Any,
        module: _Module,
        function: types.FunctionType,
        paths: list[tuple[str, ...]],
    ) -> None:
        """Binds a name to what it stands for; of an object, to the attributes that are read of it."""
        what = f"`{function.__name__}`"
        if isinstance(value, types.FunctionType) and not _is_of_dialect(value):
            of = self.file_of(value)
            self.function(value, of, is_stencil=False)
            if of is not module:
                module.bind(name, _imported(of.dotted, value.__name__, name), what)
            elif value.__name__ != name:
                module.bind(name, f"{name} = {value.__name__}", what)
            return
        if isinstance(value, types.ModuleType):
            self.namespace(name, value, module, what)
            return
        line = self.line(name, value)
        if line is not None:
            module.bind(name, line, what)
        elif paths and not _is_of_dialect(value) and name not in _names_of_dialect().by_name:
            read = self.attributes(value, paths)
            if read:
                module.bind_object(name, value, read, what)

    def attributes(self, value: Any, paths: list[tuple[str, ...]]) -> dict[str, Any]:
        """What the paths read of an object, as texts by name; of objects inside of it, by their names again."""
        read: dict[str, Any] = {}
        for name in sorted({path[0] for path in paths}):
            it = getattr(value, name, _MISSING)
            if it is _MISSING:
                continue
            self.seen.append((value, name, it))
            further = [path[1:] for path in paths if path[0] == name and len(path) > 1]
            text = _constant(it)
            if text is not None:
                read[name] = text
            elif further and (inside := self.attributes(it, further)):
                read[name] = inside
        return read

    def namespace(self, name: str, value: types.ModuleType, module: _Module, what: str) -> None:
        """Binds a module: one file with all of its constants, whoever reads them."""
        if value.__name__ in _DIALECTS:
            module.bind(name, f"import {_DIALECT} as {name}", what)
        elif value.__name__ in {"numpy", "math"}:
            module.bind(name, f"import {value.__name__} as {name}", what)
        else:
            of = self.module(value.__name__, getattr(value, "__file__", None) or f"<{value.__name__}>")
            for key, it in sorted(vars(value).items()):
                if key.startswith("__"):
                    continue
                self.seen.append((vars(value), key, it))
                if isinstance(it, types.FunctionType) and hasattr(it, "_gtscript_"):
                    if (of_function := self.file_of(it)) is of:
                        self.function(it, of, is_stencil=False)
                    else:
                        self.function(it, of_function, is_stencil=False)
                        of.bind(key, _imported(of_function.dotted, it.__name__, key), value.__name__)
                elif not isinstance(it, (types.ModuleType, types.FunctionType)):
                    line = self.line(key, it)
                    if line is not None:
                        of.bind(key, line, value.__name__)
            module.bind(name, f"import {of.dotted} as {name}", what)

    def line(self, name: str, value: Any) -> str | None:
        """The assignment that gives a name its value; nothing for what the compiler knows by that name, or has no use
        for: it tells where it is used."""
        dialect = _names_of_dialect()
        known = dialect.by_name.get(name)
        if known is not None and known is value:
            return None
        if isinstance(value, enum.EnumMeta):
            those: list[Any] = list(value)
            those = [it for it in those if isinstance(it.value, numbers.Integral)]
            members = "\n".join(f"    {it.name} = {int(it.value)}" for it in those)
            return f"from enum import IntEnum\nclass {name}(IntEnum):\n{members}" if members else None
        if isinstance(value, (bool, np.bool_)):
            return f"{name} = {bool(value)}"
        if isinstance(value, np.generic) and value.dtype.kind in "iuf":
            return f"{name} = {_of_numpy(value)}"
        if isinstance(value, (int, float)) and not isinstance(value, enum.Enum):
            return f"{name} = {_number(value)}"
        if isinstance(value, type) and (known := _TYPES.get(value)):
            return f"{name} = {known}" if name != known else None
        if isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic):
            return f"{name} = np.{np.dtype(value).name}"
        if (field := field_type(value)) is not None:
            return f"{name} = {field}"
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], tuple):
            # The type of elements that are vectors or matrices: `(float, (3,))`.
            with contextlib.suppress(TypeError, ValueError):
                return f"{name} = ({_in_text(value[0])}, {tuple(int(it) for it in value[1])!r})"
        of_dialect = dialect.by_identity.get(id(value))
        return None if of_dialect is None else _imported(_DIALECT, of_dialect, name)

    def external(self, value: Any, name: str, module: _Module) -> Any:
        """An external in the form of a request."""
        if value is None or isinstance(value, (bool, np.bool_)):
            return None if value is None else bool(value)
        if isinstance(value, enum.Enum) and not isinstance(value, numbers.Number):
            value = value.value
        if isinstance(value, np.generic) and value.dtype.kind in "iuf":
            number = value.item()
            return {"dtype": value.dtype.name, "value": number if np.isfinite(number) else str(number)}
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, numbers.Real):
            value = float(value)
            return value if np.isfinite(value) else str(value)
        if isinstance(value, types.FunctionType):
            of = self.file_of(value)
            self.function(value, of, is_stencil=False)
            local = value.__name__
            if of is not module:
                module.bind(local, _imported(of.dotted, local, local), f"the external `{name}`")
            return {"function": local}
        if isinstance(value, enum.EnumMeta):
            those: list[Any] = list(value)
            return {"namespace": {it.name: self.external(it, it.name, module) for it in those}}
        kind = type(value).__name__
        if kind == "AxisIndex":
            return {"axis": str(value.axis), "index": int(value.index), "offset": int(value.offset)}
        if kind == "Axis" and hasattr(value, "name"):
            return {"axis": value.name, "index": None, "offset": 0}
        if isinstance(value, types.SimpleNamespace) or dataclasses.is_dataclass(value):
            members = {key: self.external(it, key, module) for key, it in sorted(vars(value).items())}
            self.seen.extend((value, key, it) for key, it in sorted(vars(value).items()))
            return {"namespace": members}
        members = self.members(value, module)
        if members:
            return {"namespace": members}
        return {"unsupported": f"{kind} {value!r}"[:80]}


    def members(self, value: Any, module: _Module) -> dict[str, Any]:
        """The numbers among the attributes of an object or a class, by the time that it is an external."""
        of_class = value if isinstance(value, type) else type(value)
        if of_class.__module__ == "builtins" or isinstance(value, types.ModuleType):
            return {}
        found: dict[str, Any] = {}
        for owner in reversed(of_class.__mro__):
            if owner is not object:
                found.update(vars(owner))
        if not isinstance(value, type):
            found.update(getattr(value, "__dict__", {}))
        plain = (bool, int, float, np.bool_, np.integer, np.floating)
        found = {name: it for name, it in found.items() if isinstance(it, plain) and not name.startswith("__")}
        self.seen.extend((value, name, it) for name, it in sorted(found.items()))
        return {name: self.external(it, name, module) for name, it in sorted(found.items())}


@dataclasses.dataclass(frozen=True)
class _Read:
    """The text of a function, as it is read once, whoever calls it. Nobody changes it."""

    lines: tuple[str, ...]
    node: ast.FunctionDef
    # The names that it loads, and neither binds nor imports; those of annotations aside.
    free: frozenset[str]
    # The externals that it imports.
    asked: frozenset[str]
    # Attributes that it reads: the name, and what stands behind its dots.
    paths: tuple[tuple[str, tuple[str, ...]], ...]


_known: dict[str, _Read | None] = {}


def _read(text: str) -> _Read | None:
    """The function of a text; nothing where it is none."""
    if text in _known:
        return _known[text]
    lines = textwrap.dedent(text).split("\n")
    while lines and not lines[-1]:
        lines.pop()
    node = next((it for it in ast.parse("\n".join(lines)).body if isinstance(it, ast.FunctionDef)), None)
    found = None
    if node is not None:
        own = {it.arg for it in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        used: set[str] = set()
        asked: set[str] = set()
        paths: set[tuple[str, tuple[str, ...]]] = set()
        outer = [*node.args.defaults, *node.args.kw_defaults, node.returns]
        for tree in [*node.body, *(it for it in outer if it is not None)]:
            for it in ast.walk(tree):
                if isinstance(it, ast.Attribute) and (path := _path(it)) is not None:
                    paths.add((path[0], path[1:]))
                if isinstance(it, ast.Name):
                    (used if isinstance(it.ctx, ast.Load) else own).add(it.id)
                elif isinstance(it, ast.ImportFrom):
                    own.update(alias.asname or alias.name for alias in it.names)
                    if it.module == "__externals__":
                        asked.update(alias.name for alias in it.names)
        found = _Read(tuple(lines), node, frozenset(used - own), frozenset(asked), tuple(sorted(paths)))
    if len(_known) >= 4096:
        _known.clear()
    _known[text] = found
    return found


def _path(node: ast.expr) -> tuple[str, ...] | None:
    """`a.b.c` as its parts."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and (path := _path(node.value)) is not None:
        return (*path, node.attr)
    return None


def _merge(members: dict[str, Any], read: dict[str, Any]) -> None:
    """Adds what was read of an object to what was read of it before."""
    for name, it in read.items():
        if isinstance(it, dict) and isinstance(members.get(name), dict):
            _merge(members[name], it)
        else:
            members[name] = it


def _namespace(read: dict[str, Any]) -> str:
    """An object with what was read of one, as a text."""
    parts = (f"{name}={_namespace(it) if isinstance(it, dict) else it}" for name, it in sorted(read.items()))
    return f"SimpleNamespace({', '.join(parts)})"


def _constant(value: Any) -> str | None:
    """A value as a text; nothing for what is none of a constant's."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return repr(None if value is None else bool(value))
    if isinstance(value, np.generic) and value.dtype.kind in "iuf":
        return _of_numpy(value)
    if isinstance(value, enum.Enum):
        return str(int(value.value)) if isinstance(value.value, numbers.Integral) else None
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, (tuple, list)):
        parts = [_constant(it) for it in value]
        if any(it is None for it in parts):
            return None
        inside = ", ".join(str(it) for it in parts)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(parts) == 1 else ''})"
    return None


def _means(annotation: ast.expr, function: types.FunctionType, value: Any) -> bool:
    """Whether an annotation as it is written is the type that the function object has."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    try:
        code = compile(ast.Expression(annotation), function.__code__.co_filename, "eval")
        written = eval(code, function.__globals__, {name: _content(it) for name, it in cells.items()})
    except Exception:
        # A string is what it was written as, whoever resolves it.
        return isinstance(value, str)
    return isinstance(written, str) or isinstance(value, str) or bool(written == value)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # A function that is not bound yet.
        return _MISSING


def _imported(module: str, name: str, local: str) -> str:
    return f"from {module} import {name}" + (f" as {local}" if local != name else "")


def _number(value: float) -> str:
    if isinstance(value, int) or np.isfinite(value):
        return repr(value)
    return f'float("{value}")'


def _of_numpy(value: np.generic) -> str:
    """A number of NumPy's as a text that means the same bits: `np.float32(0.1)`, with as few digits as its type needs."""
    short = str(value)
    is_same = value.dtype.kind == "f" and np.isfinite(value) and value.dtype.type(float(short)) == value
    return f"np.{value.dtype.name}({short if is_same else _number(value.item())})"


def _is_of_dialect(value: Any) -> bool:
    return getattr(value, "__module__", None) in _DIALECTS


@dataclasses.dataclass
class _Dialect:
    """What GTScript has by its names, where somebody imported it."""

    modules: list[types.ModuleType]
    n_names: list[int]
    by_name: dict[str, Any]
    # Nobody else has the identity of an object that is held above.
    by_identity: dict[int, str]


_dialect = _Dialect([], [], {}, {})


def _names_of_dialect() -> _Dialect:
    global _dialect
    modules = [it for it in (sys.modules.get(name) for name in _DIALECTS) if it is not None]
    n_names = [len(vars(it)) for it in modules]
    known = _dialect
    if known.modules == modules and known.n_names == n_names:
        return known
    by_name: dict[str, Any] = {}
    for module in modules:
        for name, it in list(vars(module).items()):
            if not name.startswith("_") and not isinstance(it, types.ModuleType):
                by_name.setdefault(name, it)
    by_identity: dict[int, str] = {}
    for name, it in by_name.items():
        by_identity.setdefault(id(it), name)
    _dialect = _Dialect(modules, n_names, by_name, by_identity)
    return _dialect


# By file: its lines as they were read, and where each function begins and ends in them.
_blocks: dict[str, tuple[list[str], dict[int, int]]] = {}


def _lines_of(code: types.CodeType) -> tuple[list[str], int] | None:
    """The lines of a function and the number of the first one, as `inspect.getsourcelines` tells them; each file is read
    once for all of its functions. Nothing where the file does not tell."""
    lines = linecache.getlines(code.co_filename)
    known = _blocks.get(code.co_filename)
    if known is None or known[0] is not lines:
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            return None
        ends: dict[int, int] = {}
        pending: list[ast.AST] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(it.lineno for it in node.decorator_list)])
                ends[first] = node.end_lineno or first
            # Functions stand in statements alone.
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                within = getattr(node, name, None)
                pending.extend(within if isinstance(within, list) else ())
        known = _blocks[code.co_filename] = (lines, ends)
    end = known[1].get(code.co_firstlineno)
    return None if end is None else (lines[code.co_firstlineno - 1 : end], code.co_firstlineno)


def field_type(value: Any) -> str | None:
    """A type of fields as GTScript writes it."""
    kind = type(value).__name__
    if kind not in {"_FieldDescriptor", "_GlobalTableDescriptor", "FieldType"} or not hasattr(value, "axes"):
        return None
    axes = "".join(str(it) for it in value.axes)
    dtype = value.dtype if isinstance(value.dtype, str) else _in_text(value.dtype)
    data = getattr(value, "data_dims", ())
    element = f"({dtype}, {tuple(int(it) for it in data)!r})" if data else dtype
    if not axes:
        return f"GlobalTable[{element}]"
    return f"Field[{axes}, {element}]"


def _in_text(dtype: Any) -> str:
    """A type as a text names it."""
    return _TYPES.get(dtype) or f"np.{np.dtype(dtype).name}"


def _type_name(value: Any) -> str:
    """A type as a request names it."""
    if isinstance(value, str):
        return value
    if value in _TYPES:
        return _TYPES[value]
    if (field := field_type(value)) is not None:
        return field
    return str(np.dtype(value).name)


def _name_of_key(key: Any) -> str:
    return key if isinstance(key, str) else _TYPES.get(key) or np.dtype(key).name
