"""Functions that change a variable of their caller, and those that do not."""

from gt4py.cartesian.gtscript import (
    BACKWARD,
    FORWARD,
    IJ,
    PARALLEL,
    Field,
    I,
    computation,
    function,
    horizontal,
    interval,
    region,
)
from ndsl.dsl.typing import FloatField, FloatFieldIJ, FloatFieldK

FACTOR = 3.0


@function
def scaled(x):
    x *= 2.0
    return x + 1.0


@function
def both(x, y):
    x *= 2.0
    y += x
    return x + y


@function
def assigned_later(x):
    x *= 2.0
    x = x + 1.0
    return x


@function
def assigned_never(x):
    x *= 2.0
    if __INLINED(False):  # noqa: F821
        x = 3.0
    return x


@function
def handed_on(x):
    y = scaled(x)
    return y + 100.0 * x


@function
def handed_on_twice(x, y):
    z = handed_on(x)
    y += z
    return z + 1000.0 * x


@function
def result_into_parameter(x):
    x *= 3.0
    x = scaled(x)
    return x


@function
def own_variable(x):
    t = x
    y = scaled(t)
    return t + y


@function
def with_default(x=5.0):
    y = scaled(x)
    return y + 100.0 * x


@function
def in_a_branch(x, y):
    if y > 1.0:
        x *= 2.0
    else:
        x -= 1.0
    return y


@function
def in_a_loop(x):
    n = 0
    z = 0.0
    while n < 3:
        z = z + x
        y = scaled(x)
        n = n + 1
    return z


@function
def beside(x):
    x *= 2.0
    return x[1, 0, 0]


@function
def two_results(x):
    x *= 2.0
    return x, x + 1.0


@function
def below(x):
    x[0, 0, -1] *= 2.0
    return x


@function
def at_the_point(x):
    x[0, 0, 0] += 1.0
    return x


@function
def on_a_row(x):
    with horizontal(region[I[0], :]):
        x *= 2.0
    return x


@function
def from_level(x, c):
    x -= c * 0.5
    return x + c


def interface_field(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = scaled(a)


def by_name(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = scaled(x=a) + a


def temporary(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = t + scaled(t) + t


def expressions(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = scaled(t + 0.0) + scaled(+t) + scaled(t[0, 0, 0]) + 100.0 * t


def constants(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = a + scaled(FACTOR) + handed_on(FACTOR) + handed_on(3.0) + with_default() + FACTOR


def loops_over_a_constant(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = a + in_a_loop(3.0)


def same_variable_twice(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = both(t, t) + 100.0 * t


def same_variable_twice_by_name(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = both(y=t, x=t) + 100.0 * t


def interface_twice(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = both(x=a, y=a) + a


def assigned_parameters(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = assigned_later(t) + assigned_never(t) + result_into_parameter(t) + 100.0 * t


def functions_in_functions(a: FloatField, b: FloatField, c: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = handed_on(t) + 100.0 * t
        c = 1.0
        b += handed_on_twice(a, c) + 100.0 * a
        b += own_variable(a) + a


def calls_in_arguments(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = both(t + 1.0, scaled(t)) + 100.0 * t
        b += scaled(scaled(t)) + 100.0 * t


def order_of_calls(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = scaled(t) + scaled(t)
        t += scaled(t)
        b += min(t, scaled(t)) - t


def in_branches(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = 0.0
        if a > 1.0:
            b = scaled(a)
        elif a > 0.5:
            b = both(a, b)
        b = b + 100.0 * a


def branches_of_a_function(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = in_a_branch(a, a) + 100.0 * a


def in_regions(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = 0.0
        with horizontal(region[I[0], :], region[I[-1], :]):
            b = scaled(a)
        b = b + 100.0 * a


def regions_of_a_function(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        b = on_a_row(a) + 100.0 * a


def read_beside(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t = a
        b = beside(t)


def several_results(a: FloatField, b: FloatField, c: FloatField):
    with computation(PARALLEL), interval(...):
        c, b = two_results(a)
        a, b = two_results(b)


def result_into_the_argument(a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        a = scaled(a)
        b = a


def column_sum(p: FloatFieldIJ, b: FloatField):
    with computation(FORWARD), interval(...):
        b = scaled(p) + 100.0 * p


def column_temporary(a: FloatField, b: FloatField):
    with computation(FORWARD), interval(0, 1):
        t: Field[IJ, float] = 1.0
        b = a
    with computation(FORWARD), interval(1, None):
        b = scaled(t) + a


def level_field(q: FloatFieldK, a: FloatField, b: FloatField):
    with computation(BACKWARD), interval(...):
        b = from_level(a, q) + a


def level_below(a: FloatField, b: FloatField):
    with computation(FORWARD), interval(0, 1):
        b = a
    with computation(FORWARD), interval(1, None):
        b = below(a) + at_the_point(a)


def sweeps(a: FloatField, b: FloatField):
    with computation(FORWARD), interval(0, 1):
        b = scaled(a)
    with computation(FORWARD), interval(1, None):
        b = scaled(a) + a[0, 0, -1]
