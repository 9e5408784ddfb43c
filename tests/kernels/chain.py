# @title Transport in two directions, a chain of ten stages
# @about Finite-volume transport by fluxes of which each is computed from a field that was advanced in the other
# @about direction before, as FV3's `fv_tp_2d` does (Lin and Rood, 1996), with piecewise parabolas and no limiter:
# @about ten stages and an update, nearly all of which read the one before beside the point.
# @stencil chain
# @domain 128 128 80
# @input q sum(bell(low=1, high=2, at_i=0.4, at_j=0.5, width=0.1), random(low=-0.1, high=0.1, seed=1))
# @input crx random(low=-0.6, high=0.6, seed=2)
# @input cry random(low=-0.6, high=0.6, seed=3)
# @input area wave(low=0.9, high=1.1, i=1, j=1)

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import FloatField, FloatFieldIJ

# Weights of the near and of the far pair of cells in the value of a face.
P1 = 7.0 / 12.0
P2 = -1.0 / 12.0


@function
def edge_x(q: FloatField):
    """Value on the face between i - 1 and i."""
    return P1 * (q[-1, 0, 0] + q) + P2 * (q[-2, 0, 0] + q[1, 0, 0])


@function
def edge_y(q: FloatField):
    """Value on the face between j - 1 and j."""
    return P1 * (q[0, -1, 0] + q) + P2 * (q[0, -2, 0] + q[0, 1, 0])


@function
def flux_x(q: FloatField, al: FloatField, c: FloatField):
    """Mean of what crosses the western face, times the part of a cell that does."""
    bl = al - q
    br = al[1, 0, 0] - q
    if c > 0.0:
        mean = q[-1, 0, 0] + (1.0 - c) * (br[-1, 0, 0] - c * (bl[-1, 0, 0] + br[-1, 0, 0]))
    else:
        mean = q + (1.0 + c) * (bl + c * (bl + br))
    return c * mean


@function
def flux_y(q: FloatField, al: FloatField, c: FloatField):
    """The same for the southern face."""
    bl = al - q
    br = al[0, 1, 0] - q
    if c > 0.0:
        mean = q[0, -1, 0] + (1.0 - c) * (br[0, -1, 0] - c * (bl[0, -1, 0] + br[0, -1, 0]))
    else:
        mean = q + (1.0 + c) * (bl + c * (bl + br))
    return c * mean


def chain(q: FloatField, crx: FloatField, cry: FloatField, area: FloatFieldIJ, q_out: FloatField):
    """Transport a tracer along i and j, one step.

    Args:
        q: tracer before the step, with three halo points on each side (in)
        crx: part of a cell that crosses each western face (in)
        cry: part of a cell that crosses each southern face (in)
        area: of the cells (in)
        q_out: tracer after the step (out)
    """
    with computation(PARALLEL), interval(...):
        # Along j first, then what that leaves along i.
        al_y = edge_y(q)
        fy_inner = flux_y(q, al_y, cry)
        q_i = (q + fy_inner - fy_inner[0, 1, 0]) / (1.0 + cry - cry[0, 1, 0])
        al_qi = edge_x(q_i)
        fx_outer = flux_x(q_i, al_qi, crx)

        # The other way round.
        al_x = edge_x(q)
        fx_inner = flux_x(q, al_x, crx)
        q_j = (q + fx_inner - fx_inner[1, 0, 0]) / (1.0 + crx - crx[1, 0, 0])
        al_qj = edge_y(q_j)
        fy_outer = flux_y(q_j, al_qj, cry)

        # The mean of both is what is transported.
        fx = 0.5 * (fx_outer + fx_inner)
        fy = 0.5 * (fy_outer + fy_inner)
        q_out = q + (fx - fx[1, 0, 0] + fy - fy[0, 1, 0]) / area
