# @title Waves on a rotating layer of water
# @about A mound of water collapses. Without rotation all of it leaves as waves, as from a stone in a pond.
# @about With rotation the flow turns until it runs around the mound, and part of it stays: geostrophic adjustment (Rossby, 1938).
# @about Move f and watch: the waves keep away from what is wider than the radius of Rossby, sqrt(g depth) / f.
# @stencil geostrophic_adjustment
# @domain 96 96 1
# @input h bell(low=0, high=10, at_i=0.5, at_j=0.5, width=0.06)
# @input u constant(0)
# @input v constant(0)
# @scalar f = 0.0001 from 0 to 0.0004
# @scalar depth = 1000 from 200 to 2000
# @scalar dt = 300 from 50 to 400
# @plot h_out
# @step h = h_out periodic
# @step u = u_out periodic
# @step v = v_out periodic

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField

GRAV = 9.81  # m/s2
DX = 100.0e3  # m


def geostrophic_adjustment(
    h: FloatField,
    u: FloatField,
    v: FloatField,
    h_out: FloatField,
    u_out: FloatField,
    v_out: FloatField,
    f: Float,
    depth: Float,
    dt: Float,
):
    """Take one step of the linear shallow water equations on a C grid.

    Args:
        h: height above the layer at rest (m) (in)
        u: wind along i, on the western faces (m/s) (in)
        v: wind along j, on the southern faces (m/s) (in)
        h_out: height after the step (m) (out)
        u_out: wind along i after the step (m/s) (out)
        v_out: wind along j after the step (m/s) (out)
        f: Coriolis parameter (1/s)
        depth: depth of the layer at rest (m)
        dt: time step (s)
    """
    with computation(PARALLEL), interval(...):
        v_at_u = 0.25 * (v + v[-1, 0, 0] + v[0, 1, 0] + v[-1, 1, 0])
        u_new = u + dt * (f * v_at_u - GRAV * (h - h[-1, 0, 0]) / DX)

        u_at_v = 0.25 * (u_new + u_new[1, 0, 0] + u_new[0, -1, 0] + u_new[1, -1, 0])
        v_new = v - dt * (f * u_at_v + GRAV * (h - h[0, -1, 0]) / DX)

        divergence = (u_new[1, 0, 0] - u_new + v_new[0, 1, 0] - v_new) / DX
        h_out = h - dt * depth * divergence
        u_out = u_new
        v_out = v_new
