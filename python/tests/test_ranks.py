"""Ranks as threads, and programs that exchange halos with other ranks as NDSL's updaters do."""

import types
import unittest

import numpy as np

import isobar
from isobar import ranks
from test_program import dace_inhibitor, lap, step

N, HALO = (6, 5, 3), 2
SHAPE = (N[0] + 2 * HALO, N[1] + 2 * HALO, N[2])


class Quantity:
    """NDSL's arrays, as far as updaters look at them."""

    np = np

    def __init__(self, seed):
        self.data, self.dims = np.random.default_rng(seed).random(SHAPE), ("x", "y", "z")

    def __getitem__(self, index):
        return self.data[index]


class Buffer:
    def __init__(self, n):
        self.array = np.zeros(n)


class Transformer:
    """Packs the strips of two fields for one rank, turned by quarters; of a vector the components turn as well."""

    def __init__(self, pack, unpack, turns, is_vector, is_reversed):
        info = types.SimpleNamespace(
            specification=types.SimpleNamespace(n_points=HALO), pack_slices=pack, pack_clockwise_rotation=turns,
            unpack_slices=unpack,
        )  # fmt: skip
        self._infos_x = [info] * (1 if is_vector else 2)
        self._infos_y = [info] * (1 if is_vector else 0)
        self.turns, self.is_vector, self.is_reversed = turns, is_vector, is_reversed
        size = 2 * np.zeros(SHAPE)[pack].size
        self.packed, self.arrived = Buffer(size), Buffer(size)

    def async_pack(self, first, second=None):
        # NDSL asks a quantity for its `data`, and since 2026 the quantity itself.
        parts = [it[self._infos_x[0].pack_slices] for it in [*first, *(second or [])]]
        turns = -self.turns % 4
        if turns in (1, 3):
            parts = [np.rot90(it, axes=(1, 0) if turns == 1 else (0, 1)) for it in parts]
        elif turns == 2:
            parts = [it[::-1, ::-1] for it in parts]
        if self.is_vector:
            x, y = parts
            parts = [[x, y], [y, -x], [-x, -y], [-y, x]][turns]
        packed = np.concatenate([it.ravel() for it in parts])
        self.packed.array[:] = packed[::-1] if self.is_reversed else packed

    def get_pack_buffer(self):
        return self.packed

    def get_unpack_buffer(self):
        return self.arrived

    def async_unpack(self, first, second=None):
        arrived = self.arrived.array[::-1] if self.is_reversed else self.arrived.array
        for it, part in zip([*first, *(second or [])], np.split(arrived, 2)):
            view = it.data[self._infos_x[0].unpack_slices]
            view[...] = part.reshape(view.shape)


class Updater:
    """NDSL's halo updater, between two ranks: the eastern edge to the other one's western halo."""

    _tag = 7

    def __init__(self, comm, turns=0, is_vector=False, is_reversed=False):
        self._comm = types.SimpleNamespace(comm=comm)
        # As many points along both axes, so that a strip may be turned.
        pack, unpack = np.index_exp[N[0] : N[0] + HALO, 3:5, 0:3], np.index_exp[0:HALO, 4:6, 0:3]
        self._transformers = {1 - comm.Get_rank(): Transformer(pack, unpack, turns, is_vector, is_reversed)}

    def start(self, first, second=None):
        comm, self.fields = self._comm.comm, (first, second)
        self.requests = []
        for rank, it in self._transformers.items():
            self.requests.append(comm.Irecv(it.arrived.array, source=rank, tag=self._tag))
            it.async_pack(first, second)
            self.requests.append(comm.Isend(it.packed.array, dest=rank, tag=self._tag))

    def wait(self):
        for it in self.requests:
            it.wait()
        for it in self._transformers.values():
            it.async_unpack(*self.fields)


class WrappedHaloUpdater:
    """NDSL's updater with the fields that it exchanges."""

    __module__ = "ndsl.dsl.dace.wrapped_halo_exchange"

    def __init__(self, updater, state, first, second=None):
        self._updater, self._state, self._qtx_x_names, self._qtx_y_names = updater, state, first, second

    def fields(self, names):
        return None if names is None else [self._state[it] for it in names]

    @dace_inhibitor
    def start(self):
        self._updater.start(self.fields(self._qtx_x_names), self.fields(self._qtx_y_names))

    @dace_inhibitor
    def wait(self):
        self._updater.wait()

    @dace_inhibitor
    def update(self):
        self.start()
        self.wait()

    @dace_inhibitor
    def interface(self):
        self._comm.synchronize_vector_interfaces(*(self._state[it] for it in (*self._qtx_x_names, *self._qtx_y_names)))


