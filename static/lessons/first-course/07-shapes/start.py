# @title Mass of a tracer in the column
# @stencil column_mass
# @domain 32 32 20
# @input q bell(low=0, high=0.01, at_i=0.4, at_j=0.5, at_k=0.6, width=0.2)
# @input dp linear(low=500, high=6000, along=k)
# @external unit = 1
# @plot mass

from ndsl.dsl.gt4py import FORWARD, compile_assert, computation, interval
from ndsl.dsl.typing import FloatField, FloatFieldIJ, FloatFieldK

GRAV = 9.80665  # m/s2


def column_mass(q: FloatField, dp: FloatFieldK, mass: FloatFieldIJ):
    """Mass of the tracer above each square metre.

    Args:
        q: kilograms of tracer in each kilogram of air (in)
        dp: pressure difference over each level, Pa (in)
        mass: kg/m2 where the external `unit` is 1, g/m2 where it is 1000 (out)
    """
    from __externals__ import unit

    with computation(FORWARD):
        with interval(0, 1):
            compile_assert(unit == 1)
            mass = q
        with interval(1, None):
            mass = mass + q
