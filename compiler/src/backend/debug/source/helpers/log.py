def decompose_normal(x, bias):
    """Exponent and mantissa, which is between sqrt(1/2) and sqrt(2)."""
    sqrt_half = 0x3FE6A09E667F3BCD
    shifted = (bits(x) + (0x3FF0000000000000 - sqrt_half)) % (1 << 64)
    e = of_bits((shifted >> 52) | 0x4330000000000000) - bias
    m = of_bits((shifted & 0x000FFFFFFFFFFFFF) + sqrt_half)
    return e, m


def decompose(x):
    is_subnormal = x < 2.2250738585072014e-308
    scaled = x * 18014398509481984.0 if is_subnormal else x
    return decompose_normal(scaled, 4503599627371573.0 if is_subnormal else 4503599627371519.0)


def at_the_ends(x, y):
    """The logarithm also where it is none of a positive, finite number."""
    if x == inf:
        return inf
    if x == 0.0:
        return -inf
    return y if x > 0.0 else nan


def log_float32(x):
    return float32(at_the_ends(x, log_to_single(x)))


def log10_float32(x):
    return float32(at_the_ends(x, log_to_single(x) * 0.4342944819032518))
