def power_of_two(shifted):
    """2**n, given n + SHIFT."""
    return of_bits((bits(shifted) + 1023) << 52)


def exp_of_sum(high, low):
    """The exponential of high + low: k ln 2 is taken off, and 1 + r + r**2 P(r) is left."""
    clamped = -746.0 if high < -746.0 else high
    clamped = 710.0 if clamped > 710.0 else clamped
    low = low if clamped == high else 0.0
    k = (clamped * 1.4426950408889634 + SHIFT) - SHIFT
    r, r_low = quick_two_sum(clamped - k * LN_2_HIGH, low - k * LN_2_LOW)
    s = r * r
    even = 0.5 + s * (0.04166666666666667 + s * (0.0013888888888883752 + s * (2.480158732533353e-5
        + s * (2.7557273661348637e-7 + s * 2.0914679376584005e-9))))
    odd = 0.1666666666666667 + s * (0.008333333333326141 + s * (0.00019841269874800493
        + s * (2.7557255425746435e-6 + s * 2.5105206373957107e-8)))
    total, rest = quick_two_sum(1.0, r)
    tail = (r_low + r_low * r) + (r * r) * (even + r * odd)
    y = total + (rest + tail)
    half = k * 0.5 + SHIFT
    other = (k - (half - SHIFT)) + SHIFT
    return (y * power_of_two(half)) * power_of_two(other)


def exp(x):
    return nan if isnan(x) else exp_of_sum(x, 0.0)


def exp_to_single(x):
    """The exponential to 37 bits."""
    clamped = -110.0 if x < -110.0 else x
    clamped = 90.0 if clamped > 90.0 else clamped
    shifted = clamped * 1.4426950408889634 + SHIFT
    r = clamped - (shifted - SHIFT) * 0.6931471805599453
    s = r * r
    even = 0.5 + s * (0.041666666718980845 + s * (0.001388885404961482 + s * 2.48595782226254e-5))
    odd = 0.16666666718997508 + s * (0.008333298483754886 + s * 0.0001989927395894665)
    y = 1.0 + (r + (r * r) * (even + r * odd))
    return y * power_of_two(shifted)


def exp_float32(x):
    return nan if isnan(x) else float32(exp_to_single(x))
