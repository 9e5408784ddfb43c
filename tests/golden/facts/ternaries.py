"""A ternary is an expression: it may be an operand, and stand within another."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField


def ternaries(a: FloatField, b: FloatField, out: FloatField, nested: FloatField, limit: Float):
    with computation(PARALLEL), interval(...):
        out = b * (a if a > limit else -a) + (1.0 if a[1, 0, 0] > b else 2.0)
        nested = a if a > 1.0 else b if b > a else -(a if limit > 0.0 else b)
