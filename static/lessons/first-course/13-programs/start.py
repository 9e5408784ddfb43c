# @title Two stencils, or one
# @stencil both
# @domain 64 64 20
# @input q sum(bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.15), random(low=-0.1, high=0.1, seed=5))
# @scalar alpha = 0.02
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def laplacian(q: FloatField, lap: FloatField):
    """First stencil of the model."""
    with computation(PARALLEL), interval(...):
        lap = q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q


def damp(q: FloatField, lap: FloatField, q_out: FloatField, alpha: Float):
    """Second stencil; between the two, the halo of `lap` is exchanged."""
    with computation(PARALLEL), interval(...):
        q_out = q - alpha * (lap[1, 0, 0] + lap[-1, 0, 0] + lap[0, 1, 0] + lap[0, -1, 0] - 4.0 * lap)


def both(q: FloatField, q_out: FloatField, alpha: Float):
    """What the two do, in one."""
    with computation(PARALLEL), interval(...):
        q_out = q
