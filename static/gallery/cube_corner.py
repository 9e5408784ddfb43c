# @title A corner of the cubed sphere
# @about Six tiles cover the sphere. At a corner of the cube three of them meet, and a corner of cells has three neighbours
# @about in place of four: the cell beyond does not exist, and whatever lies in the halo there is no value.
# @about So values on corners are the mean of four cells inside, of three at the corners of the tile (as in FV3's A to B grid step,
# @about Putman and Lin, 2007). Then each cell takes the mean of its corners.
# @stencil cube_corner
# @domain 32 32 1
# @input q sum(wave(low=-1, high=1, i=1, j=1), checker(low=0, high=0.5, cells=8))
# @plot q_out

from ndsl.dsl.gt4py import PARALLEL, computation, horizontal, interval, region
from ndsl.dsl.typing import FloatField


def cube_corner(q: FloatField, q_out: FloatField):
    """Take a field to the corners of the cells and back.

    Args:
        q: any field, with one halo point; its values beyond the corners of the tile are not used (in)
        q_out: mean of the values on the four corners of each cell (out)
    """
    from __externals__ import i_end, i_start, j_end, j_start

    with computation(PARALLEL), interval(...):
        # On the south-western corner of each cell.
        corner = 0.25 * (q + q[-1, 0, 0] + q[0, -1, 0] + q[-1, -1, 0])
        with horizontal(region[i_start, j_start]):
            corner = (q + q[-1, 0, 0] + q[0, -1, 0]) / 3.0
        with horizontal(region[i_end + 1, j_start]):
            corner = (q + q[-1, 0, 0] + q[-1, -1, 0]) / 3.0
        with horizontal(region[i_start, j_end + 1]):
            corner = (q + q[0, -1, 0] + q[-1, -1, 0]) / 3.0
        with horizontal(region[i_end + 1, j_end + 1]):
            corner = (q[-1, 0, 0] + q[0, -1, 0] + q[-1, -1, 0]) / 3.0

        q_out = 0.25 * (corner + corner[1, 0, 0] + corner[0, 1, 0] + corner[1, 1, 0])
