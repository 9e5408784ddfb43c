"""Halo updaters of NDSL as exchanges of a program: what an updater packs for which rank, and where it unpacks.

The plan is read from the updater itself, so that ranks understand each other whether they run programs or NDSL's own
updaters. It is tried on made-up fields beside the updater. Where the two differ, the updater stays a callback.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass
class Updater:
    """What an updater exchanges."""

    # In the order of the plan: of a vector all first components, then all second ones.
    names: list[str]
    quantities: list[Any]
    kind: str
    width: int
    # As a document has it.
    plan: dict[str, Any]
    communicator: Any
    # The object or dictionary that holds the quantities; a change of it is noticed.
    state: Any


class _MadeUp:
    """A field in the place of a quantity, as NDSL's transformers ask for its elements: of `data`, or of itself."""

    def __init__(self, data: np.ndarray, dims: Any):
        self.data, self.dims, self.np = data, dims, np

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value


class _Unlike(Exception):
    """An updater whose plan is not understood."""


def touched(value: Any) -> dict[str, Any] | None:
    """The quantities of a `WrappedHaloUpdater` by name, which are all that its methods touch; nothing for others."""
    if type(value).__name__ != "WrappedHaloUpdater" or type(value).__module__.split(".")[0] != "ndsl":
        return None
    state = value._state
    names = [*(value._qtx_x_names or []), *(value._qtx_y_names or [])]
    try:
        return {it: state[it] if isinstance(state, dict) else getattr(state, it) for it in names}
    except (AttributeError, KeyError, TypeError):
        return None


def read(value: Any) -> Updater | None:
    """The exchange of a `WrappedHaloUpdater`; nothing where it is none that is understood."""
    own = getattr(value, "__dict__", {})
    updater, state, first = own.get("_updater"), own.get("_state"), own.get("_qtx_x_names")
    second = own.get("_qtx_y_names")
    transformers = getattr(updater, "_transformers", None)
    if not isinstance(transformers, dict) or not transformers or not first or state is None:
        return None
    try:
        # Its buffers may have messages in them.
        if getattr(updater, "_inflight_x_quantities", None) is not None:
            return None
        names = [*first, *(second or [])]
        found = touched(value)
        quantities = [found[it] for it in names] if found is not None else []
        plan, width = _plan(updater, transformers, quantities, bool(second))
        communicator = getattr(updater, "_comm").comm
    except (_Unlike, AttributeError, KeyError, TypeError, ValueError, IndexError):
        return None
    return Updater(names, quantities, "vector" if second else "scalar", width, plan, communicator, state)


def read_edges(value: Any) -> Updater | None:
    """The exchange of a `WrappedHaloUpdater` that gives the edges which two ranks share one value; nothing where it is none."""
    own = getattr(value, "__dict__", {})
    first, second, state = (own.get(it) for it in ("_qtx_x_names", "_qtx_y_names", "_state"))
    communicator: Any = own.get("_comm")
    found = touched(value)
    if found is None or not first or not second or len(first) != 1 or len(second) != 1 or not hasattr(communicator, "comm"):
        return None
    names = [first[0], second[0]]
    quantities = [found[it] for it in names]
    try:
        plan = _recorded(communicator, quantities)
    except Exception:
        # NDSL has none for this layout or these fields, or asks a recorder for something else than messages.
        return None
    return Updater(names, quantities, "interface", 1, plan, communicator.comm, state)


class _Recorder:
    """A communicator that sends nothing, and lets numbers arrive that all differ."""

    def __init__(self, comm: Any):
        self.comm, self.sent, self.received, self.tags = comm, [], [], set()  # type: ignore[var-annotated]
        self.n_received = 0

    def __getattr__(self, name: str) -> Any:
        if name not in ("Get_rank", "Get_size"):
            raise _Unlike
        return getattr(self.comm, name)

    def Isend(self, array: Any, dest: int, tag: int = 0) -> _Done:
        self.sent.append((np.array(array), dest))
        self.tags.add(tag)
        return _Done()

    def Irecv(self, array: Any, source: int, tag: int = 0) -> _Done:
        begin = self.n_received
        self.n_received += array.size
        array[...] = -1 - np.arange(begin, self.n_received).reshape(array.shape)
        self.received.append((np.array(array), source))
        self.tags.add(tag)
        return _Done()


