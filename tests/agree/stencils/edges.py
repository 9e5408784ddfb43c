"""What happens at the edges of a tile, and filters around a point."""
# @external order = 4

from ndsl.dsl.gt4py import FORWARD, PARALLEL, I, J, computation, function, horizontal, interval, region
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ


@function
def laplacian(q):
    return q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0] - 4.0 * q


@function
def copy_corner(q):
    return 0.5 * (q[1, 0, 0] + q[0, 1, 0])


def biharmonic(q: FloatField, out: FloatField, alpha: Float):
    with computation(PARALLEL), interval(...):
        out = q - alpha * 0.01 * laplacian(laplacian(q))


def limited_diffusion(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        lap = laplacian(q)
        flux_x = lap[1, 0, 0] - lap
        flux_x = 0.0 if flux_x * (q[1, 0, 0] - q) > 0.0 else flux_x
        flux_y = lap[0, 1, 0] - lap
        flux_y = 0.0 if flux_y * (q[0, 1, 0] - q) > 0.0 else flux_y
        out = q - 0.1 * (flux_x - flux_x[-1, 0, 0] + flux_y - flux_y[0, -1, 0])


def edge_values(q: FloatField, out: FloatField):
    from __externals__ import i_end, i_start, j_end, j_start

    with computation(PARALLEL), interval(...):
        out = q
        with horizontal(region[i_start, :], region[i_end, :]):
            out = 2.0 * q
        with horizontal(region[:, j_start], region[:, j_end]):
            out = 3.0 * q
        with horizontal(region[i_start, j_start]):
            out = q[1, 0, 0] + q[0, 1, 0]


def one_sided(q: FloatField, out: FloatField):
    from __externals__ import i_end, i_start

    with computation(PARALLEL), interval(...):
        face = 0.5 * (q[-1, 0, 0] + q)
        with horizontal(region[i_start, :]):
            face = 1.5 * q - 0.5 * q[1, 0, 0]
        with horizontal(region[i_end + 1, :]):
            face = 1.5 * q[-1, 0, 0] - 0.5 * q[-2, 0, 0]
        out = face[1, 0, 0] - face


def interior_only(q: FloatField, out: FloatField):
    from __externals__ import i_end, i_start, j_end, j_start

    with computation(PARALLEL), interval(...):
        out = 0.0
        with horizontal(region[i_start + 1 : i_end, j_start + 1 : j_end]):
            out = laplacian(q)


def by_literal_region(q: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = q
        with horizontal(region[I[0] : I[0] + 2, J[-1]]):
            if q > 1.0:
                out = -q


def edge_in_sweep(q: FloatField, out: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            out = q
        with interval(1, None):
            out = out[0, 0, -1] + q
            with horizontal(region[I[0], :]):
                out = out[0, 0, -1] * 0.5


def nine_points(q: FloatField, weight: FloatFieldIJ, out: FloatField):
    with computation(PARALLEL), interval(...):
        rows = q[-1, 0, 0] + 2.0 * q + q[1, 0, 0]
        out = weight * (rows[0, -1, 0] + 2.0 * rows + rows[0, 1, 0]) / 16.0


def chosen_order(q: FloatField, out: FloatField):
    from __externals__ import order

    with computation(PARALLEL), interval(...):
        if __INLINED(order >= 4):
            out = (7.0 * (q[-1, 0, 0] + q) - (q[-2, 0, 0] + q[1, 0, 0])) / 12.0
        else:
            out = 0.5 * (q[-1, 0, 0] + q)


def staged(q: FloatField, a: FloatField, b: FloatField):
    with computation(PARALLEL), interval(...):
        t0 = q[1, 0, 0] - q
        t1 = t0[0, 1, 0] + t0
        t2 = t1[-1, 0, 0] * t1
        a = t2
        b = t2[0, -1, 0] - t0


def plane_to_levels(plane: FloatFieldIJ, out: FloatField, smooth: FloatFieldIJ):
    with computation(FORWARD), interval(0, 1):
        smooth = 0.25 * (plane[1, 0] + plane[-1, 0] + plane[0, 1] + plane[0, -1])
    with computation(PARALLEL), interval(...):
        out = smooth + plane
