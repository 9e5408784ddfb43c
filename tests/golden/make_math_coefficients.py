"""Prints the polynomial coefficients of `compiler/src/types/math`.

Chebyshev approximations in 80 digits, each coefficient then rounded to a double and written
with the shortest digits that read back to it. Beside each set stands the error that remains,
as a power of two, relative to the function that the polynomial serves.

Needs Python 3 and mpmath; run it as `python3 make_math_coefficients.py`.
"""

import mpmath as mp

mp.mp.dps = 80

# exp is reduced to |r| <= ln(2) / 2, the rounding of k added; log to s = (m - 1) / (m + 1) with
# m in [sqrt(1/2), sqrt(2)], hence z = s * s from zero to just above (3 - 2 sqrt(2)) ** 2.
EXP_BOUND = mp.log(2) / 2 * (1 + mp.mpf(2) ** -40)
LOG_BOUND = (3 - 2 * mp.sqrt(2)) ** 2 * (1 + mp.mpf(2) ** -40)


def exp_tail(r):
    """(exp(r) - 1 - r) / r**2"""
    if abs(r) < mp.mpf(10) ** -30:
        return mp.mpf(1) / 2 + r / 6
    return (mp.exp(r) - 1 - r) / r**2


def atanh_tail(z, first):
    """The sum of z**n / (2 * (n + first) + 1) over n: the series of atanh(s) / s from a term on."""
    return mp.nsum(lambda n: z**n / (2 * (n + first) + 1), [0, mp.inf]) if z > mp.mpf(10) ** -3 else mp.fsum(
        z**n / (2 * (n + first) + 1) for n in range(40)
    )


def show(name, function, bounds, count, weight):
    low, high = bounds
    coefficients = [float(c) for c in reversed(mp.chebyfit(function, bounds, count))]
    worst = mp.mpf(0)
    for step in range(401):
        x = low + (high - low) * step / 400
        value = mp.fsum(mp.mpf(c) * x**n for n, c in enumerate(coefficients))
        worst = max(worst, abs((value - function(x)) * weight(x)))
    print(f"{name}: 2^{float(mp.log(worst, 2)):.1f}")
    for c in coefficients:
        print(f"    {c!r},")


def split(name, value, bits):
    """`value` as a head of so many bits and a rounded tail."""
    mantissa, exponent = mp.frexp(value)
    head = mp.floor(mantissa * 2**bits + mp.mpf(1) / 2) / 2**bits * mp.mpf(2) ** exponent
    print(f"{name}: {float(head)!r} + {float(value - head)!r}")


split("ln 2, 42 bits", mp.log(2), 42)
split("1/3", mp.mpf(1) / 3, 53)
split("1/5", mp.mpf(1) / 5, 53)
split("1/ln 10", 1 / mp.log(10), 53)
print(f"1/ln 2: {float(1 / mp.log(2))!r}")
print(f"ln 2: {float(mp.log(2))!r}")
show("EXP_F64", exp_tail, [-EXP_BOUND, EXP_BOUND], 11, lambda r: r**2 / mp.exp(r))
show("EXP_F32", exp_tail, [-EXP_BOUND, EXP_BOUND], 7, lambda r: r**2 / mp.exp(r))
show("LOG_F64", lambda z: atanh_tail(z, 1), [0, LOG_BOUND], 7, lambda z: z)
show("LOG_F32", lambda z: atanh_tail(z, 1), [0, LOG_BOUND], 5, lambda z: z)
show("LOG_DOUBLE_DOUBLE", lambda z: atanh_tail(z, 3), [0, LOG_BOUND], 8, lambda z: z**3)
