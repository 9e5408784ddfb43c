# @title Implicit vertical diffusion
# @stencil mix
# @domain 24 24 40
# @input q sum(bell(low=0, high=1, at_k=0.3, width=0.08), linear(low=0, high=0.2, along=i))
# @scalar d = 4.0
# @plot q_out k=20

from ndsl.dsl.gt4py import BACKWARD, FORWARD, computation, interval
from ndsl.dsl.typing import Float, FloatField


def mix(q: FloatField, q_out: FloatField, d: Float):
    """Mix a column by diffusion, one implicit step; nothing leaves at the top or at the ground.

    Args:
        q: the field before the step (in)
        q_out: the field after the step (out)
        d: diffusivity times time step over the square of the distance of levels
    """
    # Elimination, from the top down: each row keeps one unknown and the one beneath.
    with computation(FORWARD):
        with interval(0, 1):
            beneath = -d / (1.0 + d)
            right = q / (1.0 + d)
        with interval(1, -1):
            divisor = 1.0 + 2.0 * d + d * beneath[0, 0, -1]
            beneath = -d / divisor
            right = (q + d * right[0, 0, -1]) / divisor
        with interval(-1, None):
            divisor = 1.0 + d + d * beneath[0, 0, -1]
            beneath = 0.0
            right = (q + d * right[0, 0, -1]) / divisor

    # Substitution, from the ground up.
    with computation(BACKWARD):
        with interval(-1, None):
            q_out = right
        with interval(0, -1):
            q_out = right - beneath * q_out[0, 0, 1]
