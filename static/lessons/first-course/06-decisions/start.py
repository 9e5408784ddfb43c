# @title Transport with a limiter, and condensation by iteration
# @stencil decide
# @domain 48 16 8
# @input q checker(low=0, high=1, cells=4)
# @input t linear(low=260, high=300, along=i)
# @input qv linear(low=0.004, high=0.03, along=i)
# @scalar courant = 0.4
# @plot q_out k=0

from ndsl.dsl.gt4py import PARALLEL, computation, exp, function, interval
from ndsl.dsl.typing import Float, FloatField

LCP = 2488.0  # latent heat over heat capacity, K
TOLERANCE = 1.0e-6  # K
MOST = 20  # steps


@function
def saturation(t):
    """Vapour that air of temperature t can hold near the ground, and how much more per kelvin."""
    qs = 0.0038 * exp(17.27 * (t - 273.16) / (t - 35.86))
    return qs, qs * 17.27 * (273.16 - 35.86) / (t - 35.86) ** 2


def decide(
    q: FloatField,
    t: FloatField,
    qv: FloatField,
    q_out: FloatField,
    t_out: FloatField,
    courant: Float,
):
    # 1: transport to the east, with a slope in each cell.
    with computation(PARALLEL), interval(...):
        west = q - q[-1, 0, 0]
        east = q[1, 0, 0] - q
        slope = 0.5 * (west + east)
        flux = courant * (q + 0.5 * (1.0 - courant) * slope)
        q_out = q - (flux - flux[-1, 0, 0])

    # 2: how warm air gets when it condenses what it cannot hold.
    with computation(PARALLEL), interval(...):
        t_out = t
        qs, per_kelvin = saturation(t_out)
        is_moist = qv > qs
        step = 0.0
        if is_moist:
            step = (LCP * (qv - qs) - (t_out - t)) / (1.0 + LCP * per_kelvin)
        t_out = t_out + step
