"""The object graph of a program: what the compiler is told of live objects.

A method and all functions that it calls go to the compiler as texts. The values that they name are asked of the objects:
numbers, arrays, stencils, other objects. Nothing is run or traced, so loops stay loops and numbers of the caller stay
numbers of run time.

Only attributes that some text names are looked at.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import functools
import inspect
import linecache
import logging
import math
import numbers
import textwrap
import types
from typing import Any

import numpy as np

from . import _exchange
from ._capture import _MISSING, _content, _lines_of, capture_all
from .errors import CaptureError
from .stencil import LazyStencil, Stencil

# Functions whose calls mean their argument.
_IDENTITIES = ("dace_nounroll", "nounroll")

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclasses.dataclass(frozen=True)
class Placed:
    """A stencil with its range, where it has one of its own."""

    made: Stencil
    domain: tuple[int, ...] | None = None
    # By field, and `_all_` for the others: the index of the first point in its array.
    origin: tuple[tuple[str, tuple[int, ...]], ...] = ()
    externals: Any = None

    @property
    def key(self) -> Any:
        return self.made._captured.text, self.domain, self.origin


@dataclasses.dataclass
class Lying:
    """An array of a program."""

    name: str
    array: np.ndarray
    role: str
    axes: str
    # What the array is of: itself, or a quantity.
    of: Any


class Walker:
    """Collects what a method needs.

    Without a `domain`, it is that of most stencils that have one of their own.
    """

    def __init__(self, domain: tuple[int, ...] | None, halo: tuple[int, ...] | None):
        self.domain, self.halo = domain, halo
        self.functions: dict[str, dict[str, Any]] = {}
        self.keys: dict[Any, str] = {}
        self.objects: dict[int, tuple[str, Any]] = {}
        # Names that some text asks objects for.
        self.asked: set[str] = set()
        self.stencils: list[tuple[str, Placed]] = []
        self.stencil_names: dict[Any, str] = {}
        self.arrays: list[Lying] = []
        # Their names by where they lie, and the addresses that each of them has, from the first to behind the last.
        self.places: dict[Any, str] = {}
        self.spans: list[tuple[int, int, Lying]] = []
        # Callbacks, which no text tells: by key.
        self.hosts: dict[str, Any] = {}
        # Exchanges between ranks: by updater, and what carries their messages.
        self.exchanges_itself = True
        self.exchanges: dict[int, dict[str, Any]] = {}
        self.plans: dict[str, Any] = {}
        self.communicator: Any = None
        self.texts: dict[str, str] = {}
        self.paths: dict[str, str] = {}
        # What was found where, and what lists and dictionaries held, so that a change is noticed.
        self.seen: list[tuple[Any, str, Any]] = []
        self.held: list[tuple[Any, list[Any]]] = []
        # Of `seen`: dictionaries, objects with the attribute in their own, and all others.
        self.sorted: tuple[int, list[Any], list[Any], list[Any]] = (0, [], [], [])
        self.names: set[str] = set()

    def name(self, wanted: str) -> str:
        """A name that nothing else has."""
        wanted = "".join(it if it.isalnum() or it == "_" else "_" for it in wanted) or "it"
        if wanted[0].isdigit() or wanted in "ijkIJK":
            wanted = f"_{wanted}"
        name, number = wanted, 1
        while name in self.names:
            number += 1
            name = f"{wanted}_{number}"
        self.names.add(name)
        return name

    def function(self, function: types.FunctionType) -> str:
        """The key of a function with a text."""
        closure = tuple(id(_content(it)) for it in function.__closure__ or ())
        key = (function.__code__, closure)
        known = self.keys.get(key)
        if known is None:
            known = f"f{len(self.keys) + 1}.{function.__qualname__}"
            entry = self.read(function)
            self.keys[key], self.functions[known] = known, entry
        return known

    def read(self, function: types.FunctionType) -> dict[str, Any]:
        """Adds the file of a function, and tells what its text names."""
        path = inspect.getsourcefile(function)
        if path is None:
            raise CaptureError(f"Python has no text of `{function.__qualname__}`")
        definition = _definition(function)
        if definition is None:
            raise CaptureError(f"Python has no text of `{function.__qualname__}` that is written with `def`")
        if path not in self.paths:
            # Stencils of the same module have another file, of their texts alone.
            self.paths[path] = f"objects/{len(self.paths) + 1}_{path.replace(chr(92), '/').rsplit('/', 1)[-1]}"
            self.texts[self.paths[path]] = "".join(linecache.getlines(path))
        self.asked |= definition.attributes
        names = definition.names - {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        entry: dict[str, Any] = {"file": self.paths[path], "line": definition.line, "names": {}}
        for name in sorted(names):
            value = _content(cells[name]) if name in cells else function.__globals__.get(name, _MISSING)
            if value is _MISSING:
                continue
            self.seen.append((cells[name] if name in cells else function.__globals__, name, value))
            entry["names"][name] = (value, name)
        return entry

    def tagged(self, value: Any, name: str) -> Any:
        """A value in the form of the graph."""
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, (np.bool_, bool)):
            return bool(value)
        if isinstance(value, enum.Enum) and not isinstance(value, numbers.Number):
            return self.tagged(value.value, name)
        if isinstance(value, numbers.Integral):
            return int(value)
        if isinstance(value, (float, np.floating)):
            number = float(value)
            # A whole number stays a float in JSON.
            return number if math.isfinite(number) else {"float": repr(number)}
        if isinstance(value, (list, dict)):
            self.held.append((value, _contents(value)))
        if isinstance(value, (list, tuple)):
            return [self.tagged(it, f"{name}_{at}") for at, it in enumerate(value)]
        if isinstance(value, dict):
            return {"dict": [[self.tagged(key, name), self.tagged(it, f"{name}_{key}")] for key, it in value.items()]}
        placed = _placed(value)
        if placed is not None:
            return {"stencil": self.stencil(placed)}
        found = _array(value)
        if found is not None:
            return self.field(*found, name, value)
        if type(value).__name__ in ("Timer", "NullTimer") and hasattr(value, "clock"):
            return {"timer": True}
        if value is math or isinstance(value, types.ModuleType) and value.__name__ == "numpy":
            return {"module": "math"}
        if isinstance(value, type) and value in (float, int, bool):
            return {"builtin": value.__name__}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"builtin": np.dtype(value).name}
        if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
            return {"unknown": "a method that is bound elsewhere"}
        if isinstance(value, types.FunctionType):
            if value.__name__ in _IDENTITIES:
                return {"builtin": "identity"}
            if _is_inhibited(value):
                return {**self.host(value), "fields": []} if _is_apart(value) else self.host(value)
            try:
                return {"function": self.function(value)}
            except CaptureError as error:
                # It is told where somebody calls it.
                return {"unknown": error.msg}
        if isinstance(value, types.BuiltinFunctionType):
            return {"unknown": f"the function `{value.__name__}` of C"}
        if isinstance(value, types.ModuleType):
            return {"object": self.object(value, value.__name__)}
        if hasattr(builtins, type(value).__name__) and type(value).__module__ == "builtins":
            return {"unknown": type(value).__name__}
        exchange = self.exchange(value, name)
        return {"object": self.object(value, name)} if exchange is None else exchange

    def exchange(self, value: Any, name: str) -> dict[str, Any] | None:
        """The exchange that an updater of NDSL's makes with other ranks; nothing where it stays a callback."""
        known = self.exchanges.get(id(value))
        if known is not None:
            return known
        if not self.exchanges_itself:
            return None
        told = self.exchange_told(_exchange.read(value), value, name)
        edges = self.exchange_told(_exchange.read_edges(value), value, f"{name}_edges")
        if edges is not None:
            # A pair may have no halos that are exchanged.
            told = {**(edges if told is None else told), "interface": edges}
        elif told is not None and isinstance(interface := _attribute(value, "interface"), types.MethodType):
            told["interface"] = self.host_of(interface, value)
        if told is not None:
            self.exchanges[id(value)] = told
        return told

    def exchange_told(self, found: _exchange.Updater | None, value: Any, name: str) -> dict[str, Any] | None:
        if found is None or self.communicator is not None and self.communicator is not found.communicator:
            return None
        # The plan has the dimensions of arrays, and a program those of its fields: I, J, K, and others behind them.
        arrays = [_array(it) for it in found.quantities]
        if any(it is None or _axes(of)[: len(it[1])] != it[1] or it[1] not in ("IJ", "IJK") for it, of in zip(arrays, found.quantities)):
            return None
        try:
            fields = [self.tagged(of, it) for it, of in zip(found.names, found.quantities)]
        except CaptureError:
            # Arrays that share elements, for one.
            return None
        self.communicator = found.communicator
        plan = self.name(f"plan_{name}")
        self.plans[plan] = found.plan
        state = found.state
        self.seen.extend((state, it, of) for it, of in zip(found.names, found.quantities))
        self.seen.append((value, "_updater", value._updater))
        return {"exchange": fields, "kind": found.kind, "width": found.width, "plan": plan}

    def stencil(self, it: Placed) -> str:
        key = it.key
        known = self.stencil_names.get(key)
        if known is None:
            known = self.stencil_names[key] = self.name(it.made.__name__)
            self.stencils.append((known, it))
        return known

    def field(self, array: np.ndarray, axes: str, role: str, name: str, of: Any) -> dict[str, Any]:
        place = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        known = self.places.get(place)
        if known is not None:
            return {"field": known}
        first, end = _span(array)
        for start, behind, other in self.spans:
            if first < behind and start < end and np.shares_memory(other.array, array):
                raise CaptureError(f"the arrays of `{other.name}` and `{name}` share a part of their elements")
        lying = Lying(self.name(name), array, role, axes, of)
        self.arrays.append(lying)
        self.places[place] = lying.name
        self.spans.append((first, end, lying))
        return {"field": lying.name}

    def frame(self) -> tuple[dict[str, int], dict[str, int]]:
        """The points of the domain, and the index of the first of them, by axis."""
        if self.domain is None:
            ranges = [(it.domain, dict(it.origin).get("_all_")) for _, it in self.stencils if it.domain is not None]
            if not ranges:
                raise CaptureError("no stencil of the program has a domain: pass `domain` to `isobar.program`")
            self.domain, origin = max(ranges, key=ranges.count)
            self.halo = self.halo or origin
        return dict(zip("IJK", self.domain)), dict(zip("IJK", self.halo or (0, 0, 0)))

    def fields(self) -> dict[str, dict[str, Any]]:
        """The arrays as the graph has them."""
        points, first = self.frame()
        told = {}
        for it in self.arrays:
            shape: list[Any] = [f"{axis}{size - points[axis]:+d}" for axis, size in zip(it.axes, it.array.shape)]
            told[it.name] = {
                "role": it.role, "dtype": it.array.dtype.name, "axes": it.axes,
                "shape": [*shape, *it.array.shape[len(it.axes):]], "origin": [first[axis] for axis in it.axes],
            }  # fmt: skip
        return told

    def host(self, value: Any) -> dict[str, Any]:
        """A callback: it is called in its order, between the stencils around it."""
        for key, known in self.hosts.items():
            if known == value:
                return {"host": key}
        key = f"host_{len(self.hosts) + 1}"
        self.hosts[key] = value
        return {"host": key}

    def host_of(self, method: Any, value: Any) -> dict[str, Any]:
        """A method as a callback. That of a halo updater of NDSL's touches the fields that it exchanges, and no others."""
        touched = _exchange.touched(value)
        if touched is None or any(_array(it) is None for it in touched.values()):
            return self.host(method)
        try:
            fields = [self.tagged(of, it) for it, of in touched.items()]
        except CaptureError:
            return self.host(method)
        self.seen.extend((value._state, it, of) for it, of in touched.items())
        return {**self.host(method), "fields": fields}

    def value(self, told: Any) -> Any:
        """The value of a callback's argument, which the graph told."""
        if isinstance(told, list):
            return [self.value(it) for it in told]
        if not isinstance(told, dict):
            return told
        if "field" in told:
            found = next(it for it in self.arrays if it.name == told["field"])
            return found.of if not told.get("data_index") else found.array[(..., *told["data_index"])]
        if "object" in told:
            return next(value for key, value in self.objects.values() if key == told["object"])
        if "dict" in told:
            return {self.value(key): self.value(it) for key, it in told["dict"]}
        return float(told["float"])

    def object(self, value: Any, name: str) -> str:
        known = self.objects.get(id(value))
        if known is None:
            known = self.objects[id(value)] = (self.name(f"object_{name}"), value)
        return known[0]

    def is_current(self) -> bool:
        """Whether the objects still hold what they held."""
        return self.changed() is None

    def changed(self) -> str | None:
        """What the objects hold otherwise than they did."""
        for it in self.arrays:
            # A quantity may have got another array.
            found = None if it.of is it.array else _array(it.of)
            if found is not None and found[0] is not it.array:
                return it.name
        # A model has thousands, and each step asks.
        of_dictionaries, of_objects, others = self.sorted_seen()
        for container, name, value in of_dictionaries:
            now = container.get(name, _MISSING)
            if now is not value and not _is_equal(now, value):
                return str(name)
        for container, name, value in of_objects:
            now = container.__dict__.get(name, _MISSING)
            if now is not value and not _is_equal(_attribute(container, name), value):
                return str(name)
        for container, name, value in others:
            now = _content(container) if isinstance(container, types.CellType) else _attribute(container, name)
            if now is not value and not _is_equal(now, value):
                return str(name)
        for value, before in self.held:
            now = _contents(value)
            if len(now) != len(before) or any(one is not other for one, other in zip(now, before)):
                return "a list"
        return None

    def sorted_seen(self) -> tuple[list[Any], list[Any], list[Any]]:
        """What was found where, each once."""
        if self.sorted[0] == len(self.seen):
            return self.sorted[1:]
        of_dictionaries, of_objects, others, known = [], [], [], set()
        for entry in self.seen:
            container, name, value = entry
            key = (id(container), name, id(value))
            if key in known:
                continue
            known.add(key)
            if isinstance(container, dict):
                of_dictionaries.append(entry)
            elif name in getattr(container, "__dict__", {}) and name not in _replaced(container):
                of_objects.append(entry)
            else:
                others.append(entry)
        self.sorted = len(self.seen), of_dictionaries, of_objects, others
        return self.sorted[1:]

    def finished(self) -> dict[str, Any]:
        """All that texts ask the objects for; each text may ask for more."""
        attributes: dict[str, dict[str, Any]] = {}
        methods: dict[str, dict[str, str]] = {}
        done: dict[str, set[str]] = {}
        while True:
            before = (len(self.functions), len(self.objects), len(self.asked))
            for key in list(self.functions):
                names = self.functions[key]["names"]
                for name, it in list(names.items()):
                    if isinstance(it, tuple):
                        names[name] = self.tagged(*it)
            for key, value in list(self.objects.values()):
                known = done.setdefault(key, set())
                new = {*self.asked, "__call__"} - known
                known |= new
                for name in sorted(_possible(value, new)):
                    found = _attribute(value, name)
                    if found is _MISSING:
                        continue
                    if isinstance(found, types.FunctionType) and name in _replaced(value):
                        methods.setdefault(key, {})[name] = self.function(found)
                        continue
                    if _is_inhibited(found):
                        attributes.setdefault(key, {})[name] = self.host_of(found, value)
                        continue
                    if isinstance(found, types.MethodType) and isinstance(found.__func__, types.FunctionType):
                        methods.setdefault(key, {})[name] = self.function(found.__func__)
                        continue
                    if name.startswith("__"):
                        continue
                    self.seen.append((value, name, found))
                    attributes.setdefault(key, {})[name] = self.tagged(found, name)
            if before == (len(self.functions), len(self.objects), len(self.asked)):
                break
        return {
            key: {
                "class": value.__name__ if isinstance(value, types.ModuleType) else type(value).__qualname__,
                "attributes": attributes.get(key, {}),
                "methods": methods.get(key, {}),
            }
            for key, value in self.objects.values()
        }

    def stencils_told(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The stencils as the graph has them, and their files."""
        if not self.stencils:
            return {}, {}
        given = []
        for _, it in self.stencils:
            externals = dict(it.made.externals if it.externals is None else it.externals)
            given.append((it.made.definition, externals))
        captured = capture_all(given)
        points, first = self.frame()
        told = {}
        for (name, it), (function, externals) in zip(self.stencils, captured.stencils):
            entry: dict[str, Any] = {"function": function, "externals": externals, "domain": ["I", "J", "K"]}
            if it.domain is not None:
                entry["domain"] = [f"{axis}{size - points[axis]:+d}" for axis, size in zip("IJK", it.domain)]
                infos = it.made.field_info
                entry["origin"] = {}
                for field, origin in it.origin:
                    axes = "IJK" if field == "_all_" else infos[field].axes if field in infos else ()
                    at = dict(zip(axes, origin))
                    moved = [at.get(axis, first[axis]) - first[axis] for axis in "IJK"]
                    entry["origin"][field] = moved
                usual = entry["origin"].get("_all_", [0, 0, 0])
                # An axis that a field lacks has no first point.
                for field in list(entry["origin"]):
                    axes = infos[field].axes if field in infos else "IJK"
                    is_usual = all(entry["origin"][field]["IJK".index(it)] == usual["IJK".index(it)] for it in axes)
                    if field != "_all_" and is_usual:
                        del entry["origin"][field]
            told[name] = {"stencil": entry, "params": list(it.made._captured.parameters)}
        self.seen.extend(captured.seen)
        return told, captured.texts


def _is_inhibited(value: Any) -> bool:
    """Whether NDSL keeps a function out of programs (`@dace_inhibitor`), and it is more than a number."""
    function = value.__func__ if isinstance(value, types.MethodType) else value
    return isinstance(function, types.FunctionType) and _inhibited(function)


# Modules whose functions touch no field that they are not given.
_APART = ("logging", "math", "mpi4py", "os", "sys", "time", "warnings")


@dataclasses.dataclass(frozen=True)
class _Definition:
    """The `def` of a function."""

    node: ast.FunctionDef
    # Of the `def` in its file.
    line: int
    # That it loads, and the attributes that it asks objects for.
    names: frozenset[str]
    attributes: frozenset[str]


@functools.lru_cache(maxsize=4096)
def _definition(function: types.FunctionType) -> _Definition | None:
    """The text of a function; nothing where there is none, or a lambda. The ranks of a process share it."""
    inner = inspect.unwrap(function)
    try:
        lines, first = _lines_of(inner.__code__) or inspect.getsourcelines(inner)
        node = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError, AttributeError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    names, attributes = set(), set()
    for it in ast.walk(node):
        if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Load):
            names.add(it.id)
        elif isinstance(it, ast.Attribute):
            attributes.add(it.attr)
    return _Definition(node, first + node.lineno - 1, frozenset(names), frozenset(attributes))


_WORDS = (print, len, str, repr, format)


@functools.lru_cache(maxsize=4096)
def _is_apart(function: types.FunctionType) -> bool:
    """Whether a function touches nothing but its arguments: it logs, or prints, and stores nothing."""
    definition = _definition(function)
    if definition is None or function.__closure__:
        return False
    own = set(function.__code__.co_varnames)
    for it in (inner for statement in definition.node.body for inner in ast.walk(statement)):
        if isinstance(it, (ast.Attribute, ast.Subscript)) and not isinstance(it.ctx, ast.Load):
            return False
        if isinstance(it, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Lambda, ast.FunctionDef)):
            return False
        if not isinstance(it, ast.Name) or it.id in own:
            continue
        value = function.__globals__.get(it.id, getattr(builtins, it.id, _MISSING))
        is_module = isinstance(value, types.ModuleType) and value.__name__.split(".")[0] in _APART
        is_word = value is None or isinstance(value, (str, *_NUMBERS)) or any(value is word for word in _WORDS)
        if not (is_module or is_word or isinstance(value, logging.Logger)):
            return False
    return True


@functools.lru_cache(maxsize=4096)
def _inhibited(function: Any) -> bool:
    definition = _definition(function)
    if definition is None:
        return False
    node = definition.node
    named = (it.attr if isinstance(it, ast.Attribute) else getattr(it, "id", "") for it in node.decorator_list)
    body = [it for it in node.body if not (isinstance(it, ast.Expr) and isinstance(it.value, ast.Constant))]
    is_number = len(body) == 1 and isinstance(body[0], ast.Return)
    return "dace_inhibitor" in named and not is_number


def _is_equal(one: Any, other: Any) -> bool:
    """Whether two values that a property made anew mean the same to a program."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (str, *_NUMBERS)):
        return bool(one == other)
    if isinstance(one, types.MethodType):
        return bool(one == other)
    if dataclasses.is_dataclass(one):
        return all(
            _is_equal(getattr(one, it.name), getattr(other, it.name)) or getattr(one, it.name) is getattr(other, it.name)
            for it in dataclasses.fields(one)
        )
    return False


def _contents(value: Any) -> list[Any]:
    return [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)


def _placed(value: Any) -> Placed | None:
    """A stencil: one of this package's, or of GT4Py's or NDSL's that this package made."""
    if isinstance(value, LazyStencil):
        value = value.implementation
    if isinstance(value, Stencil):
        return Placed(value)
    inner = getattr(value, "stencil_object", None)
    # GT4Py's lazy stencils are compiled when somebody asks.
    inner = getattr(inner, "implementation", inner)
    made = getattr(inner, "isobar", None)
    origins = getattr(value, "_field_origins", None)
    if isinstance(made, Stencil) and isinstance(origins, dict):
        domain = tuple(int(it) for it in value.domain)
        origin = tuple(sorted((name, tuple(int(it) for it in at)) for name, at in origins.items()))
        return Placed(made, domain, origin, getattr(value, "externals", None))
    made = getattr(value, "isobar", None)
    return Placed(made) if isinstance(made, Stencil) else None


def _array(value: Any) -> tuple[np.ndarray, str, str] | None:
    """The array of a value with its axes and its role: NumPy's own, or that of a quantity of NDSL's."""
    if isinstance(value, np.ndarray):
        axes = {0: "", 1: "K", 2: "IJ"}.get(value.ndim, "IJK")
        return (value, axes, "argument") if value.ndim else None
    if isinstance(value, _NUMBERS) or isinstance(value, type):
        return None
    dims = getattr(value, "dims", None)
    if dims is None:
        return None
    # Newer ones warn whoever asks for `data`.
    data = getattr(value, "_data", None)
    data = getattr(value, "data", None) if data is None else data
    if not isinstance(data, np.ndarray):
        return None
    axes = "".join(it for it in _axes(value) if it != "-")
    # What a class keeps for itself is undefined when its method begins.
    role = "local" if type(value).__name__ == "Local" else "argument"
    return data, axes, role


def _axes(quantity: Any) -> str:
    """The axis of each dimension of a quantity, and `-` for others."""
    letters = {"x": "I", "y": "J", "z": "K", "i": "I", "j": "J", "k": "K"}
    return "".join(letters.get(str(it)[:1], "-") for it in quantity.dims)


def _span(array: np.ndarray) -> tuple[int, int]:
    """The address of the lowest element of an array, and the one behind the highest."""
    first = array.__array_interface__["data"][0]
    reaches = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)] if array.size else []
    return first + sum(min(it, 0) for it in reaches), first + sum(max(it, 0) for it in reaches) + array.itemsize


