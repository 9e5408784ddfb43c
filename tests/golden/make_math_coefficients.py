"""Prints the coefficients and tables of `compiler/ground/src/types/math`.

Polynomials are near the best in the sense of Chebyshev (E. Ya. Remez's exchange, in 60 digits), each
coefficient then rounded to a double and written with the shortest digits that read back to it. Beside each set
stands the error that remains, as a power of two, relative to the function that the polynomial serves.

Needs Python 3 and mpmath; run it as `python3 make_math_coefficients.py`, with a word that the names of the wanted
sets begin with, or with none for all of them, which takes some minutes.
"""

import struct
import sys

import mpmath as mp

mp.mp.dps = 60


def of_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def remez(function, low, high, count, weight, rounds=8, points=600):
    """The polynomial with the least weighted error."""
    low, high = mp.mpf(low), mp.mpf(high)
    # Where the weight is zero the exchange has nothing to hold on to.
    floor = max(weight(low), weight(high)) * mp.mpf("1e-4")
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * n / points) for n in range(points + 1)]
    values = [function(x) for x in grid]
    weights = [weight(x) + floor for x in grid]
    chosen = [round(points * (n + mp.mpf(1) / 2) / (count + 1)) for n in range(count + 1)]
    for _ in range(rounds):
        matrix, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for row, at in enumerate(chosen):
            for column in range(count):
                matrix[row, column] = weights[at] * grid[at] ** column
            matrix[row, count] = (-1) ** row
            right[row] = weights[at] * values[at]
        solution = mp.lu_solve(matrix, right)
        c = [solution[n] for n in range(count)]
        errors = [w * (mp.polyval(c[::-1], x) - y) for x, y, w in zip(grid, values, weights)]
        extrema, at = [], 0
        while at <= points:
            best, sign = at, mp.sign(errors[at])
            while at <= points and mp.sign(errors[at]) in (sign, 0):
                best = max(best, at, key=lambda it: abs(errors[it]))
                at += 1
            extrema.append(best)
        if len(extrema) < count + 1:
            break
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        chosen = extrema
    return [float(it) for it in c]


def show(name, function, low, high, count, weight=lambda x: mp.mpf(1), fit=remez):
    if not name.startswith(tuple(sys.argv[1:]) or ""):
        return
    low, high = mp.mpf(low), mp.mpf(high)
    c = fit(function, low, high, count, weight)
    exact = [mp.mpf(it) for it in reversed(c)]
    points = [low + (high - low) * n / 400 for n in range(401)]
    worst = max(abs((mp.polyval(exact, x) - function(x)) * weight(x)) for x in points)
    print(f"{name}: 2^{float(mp.log(worst, 2)):.1f}")
    for it in c:
        print(f"    {it!r},")


def chebyshev(function, low, high, count, weight):
    return [float(c) for c in reversed(mp.chebyfit(function, [low, high], count))]


def series(coefficient, terms=60):
    c = [coefficient(n) for n in reversed(range(terms))]
    return lambda x: mp.polyval(c, x)


def of_square(function, sign):
    """function(x) / x - 1 over x^2, as a function of x^2 that is not too small."""

    def quotient(z):
        z = max(z, mp.mpf("1e-20"))
        x = mp.sqrt(z)
        return (function(x) / x - sign) / z

    return quotient


def split(name, value, bits=53):
    """`value` as a head of so many bits and a rounded tail."""
    if name.startswith(tuple(sys.argv[1:]) or ""):
        mantissa, exponent = mp.frexp(value)
        head = mp.nint(mantissa * 2**bits) / 2**bits * mp.mpf(2) ** exponent
        print(f"{name}: {float(head)!r} + {float(value - head)!r}")


def tables():
    if not "tables".startswith(tuple(sys.argv[1:]) or ""):
        return
    lowest = 0x3FE6AAAAAAAAAAAB
    print("INVERSES, LOGARITHMS, LOGARITHMS_REST:")
    for n in range(128):
        low, high = of_bits(lowest + (n << 45)), of_bits(lowest + ((n + 1) << 45))
        inverse = 1.0 if low < 1 < high else float(2 / (mp.mpf(low) + mp.mpf(high)))
        logarithm = -mp.log(inverse)
        head = mp.nint(logarithm * 2**42) / 2**42
        print(f"    {inverse!r}, {float(head)!r}, {float(logarithm - head)!r},")
    print("TWO_OVER_PI:")
    with mp.workprec(1600):
        for n in range(31):
            fraction = 2 / mp.pi * mp.mpf(2) ** (32 * n)
            fraction -= mp.floor(fraction)
            for _ in range(4):
                part = float(fraction)
                fraction -= mp.mpf(part)
                print(f"    {part!r},")


