"""The back end `cuda` on the GPU of `tests/emulation`: `test_cuda.py` runs each of these in a process of its own.

The kernels are those that NVRTC would get, and so are the calls of the driver. Results are held against `debug`, bit by
bit. Device memory can be touched by kernels and by copies that are asked for alone: anything else ends the process.
"""

import ctypes
import gc
import json
import os
import pickle
import sys
import threading
import unittest
import warnings

import emulated_gpu
import isobar
import numpy as np
import test_program
from emulated_gpu import Dlpack, Interface, OnGpu, count, made_stream, n_capsules
from isobar import _config, _native

N = (13, 9, 7)


def smooth(q: "Field[float]", out: "Field[float]", *, w: float):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        out = q + w * (q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q)


def solve(a: "Field[float]", q: "Field[float]", surface: "Field[IJ, float]"):  # noqa: F821
    with computation(FORWARD):  # noqa: F821
        with interval(0, 1):  # noqa: F821
            c = a / (1.0 + a)
            q = (q + surface) / (1.0 + a)
        with interval(1, None):  # noqa: F821
            c = a / (1.0 + a - a * c[0, 0, -1])
            q = (q + a * q[0, 0, -1]) / (1.0 + a - a * c[0, 0, -1])
    with computation(BACKWARD), interval(0, -1):  # noqa: F821
        q = q + c * q[0, 0, 1]


