"""The back end in GT4Py."""

import unittest
import warnings

import numpy as np

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import isobar.gt4py
        from gt4py import storage
        from gt4py.cartesian import gtscript
        from gt4py.cartesian.frontend.exceptions import GTScriptSyntaxError
        from gt4py.cartesian.gtscript import BACKWARD, FORWARD, PARALLEL, Field, computation, interval
    WHY = None
except ImportError as error:
    WHY = f"GT4Py is not there: {error}"

NAMES = ("isobar", "isobar:rayon", "isobar:openmp", "isobar:numpy", "isobar:debug")

if WHY is None:
    Surface = Field[gtscript.IJ, np.float64]

    @gtscript.function
    def flux(q):
        return q[1, 0, 0] - q

    def column(q: Field[float], s: Surface, out: Field[float], *, dt: float):
        from __externals__ import WITH_SURFACE

        with computation(FORWARD):
            with interval(0, 1):
                out = flux(q)
            with interval(1, None):
                out = out[0, 0, -1] + dt * flux(q)
        with computation(BACKWARD), interval(-1, None):
            if __INLINED(WITH_SURFACE):  # noqa: F821
                out = out + s

    def wrong(q: Field[float]):
        with computation(PARALLEL), interval(...):
            q = missing + 1  # noqa: F821


@unittest.skipIf(WHY, WHY or "")
class Plugin(unittest.TestCase):
    def test_all_names_give_the_results_of_gt4py(self):
        rng = np.random.default_rng(3)
        results = {}
        for name in ("numpy", *NAMES):
            rng = np.random.default_rng(3)
            q = storage.from_array(rng.random((13, 9, 7)), backend=name, dtype=float, aligned_index=(0, 0, 0))
            s = storage.from_array(rng.random((13, 9)), backend=name, dtype=float, aligned_index=(0, 0), dimensions="IJ")
            out = storage.zeros((13, 9, 7), backend=name, dtype=float, aligned_index=(0, 0, 0))
            made = gtscript.stencil(backend=name, definition=column, externals={"WITH_SURFACE": True})
            self.assertEqual(made.backend, name)
            made(q, s, out, dt=0.5, domain=(12, 9, 7), origin=(0, 0, 0))
            frozen = made.freeze(origin={"q": (0, 0, 0), "s": (0, 0), "out": (0, 0, 0)}, domain=(12, 9, 7))
            frozen(q=q, s=s, out=out, dt=0.5)
            results[name] = np.array(out)
        for name in NAMES:
            self.assertTrue(np.array_equal(results[name], results["numpy"]), name)

    def test_infos_are_those_of_gt4py(self):
        theirs, ours = (
            gtscript.stencil(backend=name, definition=column, externals={"WITH_SURFACE": True})
            for name in ("numpy", "isobar")
        )
        self.assertEqual(ours.field_info, theirs.field_info)
        self.assertEqual(ours.parameter_info, theirs.parameter_info)
        self.assertEqual(ours.domain_info, theirs.domain_info)

    def test_one_stencil_is_built_once(self):
        one, other = (
            gtscript.stencil(backend="isobar", definition=column, externals={"WITH_SURFACE": False, "unused": it})
            for it in (1, 2)
        )
        self.assertIs(one, other)
        self.assertNotEqual(
            one._gt_id_,
            gtscript.stencil(backend="isobar", definition=column, externals={"WITH_SURFACE": True})._gt_id_,
        )

    def test_lazy_stencils_and_times(self):
        made = gtscript.lazy_stencil(backend="isobar", definition=column, externals={"WITH_SURFACE": False})
        q, s, out = np.ones((4, 4, 4)), np.ones((4, 4)), np.zeros((4, 4, 4))
        exec_info = {"__aggregate_data": True}
        made.implementation(q, s, out, dt=1.0, domain=(3, 4, 4), exec_info=exec_info)
        told = exec_info[type(made.implementation).__name__]
        self.assertEqual(told["ncalls"], 1)
        self.assertLess(told["run_time"], told["call_time"])

    def test_errors_are_those_that_callers_expect(self):
        with self.assertRaises(GTScriptSyntaxError) as caught:
            gtscript.stencil(backend="isobar", definition=wrong)
        self.assertIsInstance(caught.exception, isobar.StencilError)
        self.assertEqual(caught.exception.text.strip(), "q = missing + 1  # noqa: F821")
        made = gtscript.stencil(backend="isobar", definition=column, externals={"WITH_SURFACE": False})
        q, s = np.ones((4, 4, 4)), np.ones((4, 4))
        with self.assertRaises(ValueError):
            made(q, s, np.zeros((2, 4, 4)), dt=1.0, domain=(3, 4, 4))
        with self.assertRaises(TypeError):
            made(q, s, q, dt="fast")
        with self.assertRaises(TypeError):
            made(q, s, np.zeros((4, 4, 4)))


if __name__ == "__main__":
    unittest.main()
