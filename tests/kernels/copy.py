# @title Copy
# @about Every point of one field becomes that of another: the fastest that a stencil can be.
# @stencil copy
# @domain 128 128 80
# @input q random(low=-1, high=1, seed=1)

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def copy(q: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        q_out = q
