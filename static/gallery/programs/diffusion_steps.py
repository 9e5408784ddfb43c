# @title Diffusion in small steps
# @about Two stencils and a loop: a class of the text is the program, and each of its calls is one line of the level `program`.
# @about Halos are exchanged before each small step, so what leaves in the east comes back in the west.
# @about More small steps carry heat further in one call, and each stays stable.
# @stencil Diffusion
# @domain 64 64 8
# @halo periodic
# @input q sum(bell(low=0, high=1, at_i=0.3, at_j=0.4, width=0.08), wave(low=-0.1, high=0.1, i=6, j=6))
# @scalar alpha = 0.2 from 0 to 0.25
# @scalar n_small = 4 from 1 to 12
# @plot q k=2

from ndsl import QuantityFactory, StencilFactory
from ndsl.constants import X_DIM, Y_DIM, Z_DIM
from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def laplacian(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q


def apply(q: FloatField, tendency: FloatField, alpha: Float):
    with computation(PARALLEL), interval(...):
        q = q + alpha * tendency


class Diffusion:
    """Diffuse a field along i and j in several explicit steps."""

    def __init__(self, stencil_factory: StencilFactory, quantity_factory: QuantityFactory, comm):
        dims = [X_DIM, Y_DIM, Z_DIM]
        self._comm = comm
        self._laplacian = stencil_factory.from_dims_halo(laplacian, compute_dims=dims)
        self._apply = stencil_factory.from_dims_halo(apply, compute_dims=dims)
        self._tendency = quantity_factory.zeros(dims, units="")

    def __call__(self, q: FloatField, alpha: Float, n_small: int):
        """Take `n_small` steps.

        Args:
            q: the field, in place (inout)
            alpha: diffusivity times the small time step over the square of the grid length; stable to 1/4
            n_small: how many small steps one call takes
        """
        for _ in range(n_small):
            self._comm.halo_update(q, n_points=1)
            self._laplacian(q, self._tendency)
            self._apply(q, self._tendency, alpha)
