# @title A NaN hunt
# @about Wrong on purpose: the frequency of waves in stratified air is the root of a stability that is negative where warm air
# @about lies below cold. Its root is NaN, and the mixing after it carries the NaN to the neighbours.
# @about Look where it is hatched, count the cells under the picture, and find the statement where it begins. The remedy: air that
# @about is not stable has no such waves, so `sqrt(max(stability, 0.0))`.
# @stencil nan_hunt
# @domain 48 48 20
# @input theta sum(linear(low=330, high=290, along=k), bell(low=0, high=12, at_i=0.6, at_j=0.4, at_k=0.75, width=0.1))
# @scalar dz = 500
# @plot mixed k=14

from ndsl.dsl.gt4py import PARALLEL, computation, interval, sqrt
from ndsl.dsl.typing import Float, FloatField

GRAV = 9.80665  # m/s2


def nan_hunt(theta: FloatField, frequency: FloatField, mixed: FloatField, dz: Float):
    """Buoyancy frequency, and its mean over the neighbours; k counts downward.

    Args:
        theta: potential temperature, K (in)
        frequency: of waves in stratified air, 1/s (out)
        mixed: mean of the point and its four neighbours (out)
        dz: thickness of a level, m
    """
    with computation(PARALLEL):
        with interval(0, 1):
            stability = 0.0
        with interval(1, None):
            stability = GRAV / theta * (theta[0, 0, -1] - theta) / dz
    with computation(PARALLEL), interval(...):
        n = sqrt(stability)
        mixed = 0.2 * (n + n[1, 0, 0] + n[-1, 0, 0] + n[0, 1, 0] + n[0, -1, 0])
        frequency = n
