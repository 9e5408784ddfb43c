"""A condition is evaluated once: a branch may overwrite what it depends on."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def conditions(a: FloatField, b: FloatField, kind: FloatField):
    with computation(PARALLEL), interval(...):
        if a > 0.0:
            a = -a
            b = a
        else:
            b = 5.0

        kind = 0.0
        if b > 1.0 and a < 0.0:
            kind = 1.0
            if a < -1.0 or b == 5.0:
                kind += 0.5
        elif b < -1.0:
            kind = 2.0
        elif not b >= -0.5:
            kind = 3.0
            b = 9.0
        else:
            kind -= b
