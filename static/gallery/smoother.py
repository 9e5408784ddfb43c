# @title A smoother that spares waves
# @about A step of smoothing and one of sharpening take away what changes from cell to cell,
# @about and leave waves of many cells nearly as they were (Shapiro, 1970).
# @about Let it run: the noise is gone after some steps, and the bell is still there.
# @stencil smoother
# @domain 96 96 1
# @input q sum(bell(low=0, high=1, at_i=0.45, at_j=0.5, width=0.14), random(low=-0.25, high=0.25, seed=4))
# @scalar strength = 0.5 from 0 to 0.5
# @plot q_out
# @step q = q_out closed

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import Float, FloatField


@function
def mean(q: FloatField):
    """Mean of the four neighbours."""
    return 0.25 * (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0])


def smoother(q: FloatField, q_out: FloatField, strength: Float):
    """Smooth a field, then sharpen it by the same amount.

    Args:
        q: the field before the step, with two halo points (in)
        q_out: the field after the step (out)
        strength: of each half step; with 0.5 waves of two cells vanish at once
    """
    with computation(PARALLEL), interval(...):
        smooth = q + strength * (mean(q) - q)
        q_out = smooth - strength * (mean(smooth) - smooth)
