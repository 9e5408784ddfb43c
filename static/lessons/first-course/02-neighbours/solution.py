# @title The Laplacian of a field
# @stencil laplacian
# @domain 32 32 8
# @input q bell(low=0, high=1, at_i=0.5, at_j=0.5, width=0.15)
# @plot lap k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def laplacian(q: FloatField, lap: FloatField):
    with computation(PARALLEL), interval(...):
        lap = q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q
