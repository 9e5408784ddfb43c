# @title Sound in a column
# @about Sound crosses a level of a model in less than a second. So nonhydrostatic models solve vertical sound waves implicitly,
# @about column by column: the vertical wind on the faces and the pressure in the levels hang together (Klemp and Wilhelmson, 1978).
# @about Putting one equation into the other leaves a tridiagonal system for the wind alone.
# @about Look at a section (i, k): a pulse of pressure runs up and down and back from the ground. The larger dt, the more it is damped.
# @stencil acoustic_column
# @domain 48 24 60
# @input w constant(0)
# @input p bell(low=0, high=100, at_i=0.5, at_k=0.5, width=0.08)
# @scalar dt = 0.5 from 0.05 to 5
# @plot p k=30
# @step w
# @step p

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField

DZ = 250.0  # m, thickness of a level
RHO = 1.0  # kg/m3, density of air
SOUND = 340.0  # m/s


def acoustic_column(w: FloatField, p: FloatField, dt: Float):
    """Advance vertical sound waves, one backward Euler step; k counts downward, w upward.

    Args:
        w: vertical wind on the upper face of each level, m/s; 0 at the top and at the ground (inout)
        p: pressure less that of air at rest, Pa (inout)
        dt: time step, s
    """
    # For each face: (1 + 2 a) w_new - a (w_new above + w_new below) = right, with a = (dt SOUND / DZ)**2.
    with computation(FORWARD):
        with interval(0, 1):
            below = 0.0
            right = 0.0
        with interval(1, None):
            a = (dt * SOUND / DZ) ** 2
            divisor = 1.0 + 2.0 * a + a * below[0, 0, -1]
            below = -a / divisor
            right = (w - dt / (RHO * DZ) * (p[0, 0, -1] - p) + a * right[0, 0, -1]) / divisor

    with computation(BACKWARD):
        with interval(-1, None):
            w_new = right
        with interval(0, -1):
            w_new = right - below * w_new[0, 0, 1]

    # What flows into a level raises its pressure; nothing comes through the ground.
    with computation(PARALLEL):
        with interval(0, -1):
            p = p - dt * RHO * SOUND**2 * (w_new - w_new[0, 0, 1]) / DZ
        with interval(-1, None):
            p = p - dt * RHO * SOUND**2 * w_new / DZ
    with computation(PARALLEL), interval(...):
        w = w_new
