"""The back end `cuda` on a real GPU, with arrays of CuPy, PyTorch and JAX. Where one of them is missing, that is said."""

import importlib
import threading
import unittest

import isobar
import numpy as np
from emulated_cuda import LAYOUTS, N, double, ends_early, filled, smooth, solve, typed


def setUpModule():
    told = isobar.backends()["cuda"]
    if told.startswith("not here"):
        raise unittest.SkipTest(f"cuda: {told}")


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"{name} is not there: {error}") from None


def lain(cupy, host):
    """An array of CuPy with the layout of a host array."""
    base = host
    while base.base is not None:
        base = base.base
    memory = cupy.asarray(np.frombuffer(base.tobytes(order="A"), dtype=np.uint8))
    first = memory.data + (host.ctypes.data - base.ctypes.data)
    return cupy.ndarray(host.shape, host.dtype, first, strides=host.strides)


class Cupy(unittest.TestCase):
    def setUp(self):
        self.cupy = library("cupy")

    def test_fields_of_all_layouts_get_the_bits_of_debug(self):
        made, meant = isobar.stencil("cuda", smooth), isobar.stencil("debug", smooth)
        frame = {"origin": (1, 1, 0), "domain": (11, 7, 7)}
        for seed, one in enumerate(LAYOUTS):
            for other in LAYOUTS:
                q, out = filled(one, seed), filled(other, 100 + seed)
                arrays = lain(self.cupy, q), lain(self.cupy, out)
                for weight in (0.25, 0.25, 0.5, 0.5):
                    made(*arrays, w=weight, **frame)
                meant(q, out, w=0.5, **frame)
                for array, host in zip(arrays, (q, out)):
                    self.assertTrue(np.array_equal(array.get(), host), (one, other))

    def test_sweeps_and_surfaces(self):
        made, meant = isobar.stencil("cuda", solve), isobar.stencil("debug", solve)
        for seed, layout in enumerate(LAYOUTS):
            a, q = filled(layout, seed), filled("k contiguous", 50 + seed, (15, 11, 7))
            surface = np.random.default_rng(7).random((9, 13)).T
            arrays = [lain(self.cupy, it) for it in (a, q, surface)]
            frame = {"origin": {"_all_": (0, 0, 0), "q": (2, 1, 0)}, "domain": (12, 9, 7)}
            made(*arrays, **frame)
            meant(a, q, surface, **frame)
            for array, host in zip(arrays, (a, q, surface)):
                self.assertTrue(np.array_equal(array.get(), host), layout)

    def test_all_kinds_of_elements(self):
        a, b = np.zeros((3, 4, 5)), np.arange(60, dtype=np.int32).reshape(3, 4, 5)
        c = b % 3 == 0
        arrays = [self.cupy.asarray(it) for it in (a, b, c)]
        isobar.stencil("cuda", typed)(*arrays)
        self.assertTrue(np.array_equal(arrays[0].get(), np.where(c, 2.0 * b, 0.0)))

    def test_work_on_streams_is_waited_for(self):
        made = isobar.stencil("cuda", double)
        n = (256, 256, 80)
        b = self.cupy.zeros(n)
        for turn in range(20):
            stream = self.cupy.cuda.Stream(non_blocking=True)
            with stream:
                a = self.cupy.zeros(n)
                # Long enough that whoever does not wait reads before.
                for _ in range(50):
                    a += 1.0
                a += turn
                made(a, b)
            self.assertEqual(float(b[0, 0, 0]), 2.0 * (50 + turn))
            self.assertEqual(float(b.min()), float(b.max()))

    def test_storages_lie_as_the_gpu_likes_it(self):
        a = isobar.empty((18, 18, 5), aligned_index=(3, 3, 0), backend="isobar:cuda")
        self.assertIsInstance(a, self.cupy.ndarray)
        self.assertEqual(a.strides[0], 8)
        q, out = isobar.from_array(filled("k contiguous", 1), backend="cuda"), isobar.zeros(N, backend="cuda")
        isobar.stencil("cuda", double)(q, out)
        self.assertTrue(np.array_equal(out.get(), 2.0 * filled("k contiguous", 1)))

    def test_a_run_that_ends_early_tells_the_cell_and_the_next_one_is_right(self):
        at = np.zeros((3, 3, 3), dtype=np.int64)
        at[1, 2, 0] = 9
        arrays = [self.cupy.asarray(it) for it in (np.ones((3, 3, 3)), at, np.zeros((3, 3, 3)))]
        made = isobar.stencil("cuda", ends_early)
        with self.assertRaises(isobar.TrapError) as caught:
            made(*arrays)
        self.assertEqual(caught.exception.cell, (1, 2, 0))
        arrays[1][...] = 0
        made(*arrays)
        self.assertEqual(float(arrays[2].sum()), 27.0)

    def test_arrays_of_the_host_are_refused(self):
        with self.assertRaisesRegex(isobar.WrongDeviceError, "cupy.asarray"):
            isobar.stencil("cuda", double)(np.zeros(N), self.cupy.zeros(N))
        with self.assertRaises(isobar.WrongDeviceError):
            isobar.stencil("rayon", double)(np.zeros(N), self.cupy.zeros(N))

    def test_threads_with_streams_of_their_own_call_one_stencil(self):
        made, wrong = isobar.stencil("cuda", double), []

        def calls(seed):
            try:
                with self.cupy.cuda.Stream(non_blocking=True):
                    a, b = self.cupy.full(N, float(seed)), self.cupy.zeros(N)
                    for turn in range(50):
                        a[...] = seed + turn
                        made(a, b)
                        if not bool((b == 2.0 * (seed + turn)).all()):
                            wrong.append((seed, turn))
            except BaseException as error:  # noqa: BLE001
                wrong.append(error)

        threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(4)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        self.assertEqual(wrong, [])


class Pytorch(unittest.TestCase):
    def test_tensors_are_taken_in_place_on_the_stream_of_pytorch(self):
        torch = library("torch")
        made = isobar.stencil("cuda", double)
        a = torch.zeros(N, dtype=torch.float64, device="cuda")
        b = torch.zeros(N[::-1], dtype=torch.float64, device="cuda").permute(2, 1, 0)
        for turn in range(5):
            a.fill_(float(turn))
            made(a, b)
            self.assertTrue(bool((b == 2.0 * turn).all()))
        with self.assertRaisesRegex(isobar.CallTypeError, "grad"):
            made(a.requires_grad_(), b)


class Jax(unittest.TestCase):
    def test_arrays_are_read_and_never_written(self):
        jax = library("jax")
        jax.config.update("jax_enable_x64", True)
        numpy, cupy = jax.numpy, library("cupy")
        a, b = numpy.full(N, 3.0), cupy.zeros(N)
        made = isobar.stencil("cuda", double)
        made(a, b)
        self.assertEqual(float(b.min()), 6.0)
        with self.assertRaises(isobar.IsobarError):
            made(b, a)
        self.assertEqual(float(a.min()), 3.0)


if __name__ == "__main__":
    unittest.main()
