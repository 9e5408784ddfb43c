# @title Diffusion by fluxes
# @stencil diffuse
# @domain 48 48 16
# @input q sum(bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.15), checker(low=0, high=0.1, cells=16))
# @input kappa linear(low=0.02, high=0.2, along=i)
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import FloatField


def diffuse(q: FloatField, kappa: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        q_out = q + (
            0.5 * (kappa + kappa[1, 0, 0]) * (q[1, 0, 0] - q)
            - 0.5 * (kappa[-1, 0, 0] + kappa) * (q - q[-1, 0, 0])
            + 0.5 * (kappa + kappa[0, 1, 0]) * (q[0, 1, 0] - q)
            - 0.5 * (kappa[0, -1, 0] + kappa) * (q - q[0, -1, 0])
        )
