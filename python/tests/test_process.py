"""Stencils among threads, in forked processes, pickled, and sent to a runner."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import unittest

import isobar
import numpy as np


def double(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = 2.0 * a


def ends_early(a: "Field[float]", at: "Field[int]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a[0, 0, at]


def makes(factor):
    def scaled(a: "Field[float]", b: "Field[float]"):  # noqa: F821
        with computation(PARALLEL), interval(...):  # noqa: F821
            b = factor * a

    return scaled


class Threads(unittest.TestCase):
    def test_threads_call_one_stencil_at_the_same_time(self):
        made = isobar.stencil("rayon", double, threads=2)
        shared = np.random.default_rng(0).random((40, 30, 20))
        wrong = []

        def calls(seed):
            a = np.random.default_rng(seed).random((40, 30, 20))
            for _ in range(50):
                b = np.zeros_like(a)
                made(a, b)
                if not np.array_equal(b, 2.0 * a):
                    wrong.append(seed)
                made(shared, b)

        threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(6)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        self.assertEqual(wrong, [])

    def test_a_thousand_builds_at_the_same_time_are_one(self):
        before = isobar._memo.counts["built"]
        barrier = threading.Barrier(20)
        found = []

        def build():
            barrier.wait()
            for _ in range(50):
                found.append(isobar.stencil("rayon", makes(7.0), threads=1)._native)

        threads = [threading.Thread(target=build) for _ in range(20)]
        [it.start() for it in threads]
        [it.join() for it in threads]
        self.assertEqual(len(found), 1000)
        self.assertEqual(len({id(it) for it in found}), 1)
        self.assertEqual(isobar._memo.counts["built"], before + 1)


class Processes(unittest.TestCase):
    def test_a_forked_child_calls_what_its_parent_compiled(self):
        made = isobar.stencil("rayon", double, threads=2)
        a = np.random.default_rng(1).random((130, 120, 40))
        b = np.zeros_like(a)
        made(a, b)
        child = os.fork()
        if child == 0:
            # Neither a failure nor a wait that does not end is to reach the test's own machinery.
            try:
                b[:] = 0.0
                made(a, b)
                again = isobar.stencil("rayon", makes(2.0), threads=2)
                again(a, b)
                os._exit(0 if np.array_equal(b, 2.0 * a) else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_openmp_refuses_in_a_forked_child(self):
        if "not here" in isobar.backends()["openmp"]:
            self.skipTest("there is no C compiler")
        made = isobar.stencil("openmp", double, threads=2)
        a = np.ones((4, 4, 4))
        made(a, a.copy())
        child = os.fork()
        if child == 0:
            try:
                made(a, a.copy())
            except isobar.BackendUnavailable:
                os._exit(0)
            finally:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_pickled_stencil_is_the_same(self):
        made = pickle.loads(pickle.dumps(isobar.stencil("rayon", makes(3.0))))
        a, b = np.ones((3, 3, 3)), np.zeros((3, 3, 3))
        made(a, b)
        self.assertTrue((b == 3.0).all())

    def test_a_spawned_process_gets_one(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(_sum_of_doubled, (isobar.stencil("rayon", double),)), 54.0)

    def test_a_first_result_is_there_in_no_time(self):
        # That it is fast is measured elsewhere; here, that nothing is needed that takes long: no GT4Py, no compiler.
        code = (
            "import sys, numpy as np, isobar\n"
            f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
            "from test_process import double\n"
            "a, b = np.ones((4, 4, 4)), np.zeros((4, 4, 4))\n"
            "isobar.stencil(double)(a, b)\n"
            "assert (b == 2.0).all() and 'gt4py' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PATH": ""})


class Ends(unittest.TestCase):
    def test_a_run_that_ends_early_tells_the_line_and_the_cell(self):
        for backend in ("rayon", "debug"):
            at = np.zeros((3, 3, 3), dtype=np.int64)
            at[1, 2, 0] = 9
            with self.assertRaises(isobar.TrapError) as caught:
                isobar.stencil(backend, ends_early)(np.ones((3, 3, 3)), at, np.zeros((3, 3, 3)))
            self.assertEqual(caught.exception.cell, (1, 2, 0))
            self.assertEqual(caught.exception.filename, __file__)
            self.assertIn("b = a[0, 0, at]", caught.exception.__notes__[0])


def _sum_of_doubled(made):
    a, b = np.ones((3, 3, 3)), np.zeros((3, 3, 3))
    made(a, b)
    return float(b.sum())


if __name__ == "__main__":
    unittest.main()
