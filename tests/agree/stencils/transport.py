"""Fluxes and tendencies as transport schemes have them."""

from ndsl.dsl.gt4py import BACKWARD, FORWARD, PARALLEL, computation, function, interval
from ndsl.dsl.typing import Float, FloatField, FloatFieldIJ, FloatFieldK


@function
def average_x(q):
    return 0.5 * (q[-1, 0, 0] + q)


@function
def average_y(q):
    return 0.5 * (q[0, -1, 0] + q)


@function
def upwind(courant, q):
    return q[-1, 0, 0] if courant > 0.0 else q


@function
def slope(q):
    """Limited so that no new extrema arise."""
    left = q - q[-1, 0, 0]
    right = q[1, 0, 0] - q
    mean = 0.5 * (left + right)
    steepest = 2.0 * min(abs(left), abs(right))
    limited = min(abs(mean), steepest)
    sign = 1.0 if mean > 0.0 else -1.0
    return sign * limited if left * right > 0.0 else 0.0


def donor_cell(q: FloatField, courant_signed: FloatField, q_new: FloatField):
    with computation(PARALLEL), interval(...):
        flux = courant_signed * upwind(courant_signed, q)
        q_new = q + flux - flux[1, 0, 0]


def second_order(q: FloatField, courant_signed: FloatField, q_new: FloatField):
    with computation(PARALLEL), interval(...):
        dq = slope(q)
        face = (
            q[-1, 0, 0] + 0.5 * (1.0 - courant_signed) * dq[-1, 0, 0]
            if courant_signed > 0.0
            else q - 0.5 * (1.0 + courant_signed) * dq
        )
        flux = courant_signed * face
        q_new = q - (flux[1, 0, 0] - flux)


def centred_2d(q: FloatField, u_signed: FloatField, v_signed: FloatField, tendency: FloatField, dx: Float, dy: Float):
    with computation(PARALLEL), interval(...):
        flux_x = u_signed * average_x(q)
        flux_y = v_signed * average_y(q)
        tendency = (flux_x - flux_x[1, 0, 0]) / dx + (flux_y - flux_y[0, 1, 0]) / dy


def advective_form(q: FloatField, u_signed: FloatField, v_signed: FloatField, area: FloatFieldIJ, q_new: FloatField):
    with computation(PARALLEL), interval(...):
        q_x = q - u_signed * (q[1, 0, 0] - q[-1, 0, 0]) / area
        q_new = q_x - v_signed * (q_x[0, 1, 0] - q_x[0, -1, 0]) / area


def vertical_upwind(q: FloatField, w_signed: FloatField, rdz: FloatFieldK, q_new: FloatField):
    with computation(PARALLEL):
        with interval(0, 1):
            gradient = (q[0, 0, 1] - q) * rdz
            q_new = q - w_signed * gradient
        with interval(1, -1):
            gradient = (q - q[0, 0, -1]) * rdz if w_signed > 0.0 else (q[0, 0, 1] - q) * rdz
            q_new = q - w_signed * gradient
        with interval(-1, None):
            gradient = (q - q[0, 0, -1]) * rdz
            q_new = q - w_signed * gradient


def mass_flux(delp: FloatField, u_signed: FloatField, v_signed: FloatField, mass_x: FloatField, mass_y: FloatField):
    with computation(PARALLEL), interval(...):
        mass_x = u_signed * (delp[-1, 0, 0] if u_signed > 0.0 else delp)
        mass_y = v_signed * (delp[0, -1, 0] if v_signed > 0.0 else delp)


def layer_sum(delp: FloatField, q: FloatField, total: FloatFieldIJ):
    with computation(FORWARD):
        with interval(0, 1):
            total = delp * q
        with interval(1, None):
            total = total + delp * q


def sedimentation(q: FloatField, speed_frac: FloatField, out: FloatField, rain: FloatFieldIJ):
    with computation(FORWARD):
        with interval(0, 1):
            falling = speed_frac * q
            out = q - falling
        with interval(1, None):
            falling = speed_frac * (q + falling[0, 0, -1])
            out = q + falling[0, 0, -1] - falling
    with computation(FORWARD), interval(-1, None):
        rain = rain + falling


def divergence_damping(u: FloatField, v: FloatField, area: FloatFieldIJ, u_new: FloatField, v_new: FloatField):
    with computation(PARALLEL), interval(...):
        div = (u[1, 0, 0] - u + v[0, 1, 0] - v) / area
        u_new = u + 0.125 * (div - div[-1, 0, 0])
        v_new = v + 0.125 * (div - div[0, -1, 0])


def vorticity(u: FloatField, v: FloatField, rdx: FloatFieldIJ, rdy: FloatFieldIJ, vort: FloatField, energy: FloatField):
    with computation(PARALLEL), interval(...):
        vort = rdx * (v - v[-1, 0, 0]) - rdy * (u - u[0, -1, 0])
        energy = 0.25 * (u**2 + u[0, 1, 0] ** 2 + v**2 + v[1, 0, 0] ** 2)
