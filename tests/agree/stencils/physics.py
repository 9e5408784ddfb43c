"""Point physics: thermodynamics, conversions, limiters, loops."""

from ndsl.dsl.gt4py import PARALLEL, computation, exp, function, interval, log, sin, sqrt, tanh
from ndsl.dsl.typing import BoolField, Float, FloatField, FloatField32, FloatField64, FloatFieldIJ, Int, IntField

TICE = 273.16
LATENT = 2.5e6
CP = 1004.6
EPSILON = 0.622


@function
def saturation_pressure(temperature):
    return 610.78 * exp(17.27 * (temperature - TICE) / (temperature - 35.86))


@function
def saturation_humidity(temperature, pressure):
    es = saturation_pressure(temperature)
    return EPSILON * es / (pressure - 0.378 * es)


@function
def clipped(value, low, high):
    return min(max(value, low), high)


@function
def split(value, part):
    return value * part, value * (1.0 - part)


def relative_humidity(temperature: FloatField, pressure: FloatField, qv: FloatField, rh: FloatField):
    with computation(PARALLEL), interval(...):
        rh = clipped(qv / saturation_humidity(temperature, pressure), 0.0, 1.2)


def condensation(temperature: FloatField, pressure: FloatField, qv: FloatField, qc: FloatField):
    with computation(PARALLEL), interval(...):
        excess = qv - saturation_humidity(temperature, pressure)
        if excess > 0.0:
            qc = qc + excess
            qv = qv - excess
            temperature = temperature + LATENT / CP * excess
        else:
            evaporated = min(qc, -excess)
            qc = qc - evaporated
            qv = qv + evaporated
            temperature = temperature - LATENT / CP * evaporated


def newton_root(target: FloatField, root: FloatField):
    with computation(PARALLEL), interval(...):
        guess = 1.0
        n = 0
        while n < 5:
            guess = 0.5 * (guess + target / guess)
            n = n + 1
        root = guess


def wet_bulb(temperature: FloatField, pressure: FloatField, qv: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        wet = temperature
        rest = 1.0
        n = 0
        while abs(rest) > 1e-3 and n < 8:
            rest = LATENT / CP * (saturation_humidity(temperature, pressure) - qv) * 0.1
            wet = wet - 0.3 * rest
            rest = rest * 0.25
            n = n + 1
        out = wet


def ice_fraction(temperature: FloatField, out: FloatField, frozen: BoolField):
    with computation(PARALLEL), interval(...):
        frozen = temperature < TICE
        if temperature > TICE:
            out = 0.0
        elif temperature < TICE - 40.0:
            out = 1.0
        else:
            out = (TICE - temperature) / 40.0


def exner(pressure: FloatField, theta: FloatField, temperature: FloatField, kappa: Float):
    with computation(PARALLEL), interval(...):
        temperature = theta * (pressure / 1.0e5) ** kappa


def mixed_precision(single: FloatField32, double: FloatField64, out: FloatField32, wide: FloatField64):
    with computation(PARALLEL), interval(...):
        wide = single * double + 0.1
        out = single * single - double


def categories(a: FloatField, kind: IntField, out: FloatField):
    with computation(PARALLEL), interval(...):
        level = 0
        if a > 0.5:
            level = 1
        if a > 1.0:
            level = 2
        kind = level
        out = a * level


def partition(a: FloatField, frac: FloatField, one: FloatField, other: FloatField):
    with computation(PARALLEL), interval(...):
        one, other = split(a, frac)


def soft_limit(a_signed: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = tanh(a_signed) + 0.1 * sin(3.0 * a_signed)


def cycles(index: IntField, out: IntField, rest: FloatField, a_signed: FloatField):
    with computation(PARALLEL), interval(...):
        out = (index * 7 + 3) % 5
        rest = a_signed % 0.75


def defaults(a: FloatField, out: FloatField, scale: Float = 1.5, n: Int = 3, on: bool = True):
    with computation(PARALLEL), interval(...):
        out = a * scale
        if on:
            out += n


def drag(u: FloatField, v: FloatField, rough_frac: FloatFieldIJ, out: FloatField):
    with computation(PARALLEL), interval(-1, None):
        speed = sqrt(u * u + v * v)
        out = rough_frac * speed * u
    with computation(PARALLEL), interval(0, -1):
        out = 0.0


def log_layer(z: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = log(1.0 + z) / 0.4
