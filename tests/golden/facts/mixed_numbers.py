"""Operands go to the larger type, float32 above int64; a literal has the literal precision."""

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField32, FloatField64, IntField32, IntField64


def mixed_numbers(
    single: FloatField32,
    double: FloatField64,
    short: IntField32,
    long: IntField64,
    literal_times_single: FloatField64,
    long_plus_single: FloatField64,
    sum_of_all: FloatField64,
    truncated: IntField32,
    product_of_integers: IntField64,
):
    with computation(PARALLEL), interval(...):
        literal_times_single = single * 0.1
        long_plus_single = long + single
        sum_of_all = short + long * single + double
        truncated = double * 10.0
        product_of_integers = short * 3 + long
