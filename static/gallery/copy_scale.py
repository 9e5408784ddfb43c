# @title Copy and scale
# @about The smallest stencil there is: every point of the output is the input times one number.
# @about No point looks at another, so nothing but memory decides how fast it runs.
# @stencil copy_scale
# @domain 64 64 40
# @input q_in wave(low=-1, high=1, i=2, j=1, k=0.5)
# @scalar factor = 2.5
# @plot q_out k=10

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def copy_scale(q_in: FloatField, q_out: FloatField, factor: Float):
    """Write a multiple of one field to another.

    Args:
        q_in: any field (in)
        q_out: factor times that field (out)
        factor: the multiple
    """
    with computation(PARALLEL), interval(...):
        q_out = factor * q_in
