"""`**` and the functions that no two libraries round alike."""

from ndsl.dsl.gt4py import PARALLEL, computation, exp, interval, log
from ndsl.dsl.typing import Float, FloatField, IntField


def powers(
    a: FloatField,
    n: IntField,
    square: FloatField,
    fraction: FloatField,
    inverse: FloatField,
    whole: IntField,
    exponential: FloatField,
    logarithm: FloatField,
    exponent: Float,
):
    with computation(PARALLEL), interval(...):
        square = -(a**2)
        fraction = a**exponent
        inverse = a**-1.5
        whole = n**3
        exponential = exp(-a)
        logarithm = log(a)
