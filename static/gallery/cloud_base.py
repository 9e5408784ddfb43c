# @title Pressure at the cloud base
# @about Where does the cloud begin? Each column has another answer, known at run time only.
# @about A sweep from the top down remembers the last cloudy level that it meets, and the pressure is read there, by an
# @about absolute index. Where the sky is clear there is no such level, and nothing may be read.
# @stencil cloud_base
# @domain 64 64 40
# @input qc product(wave(low=-0.4, high=1, i=1, j=1), sum(bell(low=0, high=0.001, at_k=0.45, width=0.08), bell(low=0, high=0.0012, at_i=0.6, at_j=0.4, at_k=0.7, width=0.2)))
# @input p linear(low=10000, high=100000, along=k)
# @plot p_base

from ndsl.dsl.gt4py import FORWARD, K, computation, interval
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
            level = K

    with computation(FORWARD), interval(-1, None):
        if level >= 0:
            p_base = p.at(K=level)