def _possible(value: Any, names: set[str]) -> set[str]:
    """Those of some names that an attribute may have; all where its class makes attributes up."""
    cls: Any = type(value)
    try:
        of_class = _names_of_class(cls)
    except TypeError:
        # Its class is told from others by something else than itself.
        return names
    if of_class is None:
        return names
    return {it for it in names if it in of_class} | (names & getattr(value, "__dict__", {}).keys())


@functools.lru_cache(maxsize=4096)
def _names_of_class(cls: Any) -> frozenset[str] | None:
    """The attributes that a class gives its objects; nothing where it makes some up when they are asked for."""
    if cls.__getattribute__ is not object.__getattribute__ or any("__getattr__" in vars(it) for it in cls.__mro__):
        return None
    return frozenset(name for it in cls.__mro__ for name in vars(it))


def _attribute(value: Any, name: str) -> Any:
    """An attribute, without running anything: properties are texts of their own."""
    replaced = _replaced(value).get(name)
    if replaced is not None:
        return replaced
    # NDSL's classes look at who asks.
    own = getattr(value, "__dict__", {})
    return own[name] if name in own else getattr(value, name, _MISSING)


def _replaced(value: Any) -> dict[str, Any]:
    """The methods of an object that `isobar.ndsl` put programs in the place of."""
    found: dict[str, Any] = getattr(value, "__dict__", {}).get("_isobar_methods", {})
    return found


