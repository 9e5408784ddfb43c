# @title A derivative up to the edge
# @stencil slope
# @domain 24 24 4
# @input q wave(low=-1, high=1, i=1, j=1)
# @plot dq k=0

from ndsl.dsl.gt4py import PARALLEL, computation, horizontal, interval, region
from ndsl.dsl.typing import FloatField


def slope(q: FloatField, dq: FloatField):
    """Derivative of q along i, from points of this tile only.

    Args:
        q: any field (in)
        dq: its derivative, in units of q for each cell (out)
    """
    from __externals__ import i_end, i_start

    with computation(PARALLEL), interval(...):
        dq = 0.5 * (q[1, 0, 0] - q[-1, 0, 0])
        with horizontal(region[i_start, :]):
            dq = q[1, 0, 0] - q
        with horizontal(region[i_end, :]):
            dq = q - q[-1, 0, 0]
