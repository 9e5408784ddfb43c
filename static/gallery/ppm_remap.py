# @title Vertical remap with parabolas
# @about Models with levels that move with the air put their fields back onto fixed levels now and then (Lin, 2004).
# @about Each level holds a limited parabola (Colella and Woodward, 1984). Where a face has moved, the part of the parabola between
# @about its old and its new place goes from one level to the next. So the mass of each column stays the same to the last digits.
# @stencil ppm_remap
# @domain 48 48 40
# @input q sum(checker(low=0, high=0.2, cells=6), bell(low=0, high=1, at_i=0.5, at_k=0.45, width=0.12))
# @input dp constant(2500)
# @input moved product(bell(low=0, high=1200, at_k=0.5, width=0.2), wave(low=-1, high=1, i=1, j=1))
# @plot q_out k=18

from ndsl.dsl.gt4py import PARALLEL, computation, function, interval
from ndsl.dsl.typing import FloatField


@function
def between(value, one, other):
    """The value, or the nearer of two bounds where it lies outside of them."""
    return max(min(one, other), min(value, max(one, other)))


@function
def lower_part(q, upper, lower, part):
    """Mean of the lowest `part` of a level; `upper` and `lower` are the ends of its parabola less q."""
    curvature = upper + lower
    return q + lower - part * (0.5 * (lower - upper) + curvature * (1.5 - part))


@function
def upper_part(q, upper, lower, part):
    """Mean of the highest `part` of a level."""
    curvature = upper + lower
    return q + upper - part * (0.5 * (upper - lower) + curvature * (1.5 - part))


def ppm_remap(q: FloatField, dp: FloatField, moved: FloatField, q_out: FloatField, dp_out: FloatField):
    """Remap a field to levels whose faces lie elsewhere; k counts downward.

    Args:
        q: mean of each level (in)
        dp: thickness of each level, Pa (in)
        moved: how far the upper face of each level goes down, less than the levels are thick, Pa (in)
        q_out: mean of each new level (out)
        dp_out: thickness of each new level, Pa (out)
    """
    # Values on the upper faces: fourth order inside, second order next to the ends.
    with computation(PARALLEL):
        with interval(0, 1):
            face = q
        with interval(1, 2):
            face = 0.5 * (q[0, 0, -1] + q)
        with interval(2, -1):
            face = (7.0 * (q[0, 0, -1] + q) - (q[0, 0, -2] + q[0, 0, 1])) / 12.0
            face = between(face, q[0, 0, -1], q)
        with interval(-1, None):
            face = 0.5 * (q[0, 0, -1] + q)

    # The ends of the parabolas, limited: flat in an extremum, and not steeper than twice the other side.
    with computation(PARALLEL):
        with interval(0, -1):
            upper = face - q
            lower = face[0, 0, 1] - q
        with interval(-1, None):
            upper = face - q
            lower = 0.0
    with computation(PARALLEL), interval(...):
        if upper * lower >= 0.0:
            upper = 0.0
            lower = 0.0
        elif abs(upper) > 2.0 * abs(lower):
            upper = -2.0 * lower
        elif abs(lower) > 2.0 * abs(upper):
            lower = -2.0 * upper

    # What goes up through each face, from the level beneath; what goes down counts negative.
    with computation(PARALLEL):
        with interval(0, 1):
            going_up = 0.0
            way = 0.0
        with interval(1, None):
            way = moved
            if moved > 0.0:
                going_up = moved * upper_part(q, upper, lower, moved / dp)
            else:
                going_up = moved * lower_part(
                    q[0, 0, -1], upper[0, 0, -1], lower[0, 0, -1], -moved / dp[0, 0, -1]
                )
    with computation(PARALLEL):
        with interval(0, -1):
            dp_out = dp + way[0, 0, 1] - way
            q_out = (q * dp + going_up[0, 0, 1] - going_up) / (dp + way[0, 0, 1] - way)
        with interval(-1, None):
            dp_out = dp - way
            q_out = (q * dp - going_up) / (dp - way)