class Edges:
    """NDSL's communicator, as far as shared edges go: the western one of a pair becomes the other rank's eastern one."""

    def __init__(self, comm, is_twice=False, adds=0.0):
        self.comm, self.is_twice, self.adds = comm, is_twice, adds

    def synchronize_vector_interfaces(self, first, second):
        other = 1 - self.comm.Get_rank()
        west, east = np.index_exp[HALO, HALO:-HALO], np.index_exp[N[0] + HALO - 1, HALO:-HALO]
        # Faces are turned to each other: backwards, and with the other sign.
        sent = [-second.data[west][::-1] + self.adds, *([first.data[west]] if self.is_twice else [])]
        requests = [self.comm.Isend(np.ascontiguousarray(it), dest=other, tag=1) for it in sent]
        arrived = [np.zeros_like(it) for it in sent]
        requests.extend(self.comm.Irecv(it, source=other, tag=1) for it in arrived)
        for it in requests:
            it.wait()
        for field, it in zip((second, first), arrived):
            field.data[east] = it


class EdgeModel:
    """A step that gives shared edges one value between its stencils."""

    def __init__(self, comm, seed, **how):
        self.q, self.r, self.l = Quantity(seed), Quantity(seed + 10), np.zeros(SHAPE)
        self.lap, self.step = lap, step
        self.pair = WrappedHaloUpdater(None, {"q": self.q, "r": self.r}, ["q"], ["r"])
        self.pair._comm = Edges(comm, **how)

    def __call__(self, a):
        self.lap(self.q, self.l)
        self.pair.interface()
        self.step(self.r, self.l, a)
        self.lap(self.r, self.q)

    def plainly(self, a):
        at = {"domain": N, "origin": (HALO, HALO, 0)}
        lap(self.q.data, self.l, **at)
        self.pair.interface()
        step(self.r.data, self.l, a, **at)
        lap(self.r.data, self.q.data, **at)


class Model:
    """A step that exchanges two fields beside its stencils."""

    def __init__(self, comm, seed, **how):
        self.q, self.r, self.l = Quantity(seed), Quantity(seed + 10), np.zeros(SHAPE)
        self.lap, self.step = lap, step
        names = (["q"], ["r"]) if how.get("is_vector") else (["q", "r"],)
        self.halo = WrappedHaloUpdater(Updater(comm, **how), {"q": self.q, "r": self.r}, *names)

    def __call__(self, a):
        for n in range(2):
            self.halo.start()
            self.lap(self.r, self.l)
            if n == 1:
                self.halo.wait()
            else:
                self.halo.wait()
                self.halo.update()
            self.step(self.q, self.l, a)
            self.lap(self.q, self.r)

    def plainly(self, a):
        """The same, one stencil after the other."""
        at = {"domain": N, "origin": (HALO, HALO, 0)}
        for n in range(2):
            self.halo.start()
            lap(self.r.data, self.l, **at)
            self.halo.wait()
            if n == 0:
                self.halo.update()
            step(self.q.data, self.l, a, **at)
            lap(self.q.data, self.r.data, **at)


class Plain:
    """A communicator that knows nothing of this package."""

    def __init__(self, comm):
        self.comm = comm

    def Get_rank(self):
        return self.comm.Get_rank()

    def Isend(self, sendbuf, dest, tag=0):
        return self.comm.Isend(sendbuf, dest, tag)

    def Irecv(self, recvbuf, source, tag=0):
        return self.comm.Irecv(recvbuf, source, tag)


