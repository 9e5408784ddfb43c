"""Stencils of functions, on arrays as callers have them: `python -m unittest discover python/tests`."""

import traceback
import unittest

import isobar
import numpy as np

# A stencil imports nothing that it does not use; GTScript's words are known to the compiler.
G = np.float32(9.5)


def scale(a: "Field[float]", b: "Field[float]", *, w: float):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a[1, 0, 0] * w + G


def sums(a: "Field[float]", o: "Field[float]"):  # noqa: F821
    with computation(FORWARD):  # noqa: F821
        with interval(0, 1):  # noqa: F821
            o = a
        with interval(1, None):  # noqa: F821
            o = o[0, 0, -1] + a


def wrong(a: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        a = missing + 1.0  # noqa: F821


class Runs(unittest.TestCase):
    def setUp(self):
        self.a = np.random.default_rng(1).random((9, 6, 5))

    def test_all_back_ends_compute_in_place(self):
        for backend in ("rayon", "debug", "numpy", "isobar:rayon"):
            b = np.zeros((8, 6, 5))
            isobar.stencil(backend, scale)(self.a, b, w=2.0, domain=(8, 6, 5))
            self.assertTrue(np.array_equal(b, self.a[1:] * 2.0 + 9.5), backend)

    def test_arrays_stay_where_they_are_whatever_their_strides(self):
        made = isobar.stencil("rayon", sums)
        meant = np.cumsum(self.a, axis=2)
        for a in (self.a, np.asfortranarray(self.a), np.repeat(self.a, 2, 0)[::2], self.a.copy()[::-1, ::-1]):
            o = np.zeros((20, 9, 6, 5)).T[::-1].transpose(2, 1, 0, 3)[:, :, :, 3]
            made(a, o)
            self.assertTrue(np.array_equal(o, np.cumsum(a, axis=2)))
        self.assertTrue(np.allclose(o[::-1, ::-1], meant))

    def test_a_bound_call_reads_its_arrays_anew(self):
        o = np.zeros_like(self.a)
        call = isobar.stencil(sums).bind(a=self.a, o=o)
        call.run()
        self.a[:] = 1.0
        call.run()
        self.assertEqual(o[0, 0, 4], 5.0)
        self.assertEqual(call.domain, (9, 6, 5))

    def test_levels_can_be_read(self):
        made = isobar.stencil(sums)
        self.assertIn("stencil sums", made.ir("oir"))
        self.assertTrue(any(it["pass"] == "schedule/weigh-layouts" for it in made.remarks()))


class Refuses(unittest.TestCase):
    def test_an_error_stands_at_the_line_of_the_function(self):
        with self.assertRaises(isobar.StencilError) as caught:
            isobar.stencil(wrong)
        error = caught.exception
        self.assertEqual(error.filename, __file__)
        self.assertEqual(error.text.strip(), "a = missing + 1.0  # noqa: F821")
        self.assertIn("^^^^^^^", "".join(traceback.format_exception_only(error)))

    def test_a_function_without_a_text_says_so(self):
        names = {}
        exec("def s(a: 'Field[float]'):\n    with computation(PARALLEL), interval(...):\n        a = 1.0\n", names)
        with self.assertRaisesRegex(isobar.CaptureError, "source="):
            isobar.stencil(names["s"])

    def test_its_text_can_be_given(self):
        text = "def s(a: 'Field[float]'):\n    with computation(PARALLEL), interval(...):\n        a = 1.0\n"
        names = {}
        exec(text, names)
        a = np.zeros((2, 2, 2))
        isobar.stencil("rayon", names["s"], source=text)(a)
        self.assertTrue((a == 1.0).all())

    def test_calls_that_do_not_fit(self):
        made = isobar.stencil(sums)
        a = np.zeros((4, 4, 4))
        with self.assertRaises(isobar.CallError):
            made(a, np.zeros((4, 4, 3)), domain=(4, 4, 4))
        with self.assertRaises(isobar.CallTypeError):
            made(a, [1.0, 2.0])
        with self.assertRaises(isobar.CallTypeError):
            made(a, a.astype(complex))
        with self.assertRaises(isobar.CallTypeError):
            made(a, a, nobody=3)
        fixed = a.copy()
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "not writeable"):
            made(a, fixed)


if __name__ == "__main__":
    unittest.main()
