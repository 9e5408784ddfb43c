"""A field with K alone is the same in every column, and has one offset."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField, FloatFieldIJ, FloatFieldK


def level_profiles(
    a: FloatField, face: FloatFieldK, plane: FloatFieldIJ, thickness: FloatField, out: FloatField
):
    with computation(PARALLEL), interval(...):
        thickness = face[1] - face
        out = (a + plane) * thickness
    with computation(PARALLEL), interval(1, None):
        out = out + face[-1] * plane[-1, 0]
