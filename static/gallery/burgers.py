# @title Burgers' equation
# @about Where fast fluid follows slow fluid a wave steepens into a front; where it runs ahead, the wave fans out.
# @about Burgers (1948) put this into one equation. Godunov's flux (1959) solves it face by face: it takes the value that the
# @about exact solution has on the face, so the front neither swings over nor runs at the wrong speed.
# @stencil burgers
# @domain 128 48 1
# @input u sum(wave(low=-0.4, high=1, i=1), wave(low=-0.15, high=0.15, i=2, j=1))
# @scalar courant = 0.5 from 0 to 0.8
# @plot u_out
# @step u = u_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def burgers(u: FloatField, u_out: FloatField, courant: Float):
    """Take one step of u_t + (u u / 2)_x = 0 along i.

    Args:
        u: velocity before the step, with one halo point along i (in)
        u_out: velocity after the step (out)
        courant: time step over the width of a cell; stable while courant times the largest |u| is below 1
    """
    with computation(PARALLEL), interval(...):
        # From the west what moves east counts, and from the east what moves west.
        west = max(u[-1, 0, 0], 0.0)
        east = min(u, 0.0)
        flux = 0.5 * max(west * west, east * east)
        u_out = u + courant * (flux - flux[1, 0, 0])
