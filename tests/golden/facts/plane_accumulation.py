"""A field without K that is assigned on many levels sees its own running value."""

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField, FloatFieldIJ


def plane_accumulation(
    a: FloatField, total: FloatFieldIJ, first: FloatFieldIJ, last: FloatFieldIJ, below: FloatField
):
    with computation(FORWARD):
        with interval(0, 1):
            total = a
            below = 0.0
        with interval(1, None):
            below = total
            total += a
    with computation(BACKWARD), interval(...):
        if a > 0.0:
            first = a
    with computation(FORWARD), interval(1, -1):
        last = a + last * 0.5
    with computation(PARALLEL), interval(...):
        below = below / (1.0 + total * total)
