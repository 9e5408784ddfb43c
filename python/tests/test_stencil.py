"""Stencils of functions, on arrays as callers have them: `python -m unittest discover python/tests`."""

import traceback
import unittest
import warnings
import weakref

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

    def test_a_frozen_call_looks_at_its_arrays_each_time(self):
        made = isobar.stencil(scale)
        frozen = made.freeze(origin=(1, 0, 0), domain=(3, 4, 4))
        self.assertIs(frozen.stencil, made)
        self.assertIsInstance(frozen, isobar.Frozen)
        rng = np.random.default_rng(1)
        a, b = rng.random((6, 4, 4)), np.zeros((6, 4, 4))

        def holds(a, b, w):
            before, meant = b.copy(), b.copy()
            made(a, meant, w=w, origin=(1, 0, 0), domain=(3, 4, 4))
            b[...] = before
            frozen(a, b, w=w)
            self.assertTrue(np.array_equal(b, meant))
            self.assertFalse(np.array_equal(b, before))

        # The same arrays again, others, other strides at the same address, and those of before.
        for w in (2.0, 3.0):
            holds(a, b, w)
        for other in (rng.random((6, 4, 4)), a[::-1], a.transpose(0, 2, 1), np.asfortranarray(a), rng.random((9, 5, 7))):
            holds(other, np.zeros((6, 4, 4)), 2.0)
            holds(a, b, float(rng.random()))
        # In place, so that object and address stay: another shape, and less memory than the call needs.
        for shape in ((4, 6, 4), (3, 8, 4), (2, 4, 12)):
            again = np.zeros((6, 4, 4))
            frozen(a, again, w=2.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                again.shape = shape
            if shape[0] < 4:
                with self.assertRaises(isobar.CallError):
                    frozen(a, again, w=2.0)
            else:
                holds(a, again, 5.0)
        again = np.zeros((6, 4, 4))
        frozen(a, again, w=2.0)
        again.flags.writeable = False
        with self.assertRaisesRegex(isobar.CallError, "not writeable"):
            frozen(a, again, w=2.0)
        for wrong, kind in ((b.astype(np.float32), isobar.CallError), (b[:2], isobar.CallError), ([1.0], isobar.CallTypeError)):
            frozen(a, b, w=2.0)
            with self.assertRaises(kind):
                frozen(a, wrong, w=2.0)
        with self.assertRaises(isobar.MissingArgumentError) as raised:
            frozen(a, b)
        self.assertTrue(raised.exception.__suppress_context__ or raised.exception.__context__ is None)
        with self.assertRaises(isobar.CallTypeError):
            frozen(a, b, w=2.0, nothing=1)
        # It keeps no array alive, and arrays that take the place of freed ones are their own.
        for _ in range(50):
            fresh, out = rng.random((6, 4, 4)), np.zeros((6, 4, 4))
            frozen(fresh, out, w=2.0)
            self.assertTrue(np.array_equal(out[1:4], fresh[2:5] * 2.0 + 9.5))
            gone = weakref.ref(fresh)
            del fresh
            self.assertIsNone(gone())

    def test_numbers_of_numpy_are_told_as_somebody_writes_them(self):
        tenth = np.float32(0.1)

        def scaled(a: "Field[np.float32]", b: "Field[np.float32]", *, w: np.float32 = np.float32(0.3)):  # noqa: F821
            from __externals__ import A  # noqa: F821

            with computation(PARALLEL), interval(...):  # noqa: F821
                b = a * tenth + A + w

        made = isobar.stencil(scaled, externals={"A": np.float32(0.7)})
        self.assertIn("tenth = np.float32(0.1)\n", made.source)
        self.assertEqual(repr(made.externals), repr({"A": np.float32(0.7)}))
        self.assertEqual(repr(made.parameter_info["w"].default), repr(np.float32(0.3)))
        for stage in ("definition", "gtir", "oir", "tree", "schedule", "sdfg", "loops"):
            self.assertIn(" * float32(0.1) + float32(0.7) + w", made.ir(stage), stage)
            self.assertNotRegex(made.ir(stage), r"\dfloat32", stage)
        self.assertIn("w: float32 = 0.3)", made.ir("definition"))
        for special in ("inf", "-inf", "nan"):
            made = isobar.stencil(scaled, externals={"A": np.float32(special)})
            self.assertEqual(repr(made.externals["A"]), repr(np.float32(special)))
            b = np.zeros((2, 2, 2), np.float32)
            made(np.ones_like(b), b, w=0.0)
            self.assertTrue(np.array_equal(b, np.full_like(b, special), equal_nan=True))
        with self.assertRaisesRegex(isobar.CallError, r"0\.1 of type float64"):
            made(np.zeros((2, 2, 2), np.float32), np.zeros((2, 2, 2), np.float32), w=np.float64(0.1))

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
