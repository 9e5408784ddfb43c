# @title Saturation and fall
# @about Moist air that is lifted condenses; cloud water collects into rain; rain falls and is counted at the ground.
# @about Condensation is one step of the usual linearised adjustment, rain forms above a threshold (Kessler, 1969), and it falls
# @about by an implicit upwind sweep, which no time step can break. Vapour, cloud, rain and what lies on the ground have one
# @about sum: it stays the same, which the tests of this page hold.
# @stencil sedimentation
# @domain 48 48 40
# @input t sum(linear(low=225, high=295, along=k), bell(low=0, high=2, at_i=0.5, at_j=0.5, width=0.2))
# @input qv product(linear(low=0.0002, high=0.016, along=k), bell(low=0.6, high=1.25, at_i=0.5, at_j=0.5, width=0.2))
# @input qc constant(0)
# @input qr constant(0)
# @input p linear(low=20000, high=100000, along=k)
# @input dp constant(2000)
# @input ground constant(0)
# @scalar dt = 60 from 10 to 300
# @plot ground
# @plot qc k=25
# @plot qr k=30

from ndsl.dsl.gt4py import FORWARD, PARALLEL, computation, exp, interval
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ, FloatFieldK

GRAV = 9.80665  # m/s2
LCP = 2488.0  # latent heat of water over heat capacity of air, K
EPS = 0.622  # molar mass of water over that of air
THRESHOLD = 5.0e-4  # kg/kg: cloud water that stays
RATE = 1.0e-3  # 1/s: how fast the rest becomes rain
FALL = 12.0  # Pa/s for each (kg/kg)**(1/8): how fast rain falls


def sedimentation(
    t: FloatField,
    qv: FloatField,
    qc: FloatField,
    qr: FloatField,
    p: FloatFieldK,
    dp: FloatFieldK,
    ground: FloatFieldIJ,
    dt: Float,
):
    """Condense, collect and let fall, one step; k counts downward.

    Args:
        t: temperature, K (inout)
        qv: vapour, kg/kg (inout)
        qc: cloud water, kg/kg (inout)
        qr: rain, kg/kg (inout)
        p: pressure, Pa (in)
        dp: pressure difference over each level, Pa (in)
        ground: rain on the ground since the beginning, kg/m2 (inout)
        dt: time step, s
    """
    with computation(PARALLEL), interval(...):
        # Magnus' formula, and its slope.
        es = 610.78 * exp(17.27 * (t - 273.16) / (t - 35.86))
        qs = EPS * es / (p - es)
        slope = qs * 17.27 * (273.16 - 35.86) / (t - 35.86) ** 2
        # No more evaporates than there is.
        condensed = max((qv - qs) / (1.0 + LCP * slope), -qc)
        qv = qv - condensed
        qc = qc + condensed
        t = t + LCP * condensed

        collected = min(max(qc - THRESHOLD, 0.0) * RATE * dt, qc)
        qc = qc - collected
        qr = qr + collected
        # Pressure that rain falls through in a step.
        way = dt * FALL * max(qr, 0.0) ** 0.125

    # What leaves a level arrives in the next; new rain decides how much leaves, so it is never too much.
    with computation(FORWARD):
        with interval(0, 1):
            qr = qr * dp / (dp + way)
            leaving = qr * way
        with interval(1, None):
            qr = (qr * dp + leaving[0, 0, -1]) / (dp + way)
            leaving = qr * way
    with computation(FORWARD), interval(-1, None):
        ground = ground + leaving / GRAV
