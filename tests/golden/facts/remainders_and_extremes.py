"""Remainders have the sign of the divisor; ties round to even."""

from ndsl.dsl.gt4py import PARALLEL, ceil, computation, floor, interval, mod, round, sqrt, trunc
from ndsl.dsl.typing import FloatField, IntField


def remainders_and_extremes(
    a: FloatField,
    b: FloatField,
    m: IntField,
    n: IntField,
    remainder: FloatField,
    extremes: FloatField,
    rounded: FloatField,
    whole: IntField,
    root: FloatField,
):
    with computation(PARALLEL), interval(...):
        remainder = a % b + mod(b, 0.75)
        extremes = min(a, b) * 3.0 - max(a, max(b, 0.25)) + abs(a)
        rounded = round(2.0 * a) + 10.0 * floor(b) + 100.0 * ceil(a) + 1000.0 * trunc(b)
        whole = m % n + 100 * min(m, n) + 10000 * abs(m)
        root = sqrt(abs(a)) / sqrt(1.0 + b * b)
