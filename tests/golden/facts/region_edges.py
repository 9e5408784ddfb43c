"""Regions select points relative to the compute domain, on outputs and in the halo of temporaries."""

from ndsl.dsl.gt4py import PARALLEL, computation, horizontal, interval, region
from ndsl.dsl.typing import FloatField


def region_edges(a: FloatField, out: FloatField, through_halo: FloatField):
    from __externals__ import i_end, i_start, j_end, j_start

    with computation(PARALLEL), interval(...):
        out = a
        # One column outside the domain: nothing is written there.
        with horizontal(region[i_start - 1, :], region[i_start, j_start:j_end]):
            out = -a
        # A point in two regions runs the body twice.
        with horizontal(region[i_end, :], region[:, j_end], region[i_end - 1 :, j_end]):
            out = out + 10.0

        edge = 2.0 * a
        # This halo column is there, because the next computation reads it.
        with horizontal(region[i_start - 1, :], region[i_end + 1, :]):
            edge = 100.0
        with horizontal(region[:, : j_start + 1], region[:, j_end + 1 :]):
            edge = edge + 1000.0
    with computation(PARALLEL), interval(...):
        through_halo = edge[-1, 0, 0] + edge[1, 0, 0] + edge[0, -1, 0] + edge[0, 1, 0]
