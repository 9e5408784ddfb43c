# @title Implicit vertical advection
# @about Thin layers would force a tiny time step on explicit vertical advection, so models solve it implicitly.
# @about Each column is a tridiagonal system: the Thomas algorithm eliminates from the first level to the last,
# @about then substitutes back. Columns are independent, levels are not.
# @stencil vertical_advection
# @domain 64 64 40
# @input u sum(linear(low=0, high=20, along=k), bell(low=0, high=15, at_k=0.4, width=0.15))
# @input w wave(low=-4, high=4, i=1, j=2)
# @input u_tendency constant(0.001)
# @input rdz linear(low=0.002, high=0.01, along=k)
# @scalar dt = 60
# @plot u_new k=20

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField, FloatFieldK

# Weight of the new time level; one half is the trapezoidal rule, a little more damps.
OFF_CENTRING = 0.1
IMPLICIT = 0.5 * (1.0 + OFF_CENTRING)
EXPLICIT = 1.0 - IMPLICIT


def vertical_advection(
    u: FloatField,
    w: FloatField,
    u_tendency: FloatField,
    rdz: FloatFieldK,
    u_new: FloatField,
    dt: Float,
):
    """Advance a wind component by vertical advection, implicitly.

    Args:
        u: wind on the western faces of the cells (in)
        w: vertical wind toward larger k, on the face between k - 1 and k (in)
        u_tendency: what everything else does to the wind, per second (in)
        rdz: one over the distance between level k - 1 and level k (in)
        u_new: wind after the step (out)
        dt: time step in seconds
    """
    # Courant number on the upper face of each cell of u.
    with computation(PARALLEL), interval(1, None):
        courant = 0.5 * dt * rdz * 0.5 * (w[-1, 0, 0] + w)

    # Elimination: `upper` and `rhs` are what is left of each row.
    with computation(FORWARD):
        with interval(0, 1):
            above = courant[0, 0, 1]
            diagonal = 1.0 - IMPLICIT * above
            rhs = u + dt * u_tendency - EXPLICIT * above * (u[0, 0, 1] - u)
            upper = IMPLICIT * above / diagonal
            rhs = rhs / diagonal
        with interval(1, -1):
            below = courant
            above = courant[0, 0, 1]
            lower = -IMPLICIT * below
            diagonal = 1.0 + IMPLICIT * (below - above) - lower * upper[0, 0, -1]
            rhs = (
                u
                + dt * u_tendency
                - EXPLICIT * (below * (u - u[0, 0, -1]) + above * (u[0, 0, 1] - u))
            )
            upper = IMPLICIT * above / diagonal
            rhs = (rhs - lower * rhs[0, 0, -1]) / diagonal
        with interval(-1, None):
            below = courant
            lower = -IMPLICIT * below
            diagonal = 1.0 + IMPLICIT * below - lower * upper[0, 0, -1]
            rhs = u + dt * u_tendency - EXPLICIT * below * (u - u[0, 0, -1])
            rhs = (rhs - lower * rhs[0, 0, -1]) / diagonal

    # Back substitution.
    with computation(BACKWARD):
        with interval(-1, None):
            solution = rhs
            u_new = solution
        with interval(0, -1):
            solution = rhs - upper * solution[0, 0, 1]
            u_new = solution
