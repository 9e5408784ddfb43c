# @title Shallow water
# @about A heap of water falls into a basin, and its waves run over each other: the full equations, not those of small waves.
# @about Velocities stand on the faces of cells (Arakawa C), momentum is written with vorticity and the Bernoulli function
# @about (Sadourny, 1975). What flows out of a cell flows into the next: the mass stays the same to the last digits.
# @about The basin has no walls: what leaves in the east comes back in the west.
# @stencil shallow_water
# @domain 96 96 1
# @input h bell(low=1, high=1.6, at_i=0.35, at_j=0.45, width=0.07)
# @input u constant(0)
# @input v constant(0)
# @scalar gravity = 1.0 from 0.1 to 2
# @scalar rotation = 0.02 from 0 to 0.1
# @scalar dt = 0.3 from 0.05 to 0.4
# @plot h_out
# @step h = h_out periodic
# @step u = u_out periodic
# @step v = v_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField

VISCOSITY = 0.02  # in cells squared for each unit of time


def shallow_water(
    h: FloatField,
    u: FloatField,
    v: FloatField,
    h_out: FloatField,
    u_out: FloatField,
    v_out: FloatField,
    gravity: Float,
    rotation: Float,
    dt: Float,
):
    """Take one step; lengths are in cells.

    Args:
        h: depth of the water (in)
        u: velocity along i, on the western faces (in)
        v: velocity along j, on the southern faces (in)
        h_out: depth after the step (out)
        u_out: velocity along i after the step (out)
        v_out: velocity along j after the step (out)
        gravity: acceleration; waves run with sqrt(gravity h)
        rotation: Coriolis parameter
        dt: time step
    """
    with computation(PARALLEL), interval(...):
        # Depth first: velocities then feel the new surface.
        flux_i = 0.5 * (h[-1, 0, 0] + h) * u
        flux_j = 0.5 * (h[0, -1, 0] + h) * v
        h_new = h + dt * (flux_i - flux_i[1, 0, 0] + flux_j - flux_j[0, 1, 0])

        # On the south-western corners: absolute vorticity. In cells: the Bernoulli function.
        vorticity = rotation + (v - v[-1, 0, 0]) - (u - u[0, -1, 0])
        energy = gravity * h_new + 0.25 * (u * u + u[1, 0, 0] * u[1, 0, 0] + v * v + v[0, 1, 0] * v[0, 1, 0])

        v_at_corner = 0.5 * (v[-1, 0, 0] + v)
        u_at_corner = 0.5 * (u[0, -1, 0] + u)
        turn_i = 0.5 * (vorticity * v_at_corner + vorticity[0, 1, 0] * v_at_corner[0, 1, 0])
        turn_j = 0.5 * (vorticity * u_at_corner + vorticity[1, 0, 0] * u_at_corner[1, 0, 0])
        mixed_u = u[1, 0, 0] + u[-1, 0, 0] + u[0, 1, 0] + u[0, -1, 0] - 4.0 * u
        mixed_v = v[1, 0, 0] + v[-1, 0, 0] + v[0, 1, 0] + v[0, -1, 0] - 4.0 * v

        u_out = u + dt * (turn_i - (energy - energy[-1, 0, 0]) + VISCOSITY * mixed_u)
        v_out = v + dt * (-turn_j - (energy - energy[0, -1, 0]) + VISCOSITY * mixed_v)
        h_out = h_new
