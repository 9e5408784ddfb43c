# @title Follow one statement
# @stencil follow
# @domain 32 32 16
# @input q bell(low=0, high=1, at_i=0.5, at_j=0.5, width=0.2)
# @scalar alpha = 0.2
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def follow(q: FloatField, q_out: FloatField, alpha: Float):
    with computation(PARALLEL), interval(...):
        forgotten = 3.0 * q
        lap = q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q
        change = alpha * lap
        q_out = q + change
