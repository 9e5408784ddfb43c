"""Arrays as callers have them: whose memory it is, how it lies, and what is refused."""

import array
import ctypes
import dataclasses
import enum
import gc
import types
import unittest
import weakref

import isobar
import numpy as np

CONSTANTS = types.ModuleType("constants_of_a_test")
CONSTANTS.GRAV = 9.5
CONSTANTS.__file__ = __file__


class Kind(enum.IntEnum):
    HALF = 1
    WHOLE = 2


def add_one(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a + 1.0


def scale(a: "Field[float]", b: "Field[float]", *, w: float):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = w * a


def in_place(a: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        a = a + CONSTANTS.GRAV


def shift(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = a[1, 0, 0]


def typed(a: "Field[float]", b: "Field[np.int32]", c: "Field[bool]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        if c:
            a = b


def makes_function(factor):
    def times(x):
        return factor * x

    return times


class Lent:
    """An object of somebody else's that has an array."""

    def __init__(self, it, origin=None):
        self.it = it
        if origin is not None:
            self.__gt_origin__ = origin

    @property
    def __array_interface__(self):
        return self.it.__array_interface__


class OfDlpack:
    def __init__(self, it, device=1):
        self.it, self.device = it, device

    def __dlpack__(self, **options):
        return self.it.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)


class OnGpu:
    __cuda_array_interface__ = {"shape": (2, 2, 2), "typestr": "<f8", "data": (0, False), "version": 3}


class Lie(unittest.TestCase):
    def test_objects_with_protocols_are_their_memory(self):
        made = isobar.stencil("rayon", add_one)
        a = np.random.default_rng(0).random((4, 3, 2))

        class Own(np.ndarray):
            pass

        for wrap in (Lent, OfDlpack, memoryview, lambda it: it.view(Own)):
            b = np.zeros_like(a)
            made(wrap(a), wrap(b))
            self.assertTrue(np.array_equal(b, a + 1.0))

    def test_memory_without_numpy_is_taken(self):
        flat = array.array("d", [0.0] * 24)
        b = memoryview(flat).cast("B").cast("d", (4, 3, 2))
        isobar.stencil("rayon", add_one)(np.ones((4, 3, 2)), b)
        self.assertEqual(list(flat), [2.0] * 24)
        ours = (ctypes.c_double * 2 * 3 * 4)()
        isobar.stencil("rayon", add_one)(np.ones((4, 3, 2)), ours)
        self.assertEqual(ours[3][2][1], 2.0)

    def test_origins_of_arrays_are_heeded_where_a_call_has_none(self):
        made = isobar.stencil("rayon", add_one)
        a, b = np.zeros((4, 4, 4)), np.zeros((4, 4, 4))
        made(Lent(a, (1, 1, 0)), Lent(b, (1, 1, 0)), domain=(2, 2, 4))
        self.assertEqual((b.sum(), b[1:3, 1:3].sum()), (16.0, 16.0))
        b[:] = 0.0
        made(Lent(a, (1, 1, 0)), Lent(b, (1, 1, 0)), domain=(2, 2, 4), origin=(2, 2, 0))
        self.assertEqual(b[2:, 2:].sum(), 16.0)

    def test_nothing_is_copied_and_nothing_kept(self):
        made = isobar.stencil("rayon", add_one)
        a, b = np.ones((3, 3, 3)), np.zeros((3, 3, 3))
        made(a, b)
        gone = [weakref.ref(a), weakref.ref(b)]
        address = b.ctypes.data
        bound = made.bind(a, b)
        del a, b
        gc.collect()
        # A bound call keeps its arrays, so that nobody frees what it writes.
        self.assertEqual(gone[1]().ctypes.data, address)
        bound.run()
        del bound
        gc.collect()
        self.assertEqual([it() for it in gone], [None, None])

    def test_all_types_of_elements(self):
        a, b, c = np.zeros((2, 2, 2)), np.full((2, 2, 2), 7, dtype=np.int32), np.ones((2, 2, 2), dtype=bool)
        isobar.stencil("rayon", typed)(a, b, c)
        self.assertTrue((a == 7.0).all())

    def test_storages_lie_as_code_likes_them(self):
        it = isobar.zeros((18, 18, 5), aligned_index=(3, 3, 0))
        self.assertEqual(it.strides[0], 8)
        self.assertEqual(it[3:, 3:].ctypes.data % 64, 0)
        self.assertEqual(it.strides[1] % 64, 0)
        copy = isobar.from_array(np.arange(6).reshape(2, 3), dimensions=("I", "K"))
        self.assertTrue(np.array_equal(copy, [[0, 1, 2], [3, 4, 5]]))
        with self.assertRaises(isobar.CallError):
            isobar.empty((2, -1))


class Refuse(unittest.TestCase):
    def setUp(self):
        self.made = isobar.stencil("rayon", add_one)
        self.a = np.ones((4, 4, 4))

    def test_arrays_of_devices(self):
        for it in (OnGpu(), OfDlpack(self.a, device=2)):
            with self.assertRaisesRegex(isobar.CallTypeError, "nothing is copied unasked"):
                self.made(self.a, it)

    def test_a_misspelt_keyword_is_told_with_the_one_that_was_meant(self):
        for meant in ("origin", "domain"):
            written = meant[:-1]
            with self.assertRaisesRegex(TypeError, f"`{written}`; did you mean `{meant}`"):
                self.made(self.a, self.a, **{written: (0, 0, 0)})

    def test_masks_and_what_others_wrap_arrays_in(self):
        masked = np.ma.masked_array(self.a, mask=self.a > 2.0)
        for it in (masked, np.ma.masked_array(self.a)):
            with self.assertRaisesRegex(isobar.CallTypeError, r"`a\.data`.*`a\.filled\(value\)`"):
                self.made(it, self.a)
        b = np.zeros_like(self.a)
        self.made(masked.data, b)
        self.assertTrue((b == 2.0).all())
        for package, remedy in (("pandas", "to_numpy()"), ("xarray", "values"), ("dask", "compute()")):
            wrapped = type("Wrapped", (), {"__module__": f"{package}.core", "__array_interface__": {}})()
            with self.assertRaises(isobar.CallTypeError) as raised:
                self.made(wrapped, b)
            self.assertIn(f"pass `a.{remedy}`", str(raised.exception))
            # What is made for the call alone would take the results with it.
            with self.assertRaises(isobar.CallTypeError) as raised:
                self.made(self.a, wrapped)
            self.assertIn(f"`array = b.{remedy}`", str(raised.exception))
            self.assertIn("pass `array`, and read there", str(raised.exception))
            self.assertEqual("`transpose(...)`" in str(raised.exception).replace("b.", ""), package == "xarray")
        many = type("Dataset", (), {"__module__": "xarray.core.dataset"})()
        with self.assertRaisesRegex(isobar.CallTypeError, r'a Dataset of xarray.*`a\["NAME"\]\.values`'):
            self.made(many, b)
        for it in ([[[1.0]]], [self.a], masked.tolist()):
            with self.assertRaisesRegex(isobar.CallTypeError, "`a` is a field, and was given a list"):
                self.made(it, b)

    def test_a_scalar_is_a_number_that_somebody_can_see(self):
        b, scaled = np.zeros_like(self.a), isobar.stencil(scale)
        for fine in (3.0, 3, np.float64(3.0), np.array(3.0), np.ma.masked_array([3.0])[0]):
            scaled(self.a, b, w=fine)
            self.assertTrue((b == 3.0 * self.a).all())
        b[:] = 7.0
        hidden = np.ma.masked_array(5.0, mask=True)
        wrong = (
            (np.ma.masked, "has no value"),
            (np.ma.masked_array([1.0, 2.0], mask=[True, False])[0], "has no value"),
            (hidden, r"`w\.data`.*`w\.filled\(value\)`"),
            (np.ma.masked_array(5.0), "masked array"),
            ([1.0], "is a scalar, and was given a list"),
            ([np.ma.masked], "is a scalar, and was given a list"),
            (np.array([1.0]), "is a scalar, and was given a ndarray"),
            (type("Array", (), {"__module__": "dask.array.core", "ndim": 0, "dtype": np.dtype(float)})(), r"`w\.compute\(\)`"),
        )
        for value, why in wrong:
            for call in (scaled, scaled.freeze(), lambda *them, **named: scaled.bind(*them, **named)()):
                with self.assertRaisesRegex(isobar.CallTypeError, why):
                    call(self.a, b, w=value)
        self.assertTrue((b == 7.0).all())

    def test_dimensions_that_an_array_names_are_those_of_the_field(self):
        def surface(a: "Field[IJ, float]"):  # noqa: F821
            with computation(FORWARD), interval(...):  # noqa: F821
                a = 1.0

        made = isobar.stencil(surface)
        lent = Lent(np.zeros((3, 4)))
        for dims in (("I", "K"), ("K", "J"), ("J",), ("I", "J", "K")):
            lent.__gt_dims__ = dims
            with self.assertRaisesRegex(isobar.CallError, f"has the axes IJ, and .* dimensions are {', '.join(dims)}"):
                made(lent)
        self.assertTrue((lent.it == 0.0).all())
        for dims in (("I", "J"), ("J", "I"), ("x", "y"), None):
            lent.__gt_dims__, lent.it = dims, np.zeros((3, 4))
            made(lent)
            self.assertTrue((lent.it == 1.0).all())

    def test_elements_that_are_not_aligned_or_not_native(self):
        raw = np.zeros(8 * 64 + 4, dtype=np.uint8)
        off = np.ndarray((4, 4, 4), dtype=float, buffer=raw, offset=4)
        with self.assertRaisesRegex(isobar.CallError, "aligned"):
            self.made(self.a, off)
        with self.assertRaisesRegex(isobar.CallTypeError, "type"):
            self.made(self.a, self.a.astype(">f8"))
        apart = np.zeros((4, 4, 4), dtype=[("x", "f8"), ("y", "i4")])["x"]
        with self.assertRaisesRegex(isobar.CallError, "apart"):
            self.made(self.a, apart)

    def test_other_types_and_ranks_after_a_call_that_fits(self):
        b = np.zeros_like(self.a)
        self.made(self.a, b)
        with self.assertRaises(isobar.CallError):
            self.made(self.a, b.astype(np.float32))
        with self.assertRaises(isobar.CallError):
            self.made(self.a, b[0])
        b.flags.writeable = False
        with self.assertRaisesRegex(isobar.CallError, "not writeable"):
            self.made(self.a, b)
        self.a.flags.writeable = False
        self.made(self.a, np.zeros_like(self.a))

    def test_one_array_for_two_is_what_the_text_says_and_parts_of_it_are_refused(self):
        whole = np.random.default_rng(1).random((9, 4, 4))
        meant = whole + 1.0
        self.made(whole, whole)
        self.assertTrue(np.array_equal(whole, meant))
        with self.assertRaises(isobar.CallError):
            isobar.stencil("rayon", shift)(whole[:8], whole[1:], domain=(7, 4, 4))

    def test_the_call(self):
        with self.assertRaises(isobar.CallTypeError):
            self.made(self.a, self.a, self.a)
        with self.assertRaises(isobar.CallTypeError):
            self.made(self.a, a=self.a)
        with self.assertRaises(isobar.MissingArgumentError):
            self.made(self.a)
        with self.assertRaises(isobar.CallError):
            self.made(self.a, np.zeros_like(self.a), domain=(1, 2))
        with self.assertRaises(isobar.CallTypeError):
            self.made(self.a, np.zeros_like(self.a), domain="all")
        with self.assertRaises(isobar.CallError):
            self.made(self.a, np.zeros_like(self.a), domain=(9, 9, 9))
        with self.assertRaises(isobar.CallTypeError):
            self.made(self.a, np.zeros_like(self.a), origin={"c": (0, 0, 0)})


class See(unittest.TestCase):
    """What a function sees is what it means."""

    def test_a_constant_of_a_module_that_changes_is_noticed(self):
        a = np.zeros((2, 2, 2))
        isobar.stencil("rayon", in_place)(a)
        CONSTANTS.GRAV = 1.5
        try:
            isobar.stencil("rayon", in_place)(a)
        finally:
            CONSTANTS.GRAV = 9.5
        self.assertTrue((a == 11.0).all())

    def test_functions_of_one_maker_are_two(self):
        double, triple = makes_function(2.0), makes_function(3.0)

        def both(a: "Field[float]", b: "Field[float]"):  # noqa: F821
            with computation(PARALLEL), interval(...):  # noqa: F821
                b = double(a) + triple(a)

        a, b = np.ones((2, 2, 2)), np.zeros((2, 2, 2))
        isobar.stencil("rayon", both)(a, b)
        self.assertTrue((b == 5.0).all())

    def test_externals_of_all_kinds(self):
        def scaled(a: "Field[float]", b: "Field[float]"):  # noqa: F821
            from __externals__ import HOW, OFFSETS, scale

            with computation(PARALLEL), interval(...):  # noqa: F821
                if __INLINED(HOW == Kind.WHOLE):  # noqa: F821
                    b = scale(a) + OFFSETS.up
                else:
                    b = 0.5 * a

        externals = {"HOW": Kind.WHOLE, "scale": makes_function(4.0), "OFFSETS": types.SimpleNamespace(up=0.25)}
        a, b = np.ones((2, 2, 2)), np.zeros((2, 2, 2))
        isobar.stencil("rayon", scaled, externals=externals)(a, b)
        self.assertTrue((b == 4.25).all())
        isobar.stencil("rayon", scaled, externals={**externals, "HOW": Kind.HALF})(a, b)
        self.assertTrue((b == 0.5).all())

    def test_attributes_of_objects_have_the_values_of_the_time_of_definition(self):
        @dataclasses.dataclass
        class Physics:
            rate: float = 2.0
            inner: types.SimpleNamespace = dataclasses.field(default_factory=lambda: types.SimpleNamespace(up=0.5))

        class Config:
            damp = 0.25

        class Model:
            def __init__(self):
                self.rate = 3.0
                physics = Physics()

                def read(a: "Field[float]", b: "Field[float]"):  # noqa: F821
                    with computation(PARALLEL), interval(...):  # noqa: F821
                        b = a * self.rate + physics.rate + physics.inner.up + Config.damp

                def given(a: "Field[float]", b: "Field[float]"):  # noqa: F821
                    from __externals__ import model

                    with computation(PARALLEL), interval(...):  # noqa: F821
                        b = a * model.rate

                self.read, self.given = read, given

        model, a, b = Model(), np.ones((2, 2, 2)), np.zeros((2, 2, 2))
        first = isobar.stencil("rayon", model.read)
        given = isobar.stencil("rayon", model.given, externals={"model": model})
        # What changes later is another stencil's.
        model.rate = 10.0
        first(a, b)
        self.assertTrue((b == 5.75).all())
        given(a, b)
        self.assertTrue((b == 3.0).all())
        isobar.stencil("rayon", model.read)(a, b)
        self.assertTrue((b == 12.75).all())
        isobar.stencil("rayon", model.given, externals={"model": model})(a, b)
        self.assertTrue((b == 10.0).all())

    def test_an_object_that_is_an_external_and_changes_is_noticed(self):
        @dataclasses.dataclass
        class Config:
            rate: float = 2.0

        def scaled(a: "Field[float]", b: "Field[float]"):  # noqa: F821
            from __externals__ import config

            with computation(PARALLEL), interval(...):  # noqa: F821
                b = a * config.rate

        config, a, b = Config(), np.ones((2, 2, 2)), np.zeros((2, 2, 2))
        isobar.stencil("rayon", scaled, externals={"config": config})(a, b)
        config.rate = 5.0
        isobar.stencil("rayon", scaled, externals={"config": config})(a, b)
        self.assertTrue((b == 5.0).all())

    def test_a_lambda_and_a_builtin_are_refused(self):
        for it in (lambda a: a, len):
            with self.assertRaises(isobar.CaptureError):
                isobar.stencil("rayon", it)


if __name__ == "__main__":
    unittest.main()
