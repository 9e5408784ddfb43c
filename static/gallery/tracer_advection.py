# @title A tracer in four vortices
# @about Fluxes carry a cloud with the wind: what leaves a cell enters the next, so the sum stays the same to the last digits.
# @about Each flux takes the upwind cell with a limited slope (van Leer, 1977), so that no new extrema come up.
# @about The wind is the curl of a stream function, and has no divergence, not even on the grid.
# @stencil tracer_advection
# @domain 96 96 1
# @input q bell(low=0, high=1, at_i=0.32, at_j=0.25, width=0.06)
# @input psi product(wave(low=-4, high=4, i=1), wave(low=-1, high=1, j=1))
# @scalar speed = 1.0 from 0 to 1
# @plot q_out
# @step q = q_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import Float, FloatField


@function
def limited(before, after):
    """Twice the harmonic mean of two differences, 0 where they have different signs."""
    return 2.0 * before * after / (before + after) if before * after > 0.0 else 0.0


@function
def upwind(courant, behind, slope_behind, ahead, slope_ahead):
    """Mean of what crosses a face, from the cell that the wind comes from."""
    if courant > 0.0:
        value = behind + 0.5 * (1.0 - courant) * slope_behind
    else:
        value = ahead - 0.5 * (1.0 + courant) * slope_ahead
    return value


def tracer_advection(q: FloatField, psi: FloatField, q_out: FloatField, speed: Float):
    """Carry a tracer with the wind, one step.

    Args:
        q: tracer before the step, with two halo points (in)
        psi: stream function on the south-western corners, in cells for each step (in)
        q_out: tracer after the step (out)
        speed: factor of the wind; the step is stable to about 1
    """
    with computation(PARALLEL), interval(...):
        # Courant numbers on the western and on the southern face.
        cx = -speed * (psi[0, 1, 0] - psi)
        cy = speed * (psi[1, 0, 0] - psi)

        slope_i = limited(q - q[-1, 0, 0], q[1, 0, 0] - q)
        slope_j = limited(q - q[0, -1, 0], q[0, 1, 0] - q)
        flux_i = cx * upwind(cx, q[-1, 0, 0], slope_i[-1, 0, 0], q, slope_i)
        flux_j = cy * upwind(cy, q[0, -1, 0], slope_j[0, -1, 0], q, slope_j)

        q_out = q + (flux_i - flux_i[1, 0, 0] + flux_j - flux_j[0, 1, 0])
