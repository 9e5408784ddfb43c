# @title Tridiagonal systems
# @about One system in each column, solved by elimination downward and substitution upward (Thomas).
# @about The matrix is given by its three diagonals, and stays as it is.
# @stencil tridiagonal
# @domain 128 128 80
# @input lower random(low=-1, high=-0.5, seed=1)
# @input diagonal random(low=3, high=4, seed=2)
# @input upper random(low=-1, high=-0.5, seed=3)
# @input rhs random(low=-1, high=1, seed=4)

from ndsl.dsl.gt4py import BACKWARD, FORWARD, computation, interval
from ndsl.dsl.typing import FloatField


def tridiagonal(
    lower: FloatField,
    diagonal: FloatField,
    upper: FloatField,
    rhs: FloatField,
    x: FloatField,
):
    with computation(FORWARD):
        with interval(0, 1):
            ratio = upper / diagonal
            value = rhs / diagonal
        with interval(1, None):
            pivot = diagonal - lower * ratio[0, 0, -1]
            ratio = upper / pivot
            value = (rhs - lower * value[0, 0, -1]) / pivot
    with computation(BACKWARD):
        with interval(-1, None):
            x = value
        with interval(0, -1):
            x = value - ratio * x[0, 0, 1]