class Exchanges(unittest.TestCase):
    def held(self, is_program, wrap=lambda it: it, of=Model, **how):
        """Three steps on two ranks; `is_program` says of each whether its step is one program. Answers the texts."""

        def main(comm):
            rank = comm.Get_rank()
            model = of(wrap(comm), rank + 1, **how)
            run = isobar.program(model, domain=N, halo=HALO) if is_program[rank] else model.plainly
            for _ in range(3):
                run(0.1)
            return model.q.data, model.r.data, run.text if is_program[rank] else ""

        expected = ranks.run(2, lambda comm: self.plain(comm, of, how))
        found = ranks.run(2, main)
        for one, other in zip(expected, found):
            self.assertTrue(np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]))
        return [it[2] for it in found]

    @staticmethod
    def plain(comm, of, how):
        model = of(comm, comm.Get_rank() + 1, **how)
        for _ in range(3):
            model.plainly(0.1)
        return model.q.data, model.r.data

    def test_programs_exchange_as_updaters_do(self):
        for is_vector in (False, True):
            for turns in range(4):
                for text in self.held([True, True], turns=turns, is_vector=is_vector):
                    self.assertIn("exchange start", text)
                    self.assertNotIn("host", text)

    def test_a_program_and_an_updater_understand_each_other(self):
        self.held([True, False], turns=1, is_vector=True)
        self.held([False, True])

    def test_a_communicator_of_others_carries_the_messages(self):
        texts = self.held([True, True], Plain, turns=3, is_vector=True)
        self.assertNotIn("host", texts[0])

    def test_an_updater_that_packs_otherwise_stays_a_callback(self):
        for text in self.held([True, True], is_reversed=True):
            self.assertNotIn("exchange", text)
            self.assertIn("exact host", text)

    def test_edges_that_two_ranks_share_are_an_exchange(self):
        for is_program in ([True, True], [True, False], [False, True]):
            for text in filter(None, self.held(is_program, of=EdgeModel)):
                self.assertIn("exchange start interface", text)
                self.assertIn("exchange wait interface", text)
                self.assertNotIn("host", text)
        self.assertNotIn("host", self.held([True, True], Plain, of=EdgeModel)[0])

    def test_edges_that_a_plan_does_not_say_stay_a_callback(self):
        # Two messages to one rank, and a message that is no copy of elements.
        for how in ({"is_twice": True}, {"adds": 0.5}):
            for text in self.held([True, True], of=EdgeModel, **how):
                self.assertIn("exact host", text)
                self.assertNotIn("exchange", text)

    def test_an_exchange_that_never_ends_is_told(self):
        def main(comm):
            model = Model(comm, 1)
            isobar.program(model, domain=N, halo=HALO)(0.1)

        def alone(comm):
            if comm.Get_rank() == 0:
                main(comm)

        with self.assertRaises(isobar.ProgramError) as told:
            ranks.run(2, alone)
        self.assertIn("the exchange of `q`, `r` ended: rank 1 has ended", str(told.exception))

    def test_an_updater_that_is_under_way_stays_a_callback(self):
        def main(comm):
            model = Model(comm, comm.Get_rank())
            model.halo._updater._inflight_x_quantities = (model.q,)
            program = isobar.program(model, domain=N, halo=HALO)
            program(0.1)
            return "exact host" in program.text and "exchange" not in program.text

        self.assertEqual(ranks.run(2, main), [True, True])

    def test_an_updater_exchanges_its_own_field_whatever_a_call_is_given(self):
        class Given(Model):
            def of(self, q, a):
                self.halo.update()
                self.step(q, self.l, a)

        def main(comm, is_program):
            model = Given(comm, comm.Get_rank() + 1)
            model.l[:] = np.random.default_rng(3).random(SHAPE)
            run = isobar.program(model, "of", domain=N, halo=HALO) if is_program else model.of
            if not is_program:
                at = {"domain": N, "origin": (HALO, HALO, 0)}
                model.step = lambda q, l, a: step(q.data, l, a, **at)  # noqa: E741
            other = Quantity(20 + comm.Get_rank())
            for q in (model.q, other, model.q):
                run(q, 0.1)
            return model.q.data, model.r.data, other.data

        for one, other in zip(ranks.run(2, main, True), ranks.run(2, main, False)):
            self.assertTrue(all(np.array_equal(*it) for it in zip(one, other)))

    def test_an_exchange_may_go_on_from_one_call_to_the_next(self):
        class Halves(Model):
            def begin(self, a):
                self.lap(self.q, self.l)
                self.halo.start()

            def end(self, a):
                self.halo.wait()
                self.step(self.q, self.l, a)

        def main(comm):
            model = Halves(comm, comm.Get_rank() + 1)
            begin, end = (isobar.program(model, it, domain=N, halo=HALO) for it in ("begin", "end"))
            for _ in range(2):
                begin(0.1)
                end(0.1)
            plain = Model(comm, comm.Get_rank() + 1)
            at = {"domain": N, "origin": (HALO, HALO, 0)}
            for _ in range(2):
                lap(plain.q.data, plain.l, **at)
                plain.halo.start()
                plain.halo.wait()
                step(plain.q.data, plain.l, 0.1, **at)
            return np.array_equal(model.q.data, plain.q.data) and "exact host" in begin.text

        self.assertEqual(ranks.run(2, main), [True, True])

    def test_a_quantity_that_is_replaced_is_noticed(self):
        def main(comm):
            model, reference = Model(comm, comm.Get_rank()), None
            program = isobar.program(model, domain=N, halo=HALO)
            program(0.1)
            model.halo._state["q"] = model.q = Quantity(5 + comm.Get_rank())
            kept = model.q.data.copy(), model.r.data.copy(), model.l.copy()
            program(0.1)
            found = model.q.data.copy()
            reference = Model(comm, 0)
            reference.q.data[:], reference.r.data[:], reference.l[:] = kept
            reference.plainly(0.1)
            return np.array_equal(found, reference.q.data)

        self.assertEqual(ranks.run(2, main), [True, True])


