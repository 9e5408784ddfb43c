# @title Ready for the model
# @about Smooths a field once, with a weight.
# @stencil smooth
# @domain 16 16 4
# @input q checker(low=0, high=1, cells=8)
# @scalar weight = 0.5
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def smooth(q: FloatField, q_out: FloatField, weight: Float):
    """Mix each point with the mean of its neighbours.

    Args:
        q: any field, with one halo point on each side (in)
        q_out: the smoother field (out)
        weight: 0 changes nothing, 1 takes the mean alone
    """
    with computation(PARALLEL), interval(...):
        mean = 0.25 * (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0])
        q_out = weight * mean
