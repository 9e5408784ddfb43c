# @title Laplacian of five points
# @about The sum of four neighbours less four times the point.
# @stencil lap5
# @domain 128 128 80
# @input q random(low=-1, high=1, seed=1)

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def lap5(q: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        q_out = q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q
