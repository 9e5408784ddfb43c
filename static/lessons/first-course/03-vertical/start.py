# @title Sums along the column
# @stencil column_sums
# @domain 24 24 20
# @input q bell(low=0, high=1, at_i=0.5, at_j=0.5, at_k=0.4, width=0.2)
# @plot above k=19

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def column_sums(q: FloatField, above: FloatField, below: FloatField):
    # The sum from the first level down to this one.
    with computation(FORWARD):
        with interval(0, 1):
            above = q
        with interval(1, None):
            above = above[0, 0, -1] + q

    # The sum from the last level up to this one.
    with computation(PARALLEL), interval(...):
        below = q
