# @title Pressure at the cloud base
# @stencil cloud_base
# @domain 32 32 30
# @input qc product(wave(low=0, high=1, i=1, j=1), bell(low=0, high=0.001, at_k=0.6, width=0.12))
# @input p linear(low=10000, high=100000, along=k)
# @plot p_base

from ndsl.dsl.gt4py import FORWARD, computation, interval
from ndsl.dsl.typing import FloatField, FloatFieldIJ, IntFieldIJ

CLOUD = 1.0e-4  # kg/kg: more than this is a cloud


def cloud_base(qc: FloatField, p: FloatField, level: IntFieldIJ, p_base: FloatFieldIJ):
    """Find the lowest level with a cloud, and the pressure there; k counts downward.

    Args:
        qc: cloud water, kg/kg (in)
        p: pressure, Pa (in)
        level: the lowest cloudy level; -1 where the sky is clear (out)
        p_base: pressure there; 0 where the sky is clear (out)
    """
    with computation(FORWARD):
        with interval(0, 1):
            level = -1
            p_base = 0.0

    with computation(FORWARD), interval(...):
        if qc > CLOUD:
            level = 0

    with computation(FORWARD), interval(-1, None):
        p_base = p.at(K=level)
