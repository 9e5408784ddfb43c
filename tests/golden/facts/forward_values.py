"""A sweep sees what it has written at the levels behind it, and the old values before it."""

from ndsl.dsl.gt4py import BACKWARD, FORWARD, computation, interval
from ndsl.dsl.typing import FloatField


def forward_values(a: FloatField, b: FloatField, behind: FloatField, ahead: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            behind = a
            a = a + 1.0
        with interval(1, None):
            behind = a[0, 0, -1]
            a = a + 0.5 * behind
    with computation(FORWARD), interval(0, -1):
        ahead = b[0, 0, 1]
        b = b + ahead
    with computation(BACKWARD):
        with interval(-1, None):
            ahead = b
        with interval(0, -1):
            b = b - 0.25 * b[0, 0, 1]
            ahead = ahead + ahead[0, 0, 1] * b[0, 0, 1]