def stirling(u):
    if u < mp.mpf("1e-7"):
        return mp.mpf(1) / 12 - u / 360 + u * u / 1260
    x = 1 / mp.sqrt(u)
    return (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def complement(t):
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def complement_rest(t):
    middle = complement(mp.mpf(0))
    return (complement(t) - middle) / t if abs(t) > mp.mpf("1e-20") else mp.diff(complement, 0)


# What the rounding of k and the like add to an interval.
MORE = 1 + mp.mpf(2) ** -20
# exp and the hyperbolic functions are reduced to |r| <= ln(2) / 2, log to s = (m - 1) / (m + 1) with m up to 17/12.
R = mp.log(2) / 2 * (1 + mp.mpf(2) ** -40)
S = (mp.mpf("0.416667") / mp.mpf("2.416667")) ** 2 * MORE
QUARTER = (mp.pi / 4) ** 2 * (1 + mp.mpf(2) ** -10)
T = mp.mpf("0.0038839078845365194") * MORE

split("ln 2, 42 bits", mp.log(2), 42)
split("ln 2", mp.log(2))
split("1/ln 10", 1 / mp.log(10))
split("pi", mp.pi)
split("ln(2 pi)/2", mp.log(2 * mp.pi) / 2)
split("f(0) of erfc", complement(mp.mpf(0)))
exp_tail = series(lambda n: 1 / mp.factorial(n + 2), 40)
show("exp", exp_tail, -R, R, 11, lambda r: r**2 / mp.exp(r), chebyshev)
show("exp_single", exp_tail, -R, R, 7, lambda r: r**2 / mp.exp(r), chebyshev)
atanh_tail = series(lambda n: mp.mpf(2) / (2 * n + 3))
show("log", atanh_tail, 0, S, 7, lambda z: z / 2, chebyshev)
show("log_single", atanh_tail, 0, S, 5, lambda z: z / 2, chebyshev)
show("log_double", series(lambda n: mp.mpf(-1) ** n / (n + 3), 40), -T, T, 6, lambda r: r**2, chebyshev)
show("sin", series(lambda n: mp.mpf(-1) ** (n + 1) / mp.factorial(2 * n + 3), 20), 0, QUARTER, 6, lambda z: z)
show("cos", series(lambda n: mp.mpf(-1) ** n / mp.factorial(2 * n + 4), 20), 0, QUARTER, 6, lambda z: z**2)
show("sinh", series(lambda n: 1 / mp.factorial(2 * n + 3), 20), 0, R**2 * MORE, 5, lambda z: z)
show("cosh", series(lambda n: 1 / mp.factorial(2 * n + 4), 20), 0, R**2 * MORE, 5, lambda z: z**2)
show("asin", of_square(mp.asin, 1), 0, mp.mpf("0.25") * MORE, 13, lambda z: z)
show("atan", of_square(mp.atan, 1), 0, mp.mpf("0.1716") * mp.mpf("1.001"), 11, lambda z: z)
show("atanh", of_square(mp.atanh, 1), 0, mp.mpf("0.0625") * mp.mpf("1.05"), 9, lambda z: z)
show("cbrt", mp.cbrt, 1, 2, 4, lambda m: 1 / mp.cbrt(m))
show("gamma", stirling, 0, mp.mpf(1) / 64, 7, mp.sqrt)
show("erf", lambda z: mp.erf(mp.sqrt(z + mp.mpf("1e-40"))) / mp.sqrt(z + mp.mpf("1e-40")) - 1, 0, "0.25", 9)
LOW, HIGH = (mp.mpf("0.49") - 4) / (mp.mpf("0.49") + 4), mp.mpf(26) / 34
show("erfc", complement_rest, LOW, HIGH, 22, abs)
show("erfc_slope", lambda t: mp.diff(complement, t), LOW, HIGH, 5)
tables()
