# @title A smoother that takes a stencil for a loop
# @stencil smooth_twice
# @domain 32 32 4
# @input q sum(bell(low=0, high=1, at_i=0.5, at_j=0.5, width=0.2), random(low=-0.2, high=0.2, seed=1))
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def smooth_twice(q: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        once = 0.25 * (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0])
        q_out = 0.25 * (once[1, 0, 0] + once[-1, 0, 0] + once[0, 1, 0] + once[0, -1, 0])
