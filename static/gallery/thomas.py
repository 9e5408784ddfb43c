# @title Heat in the ground
# @about Heat spreads downward from a warm and a cold part of the surface. Layers near the surface are thin, so the step is
# @about implicit: each column is a tridiagonal system, which the algorithm of Thomas (1949) solves down and up.
# @about At the surface the temperature is given; nothing leaves at the lower end. Any time step is stable: move dt.
# @stencil ground_heat
# @domain 64 64 24
# @input t constant(10)
# @input surface sum(bell(low=10, high=25, at_i=0.35, at_j=0.5, width=0.12), bell(low=0, high=-12, at_i=0.7, at_j=0.4, width=0.1))
# @input depth product(linear(low=0.05, high=1.2, along=k), linear(low=0.5, high=1.5, along=k))
# @scalar diffusivity = 7.0e-7 from 1.0e-7 to 2.0e-6
# @scalar dt = 21600 from 600 to 86400
# @plot t_out k=6
# @step t = t_out

from ndsl.dsl.gt4py import BACKWARD, FORWARD, computation, interval
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ, FloatFieldK


def ground_heat(
    t: FloatField,
    surface: FloatFieldIJ,
    depth: FloatFieldK,
    t_out: FloatField,
    diffusivity: Float,
    dt: Float,
):
    """Diffuse heat into the ground, one implicit step; k counts downward.

    Args:
        t: temperature of each layer before the step, degrees C (in)
        surface: temperature at the surface (in)
        depth: thickness of each layer, m (in)
        t_out: temperature after the step (out)
        diffusivity: of heat in soil, m2/s
        dt: time step, s
    """
    # Elimination: what is left of each row is t_out + beneath * t_out[0, 0, 1] = right.
    with computation(FORWARD):
        with interval(0, 1):
            above = diffusivity * dt / (0.5 * depth * depth)
            below = diffusivity * dt / (0.5 * (depth + depth[1]) * depth)
            divisor = 1.0 + above + below
            beneath = -below / divisor
            right = (t + above * surface) / divisor
        with interval(1, -1):
            above = diffusivity * dt / (0.5 * (depth[-1] + depth) * depth)
            below = diffusivity * dt / (0.5 * (depth + depth[1]) * depth)
            divisor = 1.0 + above + below + above * beneath[0, 0, -1]
            beneath = -below / divisor
            right = (t + above * right[0, 0, -1]) / divisor
        with interval(-1, None):
            above = diffusivity * dt / (0.5 * (depth[-1] + depth) * depth)
            divisor = 1.0 + above + above * beneath[0, 0, -1]
            beneath = 0.0
            right = (t + above * right[0, 0, -1]) / divisor

    # Substitution.
    with computation(BACKWARD):
        with interval(-1, None):
            t_out = right
        with interval(0, -1):
            t_out = right - beneath * t_out[0, 0, 1]
