# @title Horizontal diffusion
# @stencil diffusion
# @domain 64 64 20
# @input q sum(bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.12), random(low=-0.1, high=0.1, seed=1))
# @input coeff linear(low=0, high=1, along=i)
# @scalar alpha = 0.025
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def diffusion(q: FloatField, coeff: FloatField, q_out: FloatField, alpha: Float):
    """Diffuse a field along i and j, one explicit step.

    Args:
        q: the field before the step (in)
        coeff: how strong the diffusion is, 0 to 1 (in)
        q_out: the field after the step (out)
        alpha: diffusivity times time step over the fourth power of the grid length
    """
    with computation(PARALLEL), interval(...):
        laplacian = q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q

        flux_i = laplacian[1, 0, 0] - laplacian
        flux_i = 0.0 if flux_i * (q[1, 0, 0] - q) > 0.0 else flux_i

        flux_j = laplacian[0, 1, 0] - laplacian
        flux_j = 0.0 if flux_j * (q[0, 1, 0] - q) > 0.0 else flux_j

        q_out = q - alpha * coeff * (flux_i - flux_i[-1, 0, 0] + flux_j - flux_j[0, -1, 0])
