"""A temporary has the type of the first value that is assigned to it, wherever that stands."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def temporary_types(a: FloatField, whole: FloatField, branched: FloatField, narrow: FloatField):
    with computation(PARALLEL), interval(...):
        count = 0
        count = 2.5 * a
        whole = count + 0.5

        if a > 0.0:
            piece = 1
        else:
            piece = 3.75 * a
        branched = piece

        truth = a > 0.5
        truth = a > -0.5 and not truth
        kept = 1.0
        kept = 7 if truth else -7
        narrow = kept / 2