class _Done:
    def wait(self) -> None:
        """Nothing is under way."""


def _recorded(communicator: Any, quantities: list[Any]) -> dict[str, Any]:
    """The plan of an exchange of edges, from what it sends and stores on fields whose elements all differ."""
    recorder = _Recorder(communicator.comm)
    through = copy.copy(communicator)
    through.comm = recorder
    fields = [copy.deepcopy(it) for it in quantities]
    arrays = [_elements(it) for it in fields]
    # The number of the first element of each field, and the one behind the last.
    numbers = np.cumsum([1, *(it.size for it in arrays)])
    if numbers[-1] >= 2 ** (np.finfo(arrays[0].dtype).nmant + 1):
        raise _Unlike
    for array, begin in zip(arrays, numbers):
        array[...] = np.arange(begin, begin + array.size).reshape(array.shape)
    through.synchronize_vector_interfaces(*fields)
    now = np.concatenate([it.ravel() for it in arrays])
    # The element in which each number that arrived is stored.
    stored = np.zeros(recorder.n_received, dtype=int)
    changed = np.flatnonzero(now != np.arange(1, numbers[-1]))
    stored[(-1 - now[changed]).astype(int)] = changed + 1
    if changed.size != recorder.n_received or not stored.all() or len(recorder.tags) != 1:
        raise _Unlike
    neighbours: dict[int, dict[str, Any]] = {}
    for kind, messages in (("send", recorder.sent), ("receive", recorder.received)):
        for message, rank in messages:
            own = neighbours.setdefault(int(rank), {"rank": int(rank), "send": [], "receive": []})
            if own[kind]:
                # Two messages to one rank would be one here.
                raise _Unlike
            elements = message if kind == "send" else stored[(-1 - message).astype(int)]
            own[kind].append(_strip(elements, numbers, [it.shape for it in arrays]))
    return {"tag": int(recorder.tags.pop()), "neighbours": list(neighbours.values())}


def _strip(message: np.ndarray, numbers: np.ndarray, shapes: list[Any]) -> dict[str, Any]:
    """The strip that has these elements, by their numbers, in this order."""
    elements = np.abs(message).astype(int)
    field = int(np.searchsorted(numbers, elements.flat[0], side="right")) - 1
    shape = shapes[field]
    index = np.stack(np.unravel_index(elements - numbers[field], shape))
    at_first: Any = (slice(None), *[0] * message.ndim)
    first = index[at_first]
    along = []
    for dimension, n in enumerate(message.shape):
        if n > 1:
            at_next: Any = (slice(None), *[int(it == dimension) for it in range(message.ndim)])
            step = index[at_next] - first
            (axis,) = np.flatnonzero(step)
            along.append([int(axis), int(first[axis]), n, int(step[axis])])
    used = [it[0] for it in along]
    along = [[axis, int(first[axis]), 1, 1] for axis in range(len(shape)) if axis not in used] + along
    strip = {"field": field, "along": along}
    numbered = np.arange(numbers[field], numbers[field + 1]).reshape(shape)
    is_negated = bool(message.flat[0] < 0)
    if any(abs(it[3]) != 1 for it in along) or not np.array_equal(_part(numbered, strip).ravel(), (-message if is_negated else message).ravel()):
        raise _Unlike
    return {**strip, "negated": True} if is_negated else strip


def _plan(updater: Any, transformers: dict[Any, Any], quantities: list[Any], is_vector: bool) -> tuple[dict[str, Any], int]:
    neighbours, widths = [], set()
    n = len(quantities) // 2 if is_vector else len(quantities)
    for rank, transformer in transformers.items():
        infos = [list(transformer._infos_x), list(transformer._infos_y) if is_vector else []]
        if [len(it) for it in infos] != [n, len(quantities) - n]:
            raise _Unlike
        sent, received = [], []
        for at, first in enumerate(infos[0]):
            pair = [(at, first)] + ([(at + n, infos[1][at])] if is_vector else [])
            sent.extend(_sent(pair, quantities))
            for field, info in pair:
                along = [[axis, it.start, len(it), 1] for axis, it in enumerate(_ranges(info.unpack_slices, quantities[field]))]
                received.append({"field": field, "along": along})
                widths.add(int(info.specification.n_points))
        neighbours.append({"rank": int(rank), "send": sent, "receive": received})
        _check(transformer, sent, received, quantities, n, is_vector)
    if len(widths) != 1:
        raise _Unlike
    return {"tag": int(updater._tag), "neighbours": neighbours}, widths.pop()


