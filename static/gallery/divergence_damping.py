# @title Divergence damping
# @about Models of the atmosphere damp the divergence of the wind: gravity waves of the grid go, and vortices stay.
# @about The wind here is a vortex with noise. Let it run, and look at the divergence: it fades from the smallest scales on.
# @about Adding the gradient of the divergence leaves the vorticity as it is, exactly (Skamarock and Klemp, 1992).
# @stencil divergence_damping
# @domain 96 96 1
# @input u sum(product(wave(low=-1, high=1, j=1), constant(-1)), random(low=-0.3, high=0.3, seed=2))
# @input v sum(wave(low=-1, high=1, i=1), random(low=-0.3, high=0.3, seed=3))
# @scalar damping = 0.12 from 0 to 0.12
# @plot divergence
# @plot u_out
# @step u = u_out periodic
# @step v = v_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def divergence_damping(
    u: FloatField,
    v: FloatField,
    divergence: FloatField,
    u_out: FloatField,
    v_out: FloatField,
    damping: Float,
):
    """Damp the divergence of a wind on a C grid, one step; lengths are in cells.

    Args:
        u: wind along i, on the western faces (in)
        v: wind along j, on the southern faces (in)
        divergence: that of the wind before the step (out)
        u_out: wind along i after the step (out)
        v_out: wind along j after the step (out)
        damping: coefficient; stable to 1/8
    """
    with computation(PARALLEL), interval(...):
        spread = u[1, 0, 0] - u + v[0, 1, 0] - v
        u_out = u + damping * (spread - spread[-1, 0, 0])
        v_out = v + damping * (spread - spread[0, -1, 0])
        divergence = spread
