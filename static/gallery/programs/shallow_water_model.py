# @title Shallow water, a model of four stencils
# @about The equations of the example "Shallow water", as a model writes them: four stencils and the exchanges of halos between them.
# @about Depth goes first, so that the winds feel the new surface. Friction works in some calls alone: `n_friction` says in how many.
# @about The basin has no walls: each exchange fills the halos from the opposite edge.
# @stencil ShallowWater
# @domain 96 96 1
# @halo periodic
# @input h bell(low=1, high=1.6, at_i=0.35, at_j=0.45, width=0.07)
# @input u constant(0)
# @input v constant(0)
# @scalar gravity = 1.0 from 0.1 to 2
# @scalar rotation = 0.02 from 0 to 0.1
# @scalar dt = 0.3 from 0.05 to 0.4
# @scalar n_friction = 1 from 0 to 4
# @plot h

from ndsl import QuantityFactory, StencilFactory
from ndsl.constants import X_DIM, Y_DIM, Z_DIM
from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField

VISCOSITY = 0.02  # in cells squared for each unit of time


def move_water(h: FloatField, u: FloatField, v: FloatField, h_new: FloatField, dt: Float):
    with computation(PARALLEL), interval(...):
        flux_i = 0.5 * (h[-1, 0, 0] + h) * u
        flux_j = 0.5 * (h[0, -1, 0] + h) * v
        h_new = h + dt * (flux_i - flux_i[1, 0, 0] + flux_j - flux_j[0, 1, 0])


def turn_and_press(
    h: FloatField,
    u: FloatField,
    v: FloatField,
    vorticity: FloatField,
    energy: FloatField,
    gravity: Float,
    rotation: Float,
):
    with computation(PARALLEL), interval(...):
        # On the south-western corners: absolute vorticity. In cells: the Bernoulli function.
        vorticity = rotation + (v - v[-1, 0, 0]) - (u - u[0, -1, 0])
        energy = gravity * h + 0.25 * (u * u + u[1, 0, 0] * u[1, 0, 0] + v * v + v[0, 1, 0] * v[0, 1, 0])


def move_winds(
    u: FloatField,
    v: FloatField,
    vorticity: FloatField,
    energy: FloatField,
    u_new: FloatField,
    v_new: FloatField,
    dt: Float,
):
    with computation(PARALLEL), interval(...):
        v_at_corner = 0.5 * (v[-1, 0, 0] + v)
        u_at_corner = 0.5 * (u[0, -1, 0] + u)
        turn_i = 0.5 * (vorticity * v_at_corner + vorticity[0, 1, 0] * v_at_corner[0, 1, 0])
        turn_j = 0.5 * (vorticity * u_at_corner + vorticity[1, 0, 0] * u_at_corner[1, 0, 0])
        u_new = u + dt * (turn_i - (energy - energy[-1, 0, 0]))
        v_new = v + dt * (-turn_j - (energy - energy[0, -1, 0]))


def rub(wind: FloatField, wind_new: FloatField, strength: Float):
    with computation(PARALLEL), interval(...):
        mixed = wind[1, 0, 0] + wind[-1, 0, 0] + wind[0, 1, 0] + wind[0, -1, 0] - 4.0 * wind
        wind_new = wind + strength * mixed


class ShallowWater:
    """A model of one layer of water: depth in cells, winds on the western and southern faces of cells."""

    def __init__(self, stencil_factory: StencilFactory, quantity_factory: QuantityFactory, comm):
        dims = [X_DIM, Y_DIM, Z_DIM]
        self._comm = comm
        self._move_water = stencil_factory.from_dims_halo(move_water, compute_dims=dims)
        # Winds turn with the vorticity of the corners around them, and feel the pressure of both cells beside them.
        self._turn_and_press = stencil_factory.from_dims_halo(
            turn_and_press, compute_dims=dims, compute_halos=(1, 1)
        )
        self._move_winds = stencil_factory.from_dims_halo(move_winds, compute_dims=dims)
        self._rub = stencil_factory.from_dims_halo(rub, compute_dims=dims)
        self._h_new = quantity_factory.zeros(dims, units="m")
        self._vorticity = quantity_factory.zeros(dims, units="1/s")
        self._energy = quantity_factory.zeros(dims, units="m2/s2")
        self._u_new = quantity_factory.zeros(dims, units="m/s")
        self._v_new = quantity_factory.zeros(dims, units="m/s")

    def __call__(
        self,
        h: FloatField,
        u: FloatField,
        v: FloatField,
        gravity: Float,
        rotation: Float,
        dt: Float,
        n_friction: int,
    ):
        """Take one step; lengths are in cells.

        Args:
            h: depth of the water (inout)
            u: velocity along i, on the western faces (inout)
            v: velocity along j, on the southern faces (inout)
            gravity: acceleration; waves run with sqrt(gravity h)
            rotation: Coriolis parameter
            dt: time step
            n_friction: how often friction works in one step
        """
        self._comm.halo_update([h, u, v], n_points=2)
        self._move_water(h, u, v, self._h_new, dt)
        h.data[:] = self._h_new.data[:]
        self._comm.halo_update(h, n_points=2)
        self._turn_and_press(h, u, v, self._vorticity, self._energy, gravity, rotation)
        self._move_winds(u, v, self._vorticity, self._energy, self._u_new, self._v_new, dt)
        for _ in range(n_friction):
            self._comm.halo_update([self._u_new, self._v_new], n_points=1)
            self._rub(self._u_new, u, dt * VISCOSITY)
            self._rub(self._v_new, v, dt * VISCOSITY)
            self._u_new.data[:] = u.data[:]
            self._v_new.data[:] = v.data[:]
        u.data[:] = self._u_new.data[:]
        v.data[:] = self._v_new.data[:]
