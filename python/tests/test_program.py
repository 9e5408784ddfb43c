"""Methods of objects as programs: the same bits as the stencils one by one, whatever changes between two calls."""

import math
import os
import unittest
import unittest.mock

import numpy as np

import isobar

LIMIT = 2
SHAPE = (13, 12, 4)
DOMAIN = (7, 6, 4)


@isobar.stencil
def lap(q: "Field[float]", out: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q  # noqa: F841


@isobar.stencil
def step(q: "Field[float]", l: "Field[float]", a: float):  # noqa: F821, E741
    with computation(PARALLEL), interval(...):  # noqa: F821
        q = q + a * l


class Inner:
    def __init__(self, weight):
        self.weight, self.step = weight, step

    def __call__(self, q, l, a):  # noqa: E741
        self.step(q, l, a * self.weight)


class Diffusion:
    """A model with a field of its own, parts, and a number that decides at run time."""

    def __init__(self, shape=SHAPE):
        self.l = np.zeros(shape)
        self.lap = lap
        self.parts = [Inner(0.5), Inner(0.25)]
        self.damping = None

    def __call__(self, q, a, n):
        for it in range(n):
            self.lap(q, self.l)
            if self.damping is None and it == n - 1:
                a = a / LIMIT
            for part in self.parts:
                part(q, self.l, math.sqrt(a))

    def changes(self, q):
        self.damping = 2

    def raises(self, q, n):
        if n > LIMIT:
            raise ValueError("too many")
        self.step_of(q)

    def step_of(self, q):
        self.parts[0](q, self.l, 1.0)


def dace_inhibitor(function):
    """NDSL's mark of what is no part of a program."""
    return function


class Timer:
    """NDSL's has such a name."""

    def clock(self, name):
        raise AssertionError("a program makes a mark of it")


class Calling:
    """A model that calls back: between two stencils, with and without arguments."""

    def __init__(self):
        self.l = np.zeros(SHAPE)
        self.lap, self.step, self.timer = lap, step, Timer()
        self.seen = []

    @dace_inhibitor
    def doubled(self, q, words, n=1):
        self.seen.append((words, n, float(q[4, 4, 1])))
        q *= 2.0

    @dace_inhibitor
    def half(self, a):
        return a / 2

    @dace_inhibitor
    def update(self):
        self.l[0:3] = self.l[7:10]

    def __call__(self, q, a):
        with self.timer.clock("all of it"):
            self.lap(q, self.l)
            self.doubled(self.l, "after", n=[1, 2])
            self.update()
            self.step(q, self.l, self.half(a))

    def ends(self, q):
        self.lap(q, self.l)
        self.fails()

    def sets(self, q, a):
        self.set_weight()
        self.step(q, self.l, self.weight)

    weight = 1.0

    @dace_inhibitor
    def set_weight(self):
        self.weight += 1.0

    @dace_inhibitor
    def fails(self):
        raise KeyError("no such thing")

    def computed(self, q, a):
        self.doubled(q, a)


class Alone:
    """The stencils on the domain, one by one."""

    def __init__(self, stencil):
        self.stencil = stencil

    def __call__(self, *args):
        self.stencil(*args, domain=DOMAIN, origin=(3, 3, 0))


def alone():
    model = Diffusion()
    model.lap = Alone(lap)
    for part in model.parts:
        part.step = Alone(step)
    return model


def numbers(seed, shape=SHAPE):
    return np.random.default_rng(seed).random(shape)


class Programs(unittest.TestCase):
    def held(self, model, q, *args, **options):
        """A program has the bits of the method with its stencils one by one."""
        program = isobar.program(model, domain=DOMAIN, halo=3, **options)
        expected, found = q.copy(order="K"), q.copy(order="K")
        reference = alone()
        reference.damping = model.damping
        for _ in range(2):
            reference(expected, *args)
            program(found, *args)
            self.assertTrue(np.array_equal(expected, found))
            self.assertTrue(np.array_equal(reference.l, model.l))
        return program

    def test_a_method_has_the_bits_of_its_stencils_on_each_back_end(self):
        for backend in ("rayon", "debug", "numpy", "openmp"):
            if "not here" in isobar.backends()[backend]:
                continue
            with self.subTest(backend):
                program = self.held(Diffusion(), numbers(1), 0.04, 3, backend=backend)
                self.assertIn("for it_1 in range(0, n, 1)", program.text)

    def test_arrays_lie_as_they_do(self):
        self.held(Diffusion(), np.asfortranarray(numbers(2)), 0.04, 2)
        wide = numbers(3, (26, 12, 4))
        self.held(Diffusion(), wide[::2], 0.04, 2)

    def test_numbers_and_arrays_may_differ_between_two_calls(self):
        model, reference = Diffusion(), alone()
        program = isobar.program(model, domain=DOMAIN, halo=3)
        texts = set()
        for seed, a, n in ((1, 0.04, 3), (2, 0.09, 0), (3, 0.01, 1)):
            expected, found = numbers(seed), numbers(seed)
            reference(expected, a, n)
            program(found, a, n)
            texts.add(program.text)
            self.assertTrue(np.array_equal(expected, found))
        self.assertEqual(len(texts), 1)

    def test_an_attribute_that_has_changed_is_noticed(self):
        model, reference = Diffusion(), alone()
        program = isobar.program(model, domain=DOMAIN, halo=3)
        q = numbers(1)
        program(q.copy(), 0.04, 2)
        model.damping = reference.damping = 1.0
        model.parts[1].weight = reference.parts[1].weight = 0.125
        model.l = np.zeros(SHAPE)
        reference.l = np.zeros(SHAPE)
        expected, found = q.copy(), q.copy()
        reference(expected, 0.04, 2)
        program(found, 0.04, 2)
        self.assertTrue(np.array_equal(expected, found))
        self.assertTrue(np.array_equal(reference.l, model.l))

    def test_what_lists_hold_and_what_types_numbers_have_is_noticed(self):
        model, reference = Diffusion(), alone()
        program = isobar.program(model, domain=DOMAIN, halo=3)
        q = numbers(1)
        for change in (
            lambda: None,
            lambda: (model.parts.append(model.parts[0]), reference.parts.append(reference.parts[0])),
            lambda: (model.parts.pop(1), reference.parts.pop(1)),
        ):
            change()
            for a in (0.04, np.float64(0.09), 0.01):
                expected, found = q.copy(), q.copy()
                reference(expected, a, 2)
                program(found, a, n=2)
                self.assertTrue(np.array_equal(expected, found))
        with self.assertRaises(isobar.CallTypeError):
            program(q)
        # It becomes a float at run time, where a run has one type for each number.
        with self.assertRaises(isobar.ProgramError) as told:
            program(q, 1, 2)
        self.assertIn("its type is float, and that of `a_1` is int64", str(told.exception))

    def test_arrays_that_are_no_results_are_locals(self):
        first = np.random.default_rng(7).random(SHAPE)
        expected, outcome = first.copy(), Diffusion()
        isobar.program(outcome, domain=DOMAIN, halo=(3, 3, 0))(expected, 0.1, 3)
        self.assertGreater(np.abs(outcome.l).max(), 0)
        for results, is_local in [("all", False), ("arguments", True), ([], True)]:
            model, q = Diffusion(), first.copy()
            program = isobar.program(model, domain=DOMAIN, halo=(3, 3, 0), results=results)
            for _ in range(2):
                np.copyto(q, first)
                program(q, 0.1, 3)
                # Whatever it held decides nothing.
                self.assertEqual("local l:" in program.text, is_local)
                model.l[:] = np.nan if is_local else model.l
            memory = program.memory
            self.assertEqual(memory["locals_alone"] > 0, is_local)
            self.assertLessEqual(memory["locals"], memory["locals_alone"])
            self.assertEqual(memory["given"], q.nbytes if is_local else q.nbytes + model.l.nbytes)
            np.testing.assert_array_equal(q, expected)
        model, q = Diffusion(), first.copy()
        program = isobar.program(model, domain=DOMAIN, halo=(3, 3, 0), results=[model.l, q])
        program(q, 0.1, 3)
        np.testing.assert_array_equal(model.l, outcome.l)
        with unittest.mock.patch.dict(os.environ, {"ISOBAR_PROGRAM_RESULTS": "arguments"}):
            program = isobar.program(Diffusion(), domain=DOMAIN, halo=(3, 3, 0))
            program(q, 0.1, 3)
            self.assertIn("local l:", program.text)
        with unittest.mock.patch.dict(os.environ, {"ISOBAR_PROGRAM_RESULTS": "some"}):
            with self.assertRaisesRegex(isobar.CallError, 'and not "some"'):
                isobar.program(model, domain=DOMAIN)
        with self.assertRaisesRegex(isobar.CallError, "all of them"):
            isobar.program(model, domain=DOMAIN, results="all of them")
        with self.assertRaisesRegex(isobar.CaptureError, "no int"):
            isobar.program(model, domain=DOMAIN, halo=(3, 3, 0), results=[3])(q, 0.1, 3)

    def test_one_array_that_becomes_two_parameters_is_one_field(self):
        model, reference = Diffusion(), alone()
        program = isobar.program(model, domain=DOMAIN, halo=3)
        program(numbers(1), 0.04, 1)
        # The stencil would read neighbours of what it writes.
        program(model.l, 0.04, 1)
        expected = reference.l
        reference(numbers(1), 0.04, 1)
        reference(expected, 0.04, 1)
        self.assertTrue(np.array_equal(expected, model.l))

    def test_callbacks_see_the_fields_as_they_are_and_change_them(self):
        for order in "CF":
            model, expected, found = Calling(), np.asarray(numbers(1), order=order), np.asarray(numbers(1), order=order)
            program = isobar.program(model, domain=DOMAIN, halo=3)
            laps = np.zeros(SHAPE)
            for n in (1, 2):
                program(found, 0.5)
                lap(expected, laps, domain=DOMAIN, origin=(3, 3, 0))
                seen = float(laps[4, 4, 1])
                laps *= 2.0
                laps[0:3] = laps[7:10]
                step(expected, laps, 0.25, domain=DOMAIN, origin=(3, 3, 0))
                self.assertEqual(model.seen[-1], ("after", [1, 2], seen))
                self.assertEqual(len(model.seen), n)
                self.assertTrue(np.array_equal(expected, found))
                self.assertTrue(np.array_equal(laps, model.l))
        self.assertIn('mark "all of it"', program.text)
        self.assertEqual(program.text.count("host "), 2)

    def test_a_callback_that_changes_what_is_compiled_in_is_told(self):
        program = isobar.program(Calling(), "sets", domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.ProgramError) as told:
            program(numbers(1), 0.5)
        self.assertIn("a callback changed `weight`", str(told.exception))

    def test_an_array_that_nobody_may_write_is_refused(self):
        model, q = Calling(), numbers(1)
        q.flags.writeable = False
        program = isobar.program(model, domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.CallError) as told:
            program(q, 0.5)
        self.assertIn("not writeable", str(told.exception))

    def test_a_quantity_that_gets_another_array_is_noticed(self):
        class Quantity:
            dims = ("x", "y", "z")

            def __init__(self, data):
                self.data = data

        model = Diffusion()
        model.l = Quantity(model.l)
        reference = alone()
        program = isobar.program(model, domain=DOMAIN, halo=3)
        for seed in (1, 2):
            expected, found = numbers(seed), numbers(seed)
            reference.l, model.l.data = np.zeros(SHAPE), np.zeros(SHAPE)
            reference(expected, 0.04, 2)
            program(found, 0.04, 2)
            self.assertTrue(np.array_equal(expected, found))
            self.assertTrue(np.array_equal(reference.l, model.l.data))

    def test_an_exception_of_a_callback_comes_out_of_the_call(self):
        program = isobar.program(Calling(), "ends", domain=DOMAIN, halo=3)
        for _ in range(2):
            with self.assertRaises(KeyError):
                program(numbers(1))
        program = isobar.program(Calling(), "computed", domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.ProgramError) as told:
            program(numbers(1), 0.5)
        self.assertIn("only a run knows its value", str(told.exception))

    def test_what_no_program_says_is_told_with_its_line(self):
        program = isobar.program(Diffusion(), "changes", domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.ProgramError) as told:
            program(numbers(1))
        self.assertIn("test_program.py:", str(told.exception))
        self.assertIn("the attribute `damping` is refused", str(told.exception))
        self.assertEqual([it["code"] for it in told.exception.diagnostics], ["P17"])

    def test_a_raise_ends_the_run(self):
        program = isobar.program(Diffusion(), "raises", domain=DOMAIN, halo=3)
        program(numbers(1), 2)
        with self.assertRaises(isobar.ProgramError) as told:
            program(numbers(1), 3)
        self.assertIn("too many", str(told.exception))

    def test_arrays_that_share_a_part_are_refused(self):
        q = numbers(1, (14, 12, 4))
        model = Diffusion()
        model.l = q[1:]
        program = isobar.program(model, domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.CaptureError) as told:
            program(q[:-1], 0.04, 1)
        self.assertIn("share a part of their elements", str(told.exception))

    def test_a_field_that_is_too_small_is_told(self):
        program = isobar.program(Diffusion((8, 12, 4)), domain=DOMAIN, halo=3)
        with self.assertRaises(isobar.ProgramError) as told:
            program(numbers(1, (8, 12, 4)), 0.04, 1)
        self.assertIn("lacks", str(told.exception))

    def test_one_array_may_be_two_parameters(self):
        model = Diffusion()
        q = numbers(5)
        model.l = q
        program = isobar.program(model, "step_of", domain=DOMAIN, halo=3)
        program(q)
        expected = numbers(5)
        expected[3:10, 3:9] = expected[3:10, 3:9] + 0.5 * expected[3:10, 3:9]
        self.assertTrue(np.array_equal(expected, q))


if __name__ == "__main__":
    unittest.main()