@dataclasses.dataclass
class Given:
    """The arguments of a call, as a walker found them."""

    # By parameter: the name of its field, or of its scalar.
    fields: dict[str, str]
    scalars: dict[str, str]
    dtypes: dict[str, str]
    # Everything else is a constant.
    constants: dict[str, Any]

    def again(self, walker: Walker, values: dict[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The arrays and numbers of another call; nothing where it is one of another kind."""
        if not walker.is_current() or any(values.get(name, _MISSING) is not it for name, it in self.constants.items()):
            return None
        known = {it.name: it for it in walker.arrays}
        arrays = {it.name: it.array for it in walker.arrays if it.role == "argument"}
        for parameter, name in self.fields.items():
            found = _array(values[parameter])
            before = known[name].array
            if found is None or (found[0].shape, found[0].dtype, found[1]) != (before.shape, before.dtype, known[name].axes):
                return None
            arrays[name] = found[0]
        fresh = {self.fields[it] for it in self.fields if arrays[self.fields[it]] is not known[self.fields[it]].array}
        # Callbacks may have been given what the arrays were of, and updaters exchange what their states hold.
        if fresh and (walker.hosts or walker.exchanges):
            return None
        for name in fresh:
            if any(other != name and np.may_share_memory(arrays[name], it) for other, it in arrays.items()):
                return None
        scalars = {}
        for parameter, name in self.scalars.items():
            value = values[parameter]
            if not isinstance(value, _NUMBERS) or _dtype(value) != self.dtypes[parameter]:
                return None
            scalars[name] = value
        return arrays, scalars


def bound(method: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, without the object. Raises `TypeError` where they do not fit."""
    # Not those of the method: the class of its object may have been replaced.
    parameters = _signature(method.__func__).bind(method.__self__, *args, **kwargs)
    parameters.apply_defaults()
    return dict(list(parameters.arguments.items())[1:])


@functools.lru_cache(maxsize=256)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _reached(graph: dict[str, Any]) -> list[str]:
    """The fields that are arguments of the entry, or parts of its arguments."""
    open_, known, fields = list(graph["entry"]["keywords"].values()), set(), set()
    while open_:
        told = open_.pop()
        if isinstance(told, list):
            open_.extend(told)
        elif not isinstance(told, dict):
            continue
        elif "field" in told:
            fields.add(told["field"])
        elif "dict" in told:
            open_.extend(it for _, it in told["dict"])
        elif told.get("object") is not None and told["object"] not in known:
            known.add(told["object"])
            open_.extend(graph["objects"][told["object"]]["attributes"].values())
    return [name for name in graph["fields"] if name in fields]


def _results(wanted: Any, graph: dict[str, Any], walker: Walker) -> list[str]:
    """The names of the fields that a caller reads behind a call."""
    if wanted == "arguments":
        return _reached(graph)
    names: set[str] = set()
    for value in wanted:
        found = _array(value)
        if found is None:
            raise CaptureError(f"a result is an array or a quantity, and no {type(value).__name__}")
        names.update(it.name for it in walker.arrays if np.shares_memory(it.array, found[0]))
    return [name for name in graph["fields"] if name in names]


def walk(
    method: types.MethodType, values: dict[str, Any], frame: tuple[Any, Any], name: str, exchanges_itself: bool = True,
    results: Any = "all",
) -> tuple[dict[str, Any], Walker, Given]:  # fmt: skip
    """The graph of a call of a method; the walker, which has the arrays; and what became of the arguments."""
    walker = Walker(*frame)
    walker.exchanges_itself = exchanges_itself
    function: Any = method.__func__
    given = Given({}, {}, {}, {})
    told: dict[str, Any] = {}
    declared: dict[str, Any] = {}
    for parameter, value in values.items():
        if isinstance(value, _NUMBERS):
            scalar = given.scalars[parameter] = walker.name(parameter)
            given.dtypes[parameter] = _dtype(value)
            declared[scalar] = {"role": "argument", "dtype": _dtype(value)}
            told[parameter] = {"scalar": scalar}
            continue
        told[parameter] = walker.tagged(value, parameter)
        if _array(value) is not None:
            given.fields[parameter] = told[parameter]["field"]
        else:
            given.constants[parameter] = value
    entry = {"function": walker.function(function), "object": walker.object(method.__self__, "self"), "keywords": told}
    objects = walker.finished()
    stencils, texts = walker.stencils_told()
    graph = {
        "isobar_objects": 1, "name": name, "files": {**texts, **walker.texts}, "fields": walker.fields(), "scalars": declared, "stencils": stencils, "plans": walker.plans, "objects": objects,
        "functions": walker.functions, "entry": entry,
    }  # fmt: skip
    if results != "all":
        graph["results"] = _results(results, graph, walker)
    return graph, walker, given


def _dtype(value: Any) -> str:
    """The type of a number: of NumPy's its own, of Python's the widest."""
    if isinstance(value, np.generic):
        return value.dtype.name
    return "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64"

