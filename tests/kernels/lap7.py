# @title Laplacian of seven points
# @about The sum of six neighbours less six times the point, added to it.
# @about The first and the last level have no neighbour on one side, and are copied.
# @stencil lap7
# @domain 128 128 80
# @input q random(low=-1, high=1, seed=1)
# @scalar alpha = 0.1

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def lap7(q: FloatField, q_out: FloatField, alpha: Float):
    with computation(PARALLEL):
        with interval(0, 1):
            q_out = q
        with interval(1, -1):
            q_out = q + alpha * (
                q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] + q[0, 0, 1] + q[0, 0, -1] - 6.0 * q
            )
        with interval(-1, None):
            q_out = q
