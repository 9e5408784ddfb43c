"""The back end in GT4Py."""

import enum
import importlib
import sys
import types
import unittest
import unittest.mock
import warnings

import numpy as np

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import isobar.gt4py
        from gt4py import storage
        from gt4py.cartesian import backend as gt_backend
        from gt4py.cartesian import gtscript
        from gt4py.cartesian.frontend.exceptions import GTScriptSyntaxError
        from gt4py.cartesian.stencil_object import FrozenStencil
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

    def test_a_frozen_stencil_takes_the_short_way(self):
        made = gtscript.stencil(backend="isobar", definition=column, externals={"WITH_SURFACE": True})
        origin = {"q": (0, 0, 0), "s": (0, 0), "out": (0, 0, 0)}
        frozen = made.freeze(origin=origin, domain=(3, 4, 5))
        self.assertIsInstance(frozen, FrozenStencil)
        self.assertEqual((frozen.origin, frozen.domain), (origin, (3, 4, 5)))
        q, s, out = np.ones((4, 4, 5)), np.ones((4, 4)), np.zeros((4, 4, 5))
        with unittest.mock.patch.object(type(made), "run", side_effect=AssertionError):
            frozen(q=q, s=s, out=out, dt=0.5)
            frozen(q=q, s=s, out=out, dt=0.5, exec_info=None, validate_args=False)
        self.assertTrue((out[:3, :, -1] == 1.0).all())
        info = {}
        frozen(q=q, s=s, out=out, dt=0.5, exec_info=info)
        self.assertGreater(info["call_run_end_time"], info["call_run_start_time"])
        with self.assertRaises(ValueError):
            frozen(q=q, s=s, out=out[:1], dt=0.5)
        with self.assertRaises(ValueError):
            made.freeze(origin={"q": (0, 0, 0)}, domain=(3, 4, 5))

    def test_what_gt4py_refuses_as_values_is_refused_so(self):
        def at_itself(q: Field[float]):
            with computation(PARALLEL), interval(...):
                q = (q[gtscript.I - 1] + q[gtscript.I + 1]) / 2

        def through_a_temporary(q: Field[float]):
            with computation(PARALLEL), interval(...):
                t = (q[0, -1, 0] + q[0, 1, 0]) / 2
                q = t * 2

        def at_a_level(q: Field[float]):
            with computation(PARALLEL), interval(...):
                t = q.at(K=1)
                q = 2 * t

        for function in (at_itself, through_a_temporary, at_a_level):
            for name in ("numpy", "isobar"):
                with warnings.catch_warnings(), self.assertRaises(ValueError, msg=f"{function.__name__} {name}") as raised:
                    warnings.simplefilter("ignore")
                    gtscript.stencil(backend=name, definition=function)
            self.assertIsInstance(raised.exception, GTScriptSyntaxError)
            self.assertIsInstance(raised.exception, isobar.StencilError)
        with self.assertRaises(GTScriptSyntaxError) as raised:
            gtscript.stencil(backend="isobar", definition=wrong)
        self.assertNotIsInstance(raised.exception, ValueError)

    def test_dimensions_that_a_storage_names_are_held(self):
        class Named:
            def __init__(self, array, dims):
                self.__array_interface__, self.__gt_dims__, self.array = array.__array_interface__, dims, array

            def __array__(self, *_, **__):
                return self.array

        def surface(out: Surface):
            with computation(FORWARD), interval(...):
                out = 1.0

        for name in ("numpy", "isobar"):
            made = gtscript.stencil(backend=name, definition=surface)
            for dims in (("I", "K"), ("J", "K")):
                with self.assertRaises(ValueError, msg=name):
                    made(Named(np.zeros((3, 3)), dims), domain=(3, 3, 1))
            out = np.zeros((3, 3))
            made(Named(out, ("I", "J")), domain=(3, 3, 1))
            self.assertTrue((out == 1.0).all(), name)

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

    def test_the_gpu_is_asked_for_when_it_is_needed(self):
        of_gpu = gt_backend.from_name("isobar:cuda")
        self.assertEqual((of_gpu.storage_info["device"], of_gpu.storage_info["alignment"]), ("gpu", 32))
        self.assertEqual(of_gpu.storage_info["layout_map"](("I", "J", "K")), (2, 1, 0))
        self.assertEqual(of_gpu.storage_info["layout_map"](("I", "J", "K", "0")), (3, 2, 1, 0))
        is_optimal = of_gpu.storage_info["is_optimal_layout"]
        self.assertTrue(is_optimal(np.zeros((4, 4, 4), order="F"), ("I", "J", "K")))
        self.assertFalse(is_optimal(np.zeros((4, 4, 4)), ("I", "J", "K")))
        self.assertEqual(gt_backend.from_name("isobar").storage_info["device"], "cpu")
        if "not here" not in isobar.backends()["cuda"]:
            self.skipTest("there is a GPU")
        with self.assertRaises(isobar.BackendUnavailable):
            gtscript.stencil(backend="isobar:cuda", definition=column, externals={"WITH_SURFACE": False})

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


@unittest.skipIf(WHY, WHY or "")
class Ndsl(unittest.TestCase):
    """NDSL's list of names, without NDSL."""

    def test_its_names_lead_to_ours(self):
        class BackendFramework(enum.Enum):
            GT = "gt"

        backend = types.ModuleType("ndsl.config.backend")
        backend.BackendFramework = BackendFramework
        backend._NDSL_TO_GT4PY_BACKEND_NAMING = {"st:gt:cpu:KJI": "gt:cpu_ifirst"}
        config = types.ModuleType("ndsl.config")
        config.backend = backend
        modules = {"ndsl": types.ModuleType("ndsl"), "ndsl.dsl": types.ModuleType("ndsl.dsl"), "ndsl.config": config}
        modules["ndsl"].dsl = modules["ndsl.dsl"]
        with unittest.mock.patch.dict(sys.modules, {**modules, "ndsl.config.backend": backend}):
            sys.modules.pop("isobar.ndsl", None)
            self.assertTrue(importlib.import_module("isobar.ndsl").install())
        names = backend._NDSL_TO_GT4PY_BACKEND_NAMING
        self.assertEqual((names["st:isobar:cpu:KJI"], names["st:isobar:gpu:KJI"]), ("isobar", "isobar:cuda"))
        self.assertEqual(names["st:isobar-openmp:cpu:KJI"], "isobar:openmp")
        for name, ours in names.items():
            self.assertEqual(BackendFramework(name.split(":")[1]).value, name.split(":")[1])
            device = gt_backend.from_name(ours).storage_info["device"]
            self.assertEqual(name.split(":")[2], device)


if __name__ == "__main__":
    unittest.main()
