"""Functions within functions widen what is read, step by step; arguments are passed by value."""

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ


@function
def laplacian(q):
    return q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q


@function
def halves(q, *, part=0.25):
    q = q * part
    return q, 1.0 - q


@function
def weighted(q, weight):
    small, large = halves(q, part=0.5)
    # The weight keeps its axes: it has two offsets.
    return small * weight[1, 0] + large * weight[0, -1]


def nested_functions(
    a: FloatField, weight: FloatFieldIJ, twice: FloatField, mixed: FloatField, scale: Float
):
    with computation(PARALLEL), interval(...):
        twice = laplacian(laplacian(a) * scale)
        mixed = weighted(a, weight) + weighted(a[0, 1, 0] + 1.0, weight)
        one, other = halves(a)
        mixed = mixed + one * other