def _elements(quantity: Any) -> Any:
    """The array of a quantity. Newer ones warn of `data`."""
    data = getattr(quantity, "_data", None)
    return quantity.data if data is None else data


def _ranges(slices: Any, quantity: Any) -> list[range]:
    shape = _elements(quantity).shape
    ranges = [range(*it.indices(size)) for it, size in zip(slices, shape)]
    if len(slices) != len(shape) or any(it.step != 1 or not len(it) for it in ranges):
        raise _Unlike
    return ranges


def _sent(pair: list[tuple[int, Any]], quantities: list[Any]) -> list[dict[str, Any]]:
    """The strips of a field, or of the two components of a vector, turned as the receiver has its axes."""
    turns = -int(pair[0][1].pack_clockwise_rotation) % 4
    strips = [_turned(field, _ranges(info.pack_slices, quantities[field]), quantities[field].dims, turns) for field, info in pair]
    if len(strips) == 1:
        return strips
    # The components of a vector turn as well: which one comes first, and which ones change their sign.
    order, signs = [((0, 1), (1, 1)), ((1, 0), (1, -1)), ((0, 1), (-1, -1)), ((1, 0), (-1, 1))][turns]
    return [{**strips[at], "negated": True} if sign < 0 else strips[at] for at, sign in zip(order, signs)]


def _turned(field: int, ranges: list[range], dims: Any, turns: int) -> dict[str, Any]:
    """A strip, turned clockwise by quarters."""
    along = [[axis, it.start, len(it), 1] for axis, it in enumerate(ranges)]
    letters = [str(it)[:1] for it in dims]
    first, second = ([at for at, it in enumerate(letters) if it in known] for known in ("xi", "yj"))
    backwards = [[axis, start + n - 1, n, -1] for axis, start, n, _ in along]
    if turns == 2:
        for at in [*first, *second]:
            along[at] = backwards[at]
    elif turns and first and second:
        x, y = first[0], second[0]
        along[x], along[y] = (backwards[y], along[x]) if turns == 3 else (along[y], backwards[x])
    elif turns == 1 and first:
        along[first[0]] = backwards[first[0]]
    elif turns == 3 and second:
        along[second[0]] = backwards[second[0]]
    return {"field": field, "along": along}


def _part(array: np.ndarray, strip: dict[str, Any]) -> np.ndarray:
    """The elements of a strip, as views have them."""
    index: list[Any] = [slice(None)] * array.ndim
    for axis, start, n, step in strip["along"]:
        end = start + n * step
        index[axis] = slice(start, None if end < 0 else end, step)
    found: np.ndarray = array[tuple(index)].transpose([it[0] for it in strip["along"]])
    return found


def _check(transformer: Any, sent: Any, received: Any, quantities: list[Any], n: int, is_vector: bool) -> None:
    """Raises where an updater packs or unpacks otherwise than its plan, on fields whose elements all differ."""

    def made_up(begin: int) -> list[Any]:
        fields, at = [], begin
        for it in quantities:
            array = _elements(it)
            data = np.arange(at, at + array.size, dtype=array.dtype).reshape(array.shape)
            fields.append(_MadeUp(data, it.dims))
            at += array.size
        return fields

    def halves(fields: list[Any]) -> tuple[list[Any], list[Any] | None]:
        return fields[:n], fields[n:] if is_vector else None

    fields = made_up(1)
    transformer.async_pack(*halves(fields))
    packed = np.asarray(transformer.get_pack_buffer().array)
    own = [_part(fields[it["field"]].data, it).ravel() * (-1 if it.get("negated") else 1) for it in sent]
    if not np.array_equal(packed.ravel(), np.concatenate(own)):
        raise _Unlike
    arriving = transformer.get_unpack_buffer().array
    arriving[...] = -np.arange(1, arriving.size + 1)
    fields, others = made_up(1), made_up(1)
    transformer.async_unpack(*halves(fields))
    at = 0
    for it in received:
        part = _part(others[it["field"]].data, it)
        part[...] = np.asarray(arriving).ravel()[at : at + part.size].reshape(part.shape)
        at += part.size
    if any(not np.array_equal(one.data, other.data) for one, other in zip(fields, others)):
        raise _Unlike