class Threads(unittest.TestCase):
    def test_what_ranks_tell_each_other_arrives(self):
        def main(comm):
            rank, n = comm.Get_rank(), comm.Get_size()
            self.assertEqual(comm.bcast({"of": rank}, root=1), {"of": 1})
            self.assertEqual(comm.allgather(rank * rank), [it * it for it in range(n)])
            self.assertEqual(comm.gather(rank, root=2), list(range(n)) if rank == 2 else None)
            self.assertEqual(comm.scatter([10, 11, 12, 13] if rank == 0 else None), 10 + rank)
            self.assertEqual((comm.allreduce(rank), comm.allreduce(rank, "MAX")), (6, 3))
            total = np.zeros(2)
            comm.Allreduce(np.array([rank, 1.0]), total)
            self.assertEqual(total.tolist(), [6.0, 4.0])
            all_of_them = np.zeros((n, 2), np.int32) if rank == 0 else None
            comm.Gather(np.full(2, rank, np.int32), all_of_them)
            if rank == 0:
                self.assertEqual(all_of_them.tolist(), [[it, it] for it in range(n)])
            part = comm.Split(rank % 2, -rank)
            self.assertEqual((part.Get_size(), part.allgather(rank)), (2, [rank % 2 + 2, rank % 2]))
            if rank == 0:
                comm.Send(np.arange(3.0), dest=3, tag=4)
            if rank == 3:
                arrived = np.zeros((3, 1))
                comm.Recv(arrived, source=0, tag=4)
                self.assertEqual(arrived.ravel().tolist(), [0.0, 1.0, 2.0])
            comm.Barrier()
            return rank

        self.assertEqual(ranks.run(4, main), [0, 1, 2, 3])

    def test_an_exception_of_a_rank_comes_out_and_the_others_end(self):
        def main(comm):
            if comm.Get_rank() == 1:
                raise KeyError("no such thing")
            comm.Barrier()

        with self.assertRaises(KeyError):
            ranks.run(3, main)

    def test_ranks_that_wait_for_each_other_are_told(self):
        def main(comm):
            comm.Recv(np.zeros(1), source=1 - comm.Get_rank())

        with self.assertRaises(RuntimeError) as told:
            ranks.run(2, main)
        self.assertRegex(str(told.exception), "all ranks wait for each other|has ended")

    def test_messages_come_in_the_order_in_which_they_were_asked_for(self):
        def main(comm):
            if comm.Get_rank() == 0:
                comm.Send(np.zeros(1), dest=1)
                comm.Send(np.ones(1), dest=1)
                return None
            first, second = np.full(1, 9.0), np.full(1, 9.0)
            requests = comm.Irecv(first, source=0), comm.Irecv(second, source=0)
            requests[1].wait()
            requests[0].wait()
            requests[0].wait()
            return first[0], second[0]

        self.assertEqual(ranks.run(2, main)[1], (0.0, 1.0))

    def test_a_message_of_another_size_is_told(self):
        def main(comm):
            if comm.Get_rank() == 0:
                comm.Send(np.zeros(2), dest=1)
            else:
                comm.Recv(np.zeros(3), source=0)

        with self.assertRaises(ValueError) as told:
            ranks.run(2, main)
        self.assertIn("rank 0 sent 2 float64, and 3 float64 are expected", str(told.exception))
        with self.assertRaises(ValueError):
            ranks.run(1, lambda comm: comm.allreduce(1, "XOR"))


if __name__ == "__main__":
    unittest.main()
