# @title Your first stencil
# @stencil scale
# @domain 32 32 8
# @input q bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.15)
# @scalar factor = 2.5
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def scale(q: FloatField, q_out: FloatField, factor: Float):
    with computation(PARALLEL), interval(...):
        q_out = q
