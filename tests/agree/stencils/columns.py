"""Recurrences along the column: solvers, integrals, searches."""

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, exp, function, interval, log, sqrt
from ndsl.dsl.typing import BoolFieldIJ, Float, FloatField, FloatFieldIJ, FloatFieldK, IntField, IntFieldIJ


def thomas(a: FloatField, b: FloatField, c: FloatField, d: FloatField, x: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            cp = c / (b + 2.0)
            dp = d / (b + 2.0)
        with interval(1, None):
            m = 1.0 / (b + 2.0 - 0.25 * a * cp[0, 0, -1])
            cp = 0.25 * c * m
            dp = (d - 0.25 * a * dp[0, 0, -1]) * m
    with computation(BACKWARD):
        with interval(-1, None):
            x = dp
        with interval(0, -1):
            x = dp - cp * x[0, 0, 1]


def hydrostatic(temperature: FloatField, delp: FloatField, pe: FloatField, gz: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            pe = 100.0
        with interval(1, None):
            pe = pe[0, 0, -1] + delp[0, 0, -1]
    with computation(BACKWARD):
        with interval(-1, None):
            gz = 0.0
        with interval(0, -1):
            gz = gz[0, 0, 1] + 287.05 * temperature * log(pe[0, 0, 1] / pe)


def integrate_up_and_down(a: FloatField, up: FloatField, down: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            up = a
        with interval(1, None):
            up = up[0, 0, -1] + a
    with computation(BACKWARD):
        with interval(-1, None):
            down = a
        with interval(0, -1):
            down = down[0, 0, 1] + a


def highest_cloud(cloud_frac: FloatField, top: FloatFieldIJ, found: BoolFieldIJ):
    with computation(FORWARD):
        with interval(0, 1):
            top = -1.0
            found = False
    with computation(FORWARD), interval(...):
        if cloud_frac > 0.5 and not found:
            top = cloud_frac
            found = True


def count_levels(a: FloatField, number: IntFieldIJ, running: IntField):
    with computation(FORWARD):
        with interval(0, 1):
            number = 0
    with computation(FORWARD), interval(...):
        if a > 1.0:
            number = number + 1
        running = number


def fill_negative(q_signed: FloatField, delp: FloatField, out: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            short = 0.0
        with interval(1, None):
            short = short[0, 0, -1]
            if q_signed < 0.0:
                short = short - q_signed * delp
    with computation(BACKWARD), interval(...):
        out = q_signed if q_signed > 0.0 else 0.0
        out = out - short / (delp + 1000.0)


def smooth_column(a: FloatField, out: FloatField):
    with computation(PARALLEL):
        with interval(0, 1):
            out = 0.75 * a + 0.25 * a[0, 0, 1]
        with interval(1, -1):
            out = 0.25 * a[0, 0, -1] + 0.5 * a + 0.25 * a[0, 0, 1]
        with interval(-1, None):
            out = 0.75 * a + 0.25 * a[0, 0, -1]


def remap_weights(pe: FloatField, ak: FloatFieldK, bk: FloatFieldK, surface: FloatFieldIJ, out: FloatField):
    with computation(PARALLEL), interval(...):
        reference = ak + bk * surface
        out = (pe - reference) / (pe + reference)


def rayleigh_friction(u: FloatField, v: FloatField, profile: FloatFieldK, dt: Float):
    with computation(PARALLEL), interval(0, 3):
        rate = dt * profile
        u = u / (1.0 + rate)
        v = v / (1.0 + rate)


def sponge(w: FloatField, delz: FloatField, out: FloatField):
    with computation(FORWARD), interval(0, 1):
        out = w * 0.5
    with computation(FORWARD), interval(1, 2):
        out = 0.5 * (w + out[0, 0, -1])
    with computation(PARALLEL), interval(2, None):
        out = w - delz * 1e-3


def two_stream(optical_frac: FloatField, down: FloatField, up: FloatField, albedo_frac: FloatFieldIJ):
    with computation(FORWARD):
        with interval(0, 1):
            down = exp(-optical_frac)
        with interval(1, None):
            down = down[0, 0, -1] * exp(-optical_frac)
    with computation(BACKWARD):
        with interval(-1, None):
            up = albedo_frac * down
        with interval(0, -1):
            up = up[0, 0, 1] * exp(-1.66 * optical_frac)


def monotone_profile(q: FloatField, low: FloatField, high: FloatField):
    with computation(FORWARD):
        with interval(0, 1):
            low = q
            high = q
        with interval(1, None):
            low = min(low[0, 0, -1], q)
            high = max(high[0, 0, -1], q)


def sound_speed(temperature: FloatField, dz: FloatField, cfl: FloatField, dt: Float):
    with computation(PARALLEL), interval(...):
        speed = sqrt(1.4 * 287.05 * temperature)
        cfl = dt * speed / dz
