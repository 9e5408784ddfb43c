"""Ranks as threads of one process: a model that is written for several ranks runs without MPI.

    def main(comm):
        model = Model(comm)      # NDSL's communicators take it, where NDSL was imported before
        ...

    isobar.ranks.run(6, main)

Messages are arrays of NumPy in the memory of the process. Programs send theirs without Python.
"""

from __future__ import annotations

import collections
import functools
import operator
import sys
import threading
from typing import Any, Callable

import numpy as np

from . import _native

# Tags of messages between all ranks; those of a model are below.
_COLLECTIVE = 2**31

_Fold = Callable[[Any, Any], Any]


class Request:
    """A message on its way."""

    def __init__(self, act: Callable[[], None] | None = None, before: collections.deque[Request] | None = None):
        self._act = act
        # Those that were asked for of the same rank with the same tag, and have not come, in order.
        self._queue = before
        if before is not None:
            before.append(self)

    def wait(self) -> None:
        """Waits until the message is there, or has left."""
        while self._act is not None:
            # A message belongs to the one that asked for it first.
            it = self if self._queue is None else self._queue.popleft()
            act, it._act = it._act, None
            if act is not None:
                act()

    Wait = wait


class _World:
    """What the ranks of one communicator share."""

    def __init__(self, n: int):
        self.n, self.messages = n, _native.Ranks(n)
        self.lock = threading.Lock()
        self.objects: dict[tuple[int, int], collections.deque[Any]] = collections.defaultdict(collections.deque)
        self.parts: dict[tuple[int, Any], _World] = {}
        self.parents: list[tuple[_World, list[int]]] = []

    def end(self, rank: int) -> None:
        """A rank sends nothing any more, in no part of the communicator either."""
        self.messages.end(rank)
        with self.lock:
            parts = list(self.parts.values())
        for it in parts:
            world_ranks = it.parents[0][1]
            if rank in world_ranks:
                it.end(world_ranks.index(rank))


class Communicator:
    """The ranks as one of them sees them, with the methods that models ask of MPI's."""

    def __init__(self, world: _World, rank: int):
        self._world, self._rank, self._splits = world, rank, 0
        self._asked: dict[tuple[int, int], collections.deque[Request]] = collections.defaultdict(collections.deque)

    @property
    def _isobar_ranks(self) -> tuple[Any, int]:
        """The mailboxes, for the exchanges of programs."""
        return self._world.messages, self._rank

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return self._world.n

    def Isend(self, sendbuf: Any, dest: int, tag: int = 0, **_: Any) -> Request:
        """Sends the elements of an array; they are copied."""
        self._world.messages.send(self._rank, dest, tag, np.ascontiguousarray(sendbuf))
        return Request()

    def Irecv(self, recvbuf: Any, source: int, tag: int = 0, **_: Any) -> Request:
        """Asks for the elements of an array. They are stored when the request is waited for."""

        def receive() -> None:
            arrived = self._world.messages.receive(source, self._rank, tag)
            if (arrived.size, arrived.dtype) != (recvbuf.size, recvbuf.dtype):
                raise ValueError(f"rank {source} sent {arrived.size} {arrived.dtype}, and {recvbuf.size} {recvbuf.dtype} are expected")
            recvbuf[...] = arrived.reshape(recvbuf.shape)

        return Request(receive, self._asked[source, tag])

    def Send(self, sendbuf: Any, dest: int, tag: int = 0, **_: Any) -> None:
        self.Isend(sendbuf, dest, tag).wait()

    def Recv(self, recvbuf: Any, source: int, tag: int = 0, **_: Any) -> None:
        self.Irecv(recvbuf, source, tag).wait()

    def _give(self, to: int, value: Any) -> None:
        """Sends an object of Python's."""
        with self._world.lock:
            self._world.objects[self._rank, to].append(value)
        # It is there when its sign is.
        self._world.messages.send(self._rank, to, _COLLECTIVE, np.zeros(1, np.int8))

    def _take(self, source: int) -> Any:
        self._world.messages.receive(source, self._rank, _COLLECTIVE)
        with self._world.lock:
            return self._world.objects[source, self._rank].popleft()

    def gather(self, sendobj: Any, root: int = 0, **_: Any) -> list[Any] | None:
        self._give(root, sendobj)
        return [self._take(it) for it in range(self._world.n)] if self._rank == root else None

    def bcast(self, value: Any, root: int = 0, **_: Any) -> Any:
        if self._rank == root:
            for it in range(self._world.n):
                self._give(it, value)
        return self._take(root)

    def scatter(self, sendobj: Any, root: int = 0, **_: Any) -> Any:
        if self._rank == root:
            for it, value in enumerate(sendobj):
                self._give(it, value)
        return self._take(root)

    def allgather(self, sendobj: Any) -> list[Any]:
        return list(self.bcast(self.gather(sendobj)))

    def Barrier(self) -> None:
        self.allgather(None)

    barrier = Barrier

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0, **_: Any) -> None:
        found = self.gather(np.array(sendbuf), root)
        if found is not None:
            recvbuf[...] = np.stack(found).reshape(recvbuf.shape)

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0, **_: Any) -> None:
        parts = np.array(sendbuf).reshape(self._world.n, *recvbuf.shape) if self._rank == root else None
        recvbuf[...] = self.scatter(parts, root)

    def allreduce(self, sendobj: Any, op: Any = None) -> Any:
        """The sum over all ranks, or what `op` makes of them: a sum, a product, the least or the greatest."""
        return functools.reduce(_fold(op), self.allgather(sendobj))

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
        recvbuf[...] = self.allreduce(np.array(sendbuf), op)

    def Split(self, color: Any, key: Any = 0) -> Communicator:
        """The ranks with the same color, ordered by their keys."""
        told = self.allgather((color, key))
        self._splits += 1
        ranks = sorted((it for it, (other, _) in enumerate(told) if other == color), key=lambda it: (told[it][1], it))
        with self._world.lock:
            part = self._world.parts.get((self._splits, color))
            if part is None:
                part = self._world.parts[self._splits, color] = _World(len(ranks))
                part.parents.append((self._world, ranks))
        return Communicator(part, ranks.index(self._rank))


def _fold(op: Any) -> _Fold:
    """A reduction, by the name that MPI or NDSL has for it."""
    folds: dict[str, _Fold] = {"SUM": operator.add, "PROD": operator.mul, "MIN": np.minimum, "MAX": np.maximum}
    name = "SUM" if op is None else str(getattr(op, "name", op)).upper().rsplit(".", 1)[-1]
    try:
        return folds[name]
    except KeyError:
        raise ValueError(f"no reduction has the name `{name}`: there are {', '.join(folds)}") from None


def _known_to_ndsl() -> None:
    """NDSL takes communicators of its own class alone."""
    module = sys.modules.get("ndsl.comm.comm_abc")
    if module is not None:
        module.Comm.register(Communicator)


def run(n: int, function: Callable[..., Any], *args: Any) -> list[Any]:
    """Calls a function once for each of `n` ranks, with a communicator and these arguments, each in a thread of its own.

    Answers what the ranks answer, in order. Where ranks raise, the exception of the first one that did comes out.
    """
    _known_to_ndsl()
    world = _World(n)
    answers: list[Any] = [None] * n
    raised: list[BaseException] = []

    def work(rank: int) -> None:
        try:
            answers[rank] = function(Communicator(world, rank), *args)
        except BaseException as error:  # noqa: BLE001
            raised.append(error)
        finally:
            world.end(rank)

    threads = [threading.Thread(target=work, args=(it,), name=f"rank {it}") for it in range(n)]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    if raised:
        raise raised[0]
    return answers
