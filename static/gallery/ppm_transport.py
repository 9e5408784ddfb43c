# @title Transport along i with piecewise parabolas
# @about Finite-volume transport of a tracer by the piecewise parabolic method (Colella and Woodward, 1984):
# @about values on the faces, a parabola in each cell, a limiter, and the part of the parabola that crosses the face.
# @about At the two edges of a tile the grid has a kink, so faces there are extrapolated from each side.
# @stencil ppm_transport
# @domain 64 64 40
# @input q sum(bell(low=0, high=1, at_i=0.4, at_j=0.5, width=0.1), bell(low=0, high=0.6, at_i=1, at_j=0.25, width=0.08))
# @input courant wave(low=-0.7, high=0.7, j=1)
# @input dx wave(low=0.9, high=1.1, i=1)
# @external i_start = I[0]
# @external i_end = I[-1]
# @external iord = 3
# @plot q_change k=10

from ndsl.dsl.gt4py import (
    PARALLEL,
    compile_assert,
    computation,
    function,
    horizontal,
    interval,
    region,
)
from ndsl.dsl.typing import FloatField, FloatFieldIJ

# Weights of the near and of the far pair of cells in a fourth-order face value.
NEAR = 7.0 / 12.0
FAR = -1.0 / 12.0

# Weights for the face next to a tile edge: far, middle and edge-side cell (Putman and Lin, 2007).
C1 = -2.0 / 14.0
C2 = 11.0 / 14.0
C3 = 5.0 / 14.0

# How much steeper one side of a parabola may be than the other.
STEEPEST = 2.0


@function
def interior_face(q: FloatField):
    """Value on the face between i - 1 and i, from two cells on each side."""
    return NEAR * (q[-1, 0, 0] + q) + FAR * (q[-2, 0, 0] + q[1, 0, 0])


@function
def extrapolated(near, far, dx_near, dx_far):
    """Value on a face from the two cells on one side of it."""
    return ((2.0 * dx_near + dx_far) * near - dx_near * far) / (dx_near + dx_far)


@function
def face_values(q: FloatField, dx: FloatFieldIJ):
    """Values on the western faces of all cells, one-sided where the tile ends."""
    from __externals__ import i_end, i_start

    face = interior_face(q)
    with horizontal(region[i_start - 1, :], region[i_end, :]):
        face = C1 * q[-2, 0, 0] + C2 * q[-1, 0, 0] + C3 * q
    with horizontal(region[i_start, :], region[i_end + 1, :]):
        west = extrapolated(q[-1, 0, 0], q[-2, 0, 0], dx[-1, 0], dx[-2, 0])
        east = extrapolated(q, q[1, 0, 0], dx, dx[1, 0])
        face = 0.5 * (west + east)
    with horizontal(region[i_start + 1, :], region[i_end + 2, :]):
        face = C3 * q[-1, 0, 0] + C2 * q + C1 * q[1, 0, 0]
    return face


@function
def between(value, one, other):
    """The value, or the nearer of two bounds where it lies outside of them."""
    return max(min(one, other), min(value, max(one, other)))


@function
def monotone(left, right):
    """Limit a parabola, given by its two ends less the mean of the cell."""
    if left * right >= 0.0:
        # The cell is an extremum: keep it flat.
        low = 0.0
        high = 0.0
    elif abs(left) > STEEPEST * abs(right):
        low = -STEEPEST * right
        high = right
    elif abs(right) > STEEPEST * abs(left):
        low = left
        high = -STEEPEST * left
    else:
        low = left
        high = right
    return low, high


@function
def parabola(q: FloatField, dx: FloatFieldIJ):
    """Both ends of the parabola in each cell, less the mean of the cell."""
    from __externals__ import iord

    face = face_values(q, dx)
    if __INLINED(iord >= 3):
        face = between(face, q[-1, 0, 0], q)
    left, right = face - q, face[1, 0, 0] - q
    if __INLINED(iord >= 3):
        left, right = monotone(left, right)
    return left, right


@function
def upwind_mean(q: FloatField, left, right, courant):
    """Mean of what crosses the western face during the step."""
    curvature = left + right
    if courant > 0.0:
        mean = q[-1, 0, 0] + (1.0 - courant) * (right[-1, 0, 0] - courant * curvature[-1, 0, 0])
    else:
        mean = q + (1.0 + courant) * (left + courant * curvature)
    return mean


def ppm_transport(
    q: FloatField,
    courant: FloatField,
    dx: FloatFieldIJ,
    q_out: FloatField,
    q_change: FloatField,
):
    """Transport a tracer along i, one step.

    Args:
        q: tracer before the step, with three halo points along i (in)
        courant: part of the upwind cell that crosses each western face (in)
        dx: width of the cells (in)
        q_out: tracer after the step (out)
        q_change: what the step added (out)
    """
    from __externals__ import iord

    with computation(PARALLEL), interval(...):
        compile_assert(1 <= iord <= 3)
        if __INLINED(iord == 1):
            carried = q[-1, 0, 0] if courant > 0.0 else q
        else:
            left, right = parabola(q, dx)
            carried = upwind_mean(q, left, right, courant)
        flux = courant * (dx[-1, 0] if courant > 0.0 else dx) * carried
    with computation(PARALLEL), interval(...):
        q_change = (flux - flux[1, 0, 0]) / dx
        q_out = q + q_change
