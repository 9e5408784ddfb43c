# @title Diffusion by fluxes
# @stencil diffuse
# @domain 48 48 16
# @input q sum(bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.15), checker(low=0, high=0.1, cells=16))
# @input kappa linear(low=0.02, high=0.2, along=i)
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import FloatField


@function
def mean(one, other):
    return 0.5 * (one + other)


def diffuse(q: FloatField, kappa: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        flux_i = mean(kappa, kappa[1, 0, 0]) * (q[1, 0, 0] - q)
        flux_j = mean(kappa, kappa[0, 1, 0]) * (q[0, 1, 0] - q)
        q_out = q + (flux_i - flux_i[-1, 0, 0] + flux_j - flux_j[0, -1, 0])
