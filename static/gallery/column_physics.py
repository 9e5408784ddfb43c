# @title Saturation adjustment and rain in a column
# @about Moist air that is supersaturated condenses until it is just saturated; the heat of condensation
# @about raises the saturation point meanwhile, so the balance is found by Newton's method at each point.
# @about Part of the cloud water becomes rain, which falls through the column and partly evaporates in drier air.
# @stencil column_physics
# @domain 64 64 40
# @input theta sum(linear(low=345, high=297, along=k), wave(low=-1, high=1, i=1, j=2))
# @input qv sum(product(linear(low=0, high=0.014, along=k), linear(low=0, high=1, along=k)), bell(low=0, high=0.011, at_i=0.4, at_j=0.5, at_k=0.66, width=0.19))
# @input qc constant(0)
# @input p_face linear(low=20000, high=100000, along=k)
# @scalar dt = 300
# @plot precip
# @plot cloud_top
# @plot qc k=20

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, exp, function, interval, log
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ, FloatFieldK

GRAV = 9.80665
RDGAS = 287.05
RVGAS = 461.50
CP_AIR = 1004.6
HLV = 2.5e6
KAPPA = RDGAS / CP_AIR
EPS = RDGAS / RVGAS
LCP = HLV / CP_AIR

P00 = 1.0e5  # reference pressure, Pa
E00 = 611.2  # saturation vapour pressure at the melting point, Pa
TICE = 273.15
ES_A = 17.67
ES_B = 29.65

STEP_TOLERANCE = 1.0e-3  # K
MAX_STEPS = 12

QC_CLOUD = 1.0e-6  # more than this is a cloud
QC_RAIN = 5.0e-4  # cloud water that stays in suspension
QC_HEAVY = 2.0e-3  # above it, drops collect each other
RAIN_RATE = 1.0e-3  # per second
EVAPORATION = 2.0e-4


@function
def saturation(temperature, pressure):
    """Saturation mixing ratio over water and its slope per kelvin (Bolton, 1980)."""
    es = E00 * exp(ES_A * (temperature - TICE) / (temperature - ES_B))
    qs = EPS * es / (pressure - es)
    slope = qs * pressure / (pressure - es) * ES_A * (TICE - ES_B) / (temperature - ES_B) ** 2
    return qs, slope


def column_physics(
    theta: FloatField,
    qv: FloatField,
    qc: FloatField,
    p_face: FloatFieldK,
    precip: FloatFieldIJ,
    cloud_top: FloatFieldIJ,
    dt: Float,
):
    """Condense, rain out and evaporate; k counts downward from the top of the atmosphere.

    Args:
        theta: potential temperature in K (inout)
        qv: mixing ratio of vapour in kg/kg (inout)
        qc: mixing ratio of cloud water in kg/kg (inout)
        p_face: pressure above each level in Pa, one more level than the domain has (in)
        precip: rain at the ground in kg/m2 (out)
        cloud_top: height of the highest cloud in m, 0 where there is none (out)
        dt: time step in seconds
    """
    with computation(PARALLEL), interval(...):
        # The logarithmic mean makes the layer hydrostatic.
        thickness = log(p_face[1] / p_face)
        pressure = (p_face[1] - p_face) / thickness
        exner = (pressure / P00) ** KAPPA
        t_before = theta * exner

        # Newton's method for t = t_before + LCP * (qv - qs(t)).
        t = t_before
        step = 1.0
        n = 0
        while abs(step) > STEP_TOLERANCE and n < MAX_STEPS:
            qs, slope = saturation(t, pressure)
            step = (t - t_before - LCP * (qv - qs)) / (1.0 + LCP * slope)
            t = t - step
            n += 1

        # No more can evaporate than there is.
        condensed = max((t - t_before) / LCP, -qc)
        t = t_before + LCP * condensed
        qv = qv - condensed
        qc = qc + condensed

    # Rain falls: `precip` is what leaves the level at hand.
    with computation(FORWARD):
        with interval(0, 1):
            precip = 0.0
        with interval(1, None):
            mass = (p_face[1] - p_face) / GRAV
            if qc > QC_HEAVY:
                rain = qc - QC_RAIN
            elif qc > QC_RAIN:
                rain = (qc - QC_RAIN) * (1.0 - exp(-RAIN_RATE * dt))
            else:
                rain = 0.0
            qc = qc - rain

            qs, slope = saturation(t, pressure)
            dryness = max(1.0 - qv / qs, 0.0)
            evaporated = min(EVAPORATION * dt * dryness * precip ** 0.525, precip)
            qv = qv + evaporated / mass
            t = t - LCP * evaporated / mass
            precip = precip + rain * mass - evaporated

    with computation(PARALLEL), interval(...):
        theta = t / exner

    # Heights add up from the ground.
    with computation(BACKWARD):
        with interval(-1, None):
            height = RDGAS / GRAV * t * thickness
            cloud_top = height if qc > QC_CLOUD else 0.0
        with interval(0, -1):
            height = height[0, 0, 1] + RDGAS / GRAV * t * thickness
            if qc > QC_CLOUD:
                cloud_top = height
