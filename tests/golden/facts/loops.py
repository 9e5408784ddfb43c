"""A `while` runs at each point on its own, and asks its condition anew before each turn."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import Float, FloatField, IntField


def loops(a: FloatField, root: FloatField, turns: IntField, tolerance: Float):
    with computation(PARALLEL), interval(...):
        # Heron's method.
        guess = 1.0
        n = 0
        change = guess
        while abs(change) > tolerance and n < 20:
            better = 0.5 * (guess + a / guess)
            change = better - guess
            guess = better
            n += 1
        root = guess
        turns = n
