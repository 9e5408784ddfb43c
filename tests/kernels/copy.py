# @title Copy
# @about Every point of one field becomes that of another: the fastest that a stencil can be.
# @stencil copy
# @domain 128 128 80
# @input q random(low=-1, high=1, seed=1)

from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval


def copy(q: Field[float], q_out: Field[float]):
    with computation(PARALLEL), interval(...):
        q_out = q
