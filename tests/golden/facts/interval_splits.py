"""Bounds count from the first level, or from the end where they are negative."""

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField

LAYERS = 2


def interval_splits(a: FloatField, parts: FloatField, sweep: FloatField, gaps: FloatField):
    with computation(PARALLEL):
        with interval(0, LAYERS):
            parts = 1.0 * a
        with interval(LAYERS, -2):
            parts = 2.0 * a[0, 0, -2] + a[0, 0, 2]
        with interval(-2, None):
            parts = 3.0 * a[0, 0, -1]
    with computation(BACKWARD):
        with interval(-1, None):
            sweep = a
        with interval(-3, -1):
            sweep = sweep[0, 0, 1] - a
        with interval(0, -3):
            sweep = sweep[0, 0, 1] * 0.5 + a[0, 0, 2]
    with computation(PARALLEL), interval(3):
        gaps = a[0, 0, 1]
    with computation(FORWARD), interval(-3, -1):
        gaps = a[0, 0, -1] + gaps