def typed(a: "Field[float]", b: "Field[np.int32]", c: "Field[bool]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        if c:
            a = b * 2


def double(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = 2.0 * a


def twice(q: "Field[float]", o: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        o = q + 1.0
        o = o + q


def shift(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a[1, 0, 0]


def ends_early(a: "Field[float]", at: "Field[int]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a[0, 0, at]


LAYOUTS = {
    "k contiguous": lambda n: np.zeros(n),
    "i contiguous": lambda n: np.zeros(n, order="F"),
    "rows with gaps": lambda n: np.zeros((n[2], n[1], n[0] + 3)).T[1 : n[0] + 1],
    "reversed": lambda n: np.zeros(n)[::-1, ::-1, ::-1],
    "i contiguous, j and k reversed": lambda n: np.zeros(n, order="F")[:, ::-1, ::-1],
    "j contiguous, every second": lambda n: np.zeros((n[0], n[2], 2 * n[1])).transpose(0, 2, 1)[:, ::2],
}


def filled(layout, seed, n=N):
    kept = LAYOUTS[layout](n)
    kept[...] = np.random.default_rng(seed).random(n)
    return kept


def zeros(*shape, gpu=0):
    return OnGpu(np.zeros(shape or N), gpu)


class Programs(unittest.TestCase):
    def test_fields_of_a_program_stay_on_the_gpu_from_call_to_call(self):
        model = test_program.Diffusion()
        frame = {"domain": test_program.DOMAIN, "halo": 3}
        meant, made = isobar.program(model, **frame), isobar.program(model, backend="cuda", **frame)
        copies, graphs = [], []
        for n in (1, 4, 4, 4):
            q, model.l[:] = np.asfortranarray(np.random.default_rng(n).random(test_program.SHAPE)), 0.5
            own, l = q.copy(order="F"), model.l.copy()  # noqa: E741
            meant(q, 0.1, n)
            left, model.l[:] = model.l.copy(), l
            before = [count(it) for it in ("to device", "to host", "graph launches", "launches")]
            made(own, 0.1, n)
            did = [count(it) - known for it, known in zip(("to device", "to host", "graph launches", "launches"), before)]
            copies.append(tuple(did[:2]))
            graphs.append(tuple(did[2:]))
            self.assertTrue(np.array_equal(q, own) and np.array_equal(left, model.l), n)
        # Both fields once in each direction, however many calls there are.
        self.assertEqual(copies[1:], copies[:3])
        self.assertLessEqual(sum(copies[0]), 4)
        # The whole program is one graph from its second run on, which launches no kernel by itself.
        self.assertEqual([it[0] for it in graphs], [0, 0, 1, 1])
        self.assertEqual(graphs[-1], (1, 0))

    def test_halos_copies_and_fills_need_no_copy_to_the_host(self):
        field = {"dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]}
        document = {
            "isobar_program": 1,
            "name": "halos",
            "files": {"main.py": HALO_STENCIL},
            "grid": {"halo": 2},
            "fields": {"q": {"role": "argument", **field}, "l": {"role": "local", **field}},
            "scalars": {"n": {"role": "argument", "dtype": "int64"}},
            "stencils": {"around": {"function": "main.around", "domain": ["I", "J", "K"]}},
            "body": [
                {"fill": "l", "with": 0.5},
                {"for": "it", "range": [0, "n"], "body": [
                    {"exchange": ["q"], "width": 2},
                    {"call": "around", "args": {"q": "q", "l": "l"}},
                    {"swap": ["l", "q"]},
                ]},
                {"copy": "l", "to": "q"},
            ],
        }  # fmt: skip
        document = json.dumps(document)
        for halo in ("periodic", "zero-gradient"):
            made = {it: _native.Program(document, _wanted(it), (9, 8, 4), halo, "{}") for it in ("rayon", "cuda")}
            copies, graphs = [], []
            for n in (1, 5, 5, 5, 5, 5):
                arrays = {it: np.asfortranarray(np.random.default_rng(n).random((13, 12, 4))) for it in made}
                for backend, program in made.items():
                    before = count("to host"), count("graph launches"), count("launches")
                    program.run({"q": arrays[backend]}, {"n": n}, None)
                copies.append(count("to host") - before[0])
                graphs.append((count("graph launches") - before[1], count("launches") - before[2]))
                self.assertTrue(np.array_equal(arrays["rayon"], arrays["cuda"]), (halo, n))
            self.assertEqual(copies, [1] * 6)
            # Copies and fills are in the graph too. The swaps change places with each run.
            self.assertEqual(graphs[-1], (1, 0))


def _wanted(backend):
    return _config.wanted(backend, None, "reproducible", 0)


HALO_STENCIL = """
def around(q: Field[float], l: Field[float]):
    with computation(PARALLEL), interval(...):
        l = q[-2, 0, 0] + q[2, 1, 0] + q[0, -2, 0] - q[1, 2, 0] * l
"""


class Compute(unittest.TestCase):
    def test_fields_of_all_layouts_get_the_bits_of_debug_without_a_copy(self):
        made, meant = isobar.stencil("cuda", smooth), isobar.stencil("debug", smooth)
        frame = {"origin": (1, 1, 0), "domain": (11, 7, 7)}
        for seed, (one, other) in enumerate(zip(LAYOUTS, [*list(LAYOUTS)[1:], *list(LAYOUTS)[:1]])):
            for lend in (Interface, Dlpack, lambda it: Dlpack(it, version=None)):
                q, out = filled(one, seed), filled(other, 100 + seed)
                on_gpu = OnGpu(q), OnGpu(out)
                before = count("to device"), count("to host")
                asked = count("asked for")
                for weight in (0.25, 0.25, 0.25, 0.5, 0.5):
                    made(*map(lend, on_gpu), w=weight, **frame)
                self.assertEqual((count("to device"), count("to host")), before)
                # Addresses are asked for once.
                self.assertEqual(count("asked for"), asked + 2)
                meant(q, out, w=0.5, **frame)
                for array, host in zip(on_gpu, (q, out)):
                    self.assertTrue(np.array_equal(array.get(), host), (one, other))
        # Calls like the one before are graphs.
        self.assertGreaterEqual(count("graph launches"), 3 * len(LAYOUTS))

    def test_sweeps_surfaces_and_origins_of_their_own(self):
        made, meant = isobar.stencil("cuda", solve), isobar.stencil("debug", solve)
        for seed, layout in enumerate(LAYOUTS):
            a, q = filled(layout, seed), filled("k contiguous", 50 + seed, (15, 11, 7))
            surface = np.random.default_rng(7).random((9, 13)).T
            arrays = [OnGpu(it) for it in (a, q, surface)]
            frame = {"origin": {"_all_": (0, 0, 0), "q": (2, 1, 0)}, "domain": (12, 9, 7)}
            made(*map(Interface, arrays), **frame)
            meant(a, q, surface, **frame)
            for array, host in zip(arrays, (a, q, surface)):
                self.assertTrue(np.array_equal(array.get(), host), layout)

    def test_all_kinds_of_elements(self):
        a, b = np.zeros((3, 4, 5)), np.arange(60, dtype=np.int32).reshape(3, 4, 5)
        c = b % 3 == 0
        for lend in (Interface, Dlpack):
            arrays = [OnGpu(it) for it in (a.copy(), b, c)]
            isobar.stencil("cuda", typed)(*map(lend, arrays))
            self.assertTrue(np.array_equal(arrays[0].get(), np.where(c, 2.0 * b, 0.0)))

    def test_strides_may_be_missing_and_origins_of_arrays_are_heeded(self):
        made = isobar.stencil("cuda", double)
        a, b = OnGpu(filled("k contiguous", 3)), zeros()
        made(Interface(a, strides=None), Dlpack(b, has_strides=False))
        self.assertTrue(np.array_equal(b.get(), 2.0 * a.kept))
        lent = Interface(OnGpu(filled("k contiguous", 4).transpose(2, 0, 1).copy()))
        lent.__gt_dims__, lent.__gt_origin__ = ("K", "I", "J"), (0, 2, 1)
        b = zeros()
        made(lent, Interface(b), domain=(5, 5, 7))
        self.assertTrue(np.array_equal(b.get()[:5, :5], 2.0 * filled("k contiguous", 4)[2:7, 1:6]))

    def test_one_array_for_two_fields_is_what_the_text_says_and_parts_of_it_are_refused(self):
        q = OnGpu(filled("k contiguous", 5))
        isobar.stencil("cuda", twice)(Interface(q), Interface(q))
        self.assertTrue(np.array_equal(q.get(), 2.0 * (q.kept + 1.0)))
        whole = np.zeros((9, 4, 4))
        left = OnGpu(whole)
        right = Interface(left, shape=(8, 4, 4), data=(left.address + 128, False))
        with self.assertRaisesRegex(isobar.CallError, "C08"):
            isobar.stencil("cuda", shift)(Interface(left, shape=(8, 4, 4)), right, domain=(7, 4, 4))

    def test_empty_arrays_have_no_address(self):
        lent = Interface(zeros(), shape=(0, 9, 7), strides=None, data=(0, False))
        isobar.stencil("cuda", double)(lent, lent)
        self.assertEqual(count("launches"), 0)

    def test_a_run_that_ends_early_tells_the_cell(self):
        at = np.zeros((3, 3, 3), dtype=np.int64)
        at[1, 2, 0] = 9
        arrays = [OnGpu(it) for it in (np.ones((3, 3, 3)), at, np.zeros((3, 3, 3)))]
        with self.assertRaises(isobar.TrapError) as caught:
            isobar.stencil("cuda", ends_early)(*map(Interface, arrays))
        self.assertEqual(caught.exception.cell, (1, 2, 0))

    def test_frozen_bound_pickled_and_timed_calls(self):
        made = pickle.loads(pickle.dumps(isobar.stencil("isobar:cuda", double)))
        a, b, times = OnGpu(filled("i contiguous", 6)), zeros(), {}
        frozen = made.freeze(origin=(1, 1, 1), domain=(2, 3, 4))
        frozen(Interface(a), Interface(b))
        self.assertEqual(np.count_nonzero(b.get()), 24)
        made(Interface(a), b=Dlpack(b), exec_info=times)
        self.assertEqual(times["domain"], N)
        self.assertTrue(np.array_equal(b.get(), 2.0 * a.kept))

    def test_bound_calls_keep_arrays_and_wait_for_their_streams_each_time(self):
        stream = made_stream()
        a, b = OnGpu(np.zeros(N)), zeros()
        lent = Dlpack(a, stream=stream)
        bound = isobar.stencil("cuda", double).bind(lent, b=Interface(b))
        for value in (1.0, 2.0):
            a.later(stream, np.full(N, value))
            bound.run()
            self.assertEqual(b.get().sum(), 2.0 * value * a.kept.size)
        self.assertEqual(bound.domain, N)
        self.assertEqual(n_capsules(), 0)
        lent.array = zeros()
        with self.assertRaisesRegex(isobar.CallError, "bind it again"):
            bound.run()


class Wait(unittest.TestCase):
    """What still goes on elsewhere is over before a stencil reads it."""

    def setUp(self):
        self.made, self.stream = isobar.stencil("cuda", double), made_stream()
        self.a, self.b = zeros(), zeros()

    def run_on(self, lent, value, stream):
        self.a.later(stream, np.full(N, value))
        self.made(lent, Interface(self.b))
        return self.b.get()[0, 0, 0]

    def test_streams_of_the_interface(self):
        for at, stream in enumerate((self.stream, 1, 2)):
            for again in range(3):
                value = 1.0 + at + 10.0 * again
                self.assertEqual(self.run_on(Interface(self.a, stream=stream), value, stream), 2.0 * value)
        self.assertEqual(count("waits"), 9)

    def test_no_stream_is_nothing_to_wait_for(self):
        # This is what shows that the tests beside it would notice.
        self.assertEqual(self.run_on(Interface(self.a), 1.0, self.stream), 0.0)
        self.assertEqual(count("waits"), 0)

    def test_dlpack_gets_a_stream_of_ours(self):
        for version in ((1, 0), None):
            lent = Dlpack(self.a, version=version, stream=self.stream)
            for value in (3.0, 4.0, 5.0):
                self.assertEqual(self.run_on(lent, value, self.stream), 2.0 * value)
            self.assertGreater(lent.asked[0][0]["stream"], 2)
        # Loans end with the call.
        self.assertEqual(n_capsules(), 0)

    def test_dlpack_is_asked_where_a_dictionary_tells_no_stream(self):
        class Both(Dlpack):
            __cuda_array_interface__ = {"version": 2}

        self.assertEqual(self.run_on(Both(self.a, stream=self.stream), 6.0, self.stream), 12.0)

    def test_a_stream_without_a_name_is_refused(self):
        for wrong in (0, -1, "first"):
            with self.assertRaises((isobar.CallError, isobar.CallTypeError), msg=wrong):
                self.made(Interface(self.a, stream=wrong), Interface(self.b))


class Refuse(unittest.TestCase):
    def setUp(self):
        self.made = isobar.stencil("cuda", double)
        self.a, self.b = zeros(), zeros()

    def refuses(self, lent, words, kind=isobar.CallError):
        with self.assertRaisesRegex(kind, words):
            self.made(Interface(self.a), lent)
        self.assertEqual(count("launches"), 0)

    def test_arrays_of_the_host(self):
        host, told = np.zeros(N), "lies in the memory of the processor.*cupy.asarray"
        without_numpy = (ctypes.c_double * 7 * 9 * 13)()
        of_dlpack = Dlpack(self.b, device=(1, 0))
        for it in (host, np.asfortranarray(host), host.view(np.recarray), memoryview(host), without_numpy, of_dlpack):
            self.refuses(it, told, isobar.WrongDeviceError)
        elsewhere = Dlpack(self.b, device=(10, 3))
        self.refuses(elsewhere, "another device .number 3 of DLPack's kind 10", isobar.WrongDeviceError)
        self.refuses([1.0], "which is no array", isobar.CallTypeError)

    def test_arrays_of_a_gpu_on_the_host(self):
        for lent in (Interface(self.b), Dlpack(self.b)):
            with self.assertRaisesRegex(isobar.WrongDeviceError, "lies on a GPU.*get"):
                isobar.stencil("rayon", double)(np.zeros(N), lent)

    def test_arrays_of_another_gpu(self):
        other = zeros(gpu=1)
        for lent in (Interface(other), Dlpack(other)):
            self.refuses(lent, "lies on GPU 1.*GPU 0.*CUDA_VISIBLE_DEVICES", isobar.WrongDeviceError)

    def test_arrays_that_may_only_be_read(self):
        fixed = Interface(self.b, data=(self.b.first, True)), Dlpack(self.b, flags=1)
        for lent in fixed:
            self.refuses(lent, "not writeable")
        for value, lent in enumerate(fixed):
            self.b.later(None, np.full(N, float(value)))
            self.b.get()
            self.made(lent, Interface(self.a))
            self.assertEqual(self.a.get()[1, 1, 1], 2.0 * value)

    def test_arrays_of_jax_are_never_written(self):
        # They say that they may be.
        of_jax = type("ArrayImpl", (Interface,), {"__module__": "jaxlib._jax"})
        self.refuses(of_jax(self.b), "not writeable")
        self.made(of_jax(self.b), Interface(self.a))

    def test_memory_that_is_not_there(self):
        self.refuses(Interface(self.b, data=(0, False)), "its address is 0")
        gone = Interface(self.b, data=(self.b.address, False))
        self.b.free()
        self.refuses(gone, "the driver knows no memory at the address of `b`: it was freed")

    def test_elements_that_no_field_has(self):
        self.refuses(Interface(self.b, data=(self.b.address + 4, False), shape=(1, 1, 1), strides=None), "not aligned")
        self.refuses(Interface(self.b, strides=(504, 56, 4)), "4 bytes apart")
        self.refuses(Interface(self.b, typestr=">f8"), "f8, which no field has", isobar.CallTypeError)
        self.refuses(Interface(self.b, typestr="<c16"), "c16, which no field has", isobar.CallTypeError)
        self.refuses(Dlpack(self.b, code=4), "no field has", isobar.CallTypeError)
        self.refuses(Interface(self.b, typestr="<f4", strides=None), "float64")
        self.refuses(Interface(self.b, shape=(13, 9), strides=None), "dimension")

    def test_dictionaries_and_capsules_that_say_too_little_or_too_much(self):
        for words, changed in {
            "has no `shape`": {"shape": ...},
            "has no `typestr`": {"typestr": ...},
            "short `typestr`": {"typestr": "f"},
            "no address": {"data": 7},
            "more strides than sizes": {"strides": (8,)},
            "has a mask": {"mask": object()},
        }.items():
            self.refuses(Interface(self.b, **changed), words, isobar.CallTypeError)

        class Withheld:
            @property
            def __cuda_array_interface__(self):
                raise RuntimeError("it needs a gradient")

        self.refuses(Withheld(), "does not hand over its memory: it needs a gradient", isobar.CallTypeError)
        self.refuses(Dlpack(self.b, flags=2), "a copy", isobar.CallTypeError)
        self.refuses(Dlpack(self.b, version=(2, 0)), "its version is 2", isobar.CallTypeError)
        self.assertEqual(n_capsules(), 0)


class Libraries(unittest.TestCase):
    """What others make of it."""

    def test_storages_are_cupys(self):
        sys.modules["cupy"] = None
        with self.assertRaisesRegex(isobar.BackendUnavailable, "made by CuPy, which is not there"):
            isobar.zeros(N, backend="cuda")
        sys.modules["cupy"] = emulated_gpu.cupy()
        a = isobar.empty((18, 18, 5), aligned_index=(3, 3, 0), backend="isobar:cuda")
        self.assertEqual(a.strides[0], 8)
        self.assertEqual((a.strides[1] % 128, a.strides[2]), (0, 18 * a.strides[1]))
        self.assertEqual((a.array.first + 3 * a.strides[0] + 3 * a.strides[1]) % 128, 0)
        q, out = isobar.from_array(filled("k contiguous", 1), backend="cuda"), isobar.zeros(N, backend="cuda")
        self.assertEqual(out.get().sum(), 0.0)
        isobar.stencil("cuda", double)(q, out)
        self.assertTrue(np.array_equal(out.get(), 2.0 * filled("k contiguous", 1)))

    def test_gt4py_calls_it_on_arrays_of_the_gpu(self):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import isobar.gt4py
                from gt4py.cartesian import gtscript
                from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
        except ImportError as error:
            self.skipTest(f"GT4Py is not there: {error}")

        def scaled(q: Field[float], out: Field[float], *, w: float):
            with computation(PARALLEL), interval(...):
                out = w * q[1, 0, 0]

        made = gtscript.stencil(backend="isobar:cuda", definition=scaled)
        q, out = OnGpu(filled("i contiguous", 2)), zeros()
        made(Interface(q), Dlpack(out), w=3.0, domain=(12, 9, 7), origin=(0, 0, 0))
        self.assertTrue(np.array_equal(out.get()[:12], 3.0 * q.kept[1:]))
        with self.assertRaisesRegex(isobar.WrongDeviceError, "cupy.asarray"):
            made(np.zeros(N), Dlpack(out), w=3.0, domain=(12, 9, 7))


class Last(unittest.TestCase):
    """Whose is what, and for how long."""

    def test_threads_call_one_stencil_at_the_same_time(self):
        made, wrong = isobar.stencil("cuda", double), []
        shared = Interface(OnGpu(filled("k contiguous", 9)))

        def calls(seed):
            try:
                a, b, both = OnGpu(filled("i contiguous", seed)), zeros(), zeros()
                stream = made_stream()
                for turn in range(20):
                    a.later(stream, np.full(N, float(seed + turn)))
                    lend = (Interface(a, stream=stream), Dlpack(a, stream=stream))[turn % 2]
                    made(lend, Interface(b))
                    made(shared, Interface(both))
                    if not (b.get() == 2.0 * (seed + turn)).all() or not (both.get() == 2.0 * shared.array.kept).all():
                        wrong.append((seed, turn))
            except BaseException as error:  # noqa: BLE001
                wrong.append(error)

        threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        self.assertEqual(wrong, [])

    def test_a_thread_stays_on_the_gpu_that_it_uses(self):
        a, b = zeros(), zeros()
        lent = Interface(a, stream=made_stream()), Dlpack(b)
        emulated_gpu.use(1)
        other = emulated_gpu.current()

        def refused():
            with self.assertRaises(isobar.WrongDeviceError):
                made(np.zeros(N), lent[1])

        def dropped():
            nonlocal made, bound
            del made, bound
            gc.collect()

        made = isobar.stencil("cuda", solve)
        surface = Interface(zeros(13, 9))
        emulated_gpu.use(1)
        bound = made.bind(*lent, surface)
        for act in (lambda: made(*lent, surface), lambda: bound.run(), isobar.backends, refused, dropped):
            act()
            self.assertEqual(emulated_gpu.current(), other)

    def test_a_process_without_a_context_gets_none(self):
        emulated_gpu.driver()
        emulated_gpu.did(emulated_gpu._DRIVER.cuCtxSetCurrent(None))
        isobar.stencil("cuda", double)
        self.assertIsNone(emulated_gpu.current())

    def test_nothing_is_left_behind_a_stencil(self):
        kinds = ("memory", "events", "modules", "graphs")
        a, q, surface = zeros(), OnGpu(filled("i contiguous", 3)), zeros(13, 9)
        before = {it: count(it) for it in kinds}
        made = isobar.stencil("cuda", solve)
        for _ in range(3):
            made(Interface(a), Dlpack(q), Interface(surface))
        bound = made.bind(Interface(a), Interface(q), Interface(surface))
        bound.run()
        during = {it: count(it) for it in kinds}
        for it in ("events", "modules", "graphs"):
            self.assertGreater(during[it], before[it])
        del made, bound
        gc.collect()
        self.assertEqual({it: count(it) for it in kinds}, before)
        [it.free() for it in (a, q, surface)]
        self.assertEqual(count("memory"), before["memory"] - 3)

    def test_what_is_freed_under_a_known_call_is_an_error_and_no_crash(self):
        made, a, b = isobar.stencil("cuda", double), zeros(), zeros()
        lent = Interface(a, data=(a.first, False))
        made(lent, Interface(b))
        a.free()
        for _ in range(2):
            with self.assertRaisesRegex(isobar.BackendUnavailable, "the GPU was lost"):
                made(lent, Interface(b))

    def test_a_forked_child_is_refused(self):
        made, a, b = isobar.stencil("cuda", double), zeros(), zeros()
        made(Interface(a), Interface(b))
        child = os.fork()
        if child == 0:
            try:
                made(Interface(a), Interface(b))
            except isobar.BackendUnavailable as error:
                os._exit(0 if "forked" in str(error) else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_what_there_is_is_told(self):
        self.assertRegex(isobar.backends()["cuda"], "^emulated .sm_99., NVRTC 12.9")


if __name__ == "__main__":
    emulated_gpu.driver()
    unittest.main()
