def decompose_normal(x, bias):
    """Exponent and mantissa, which is between sqrt(1/2) and sqrt(2)."""
    sqrt_half = np.uint64(0x3FE6A09E667F3BCD)
    shifted = bits(x) + (np.uint64(0x3FF0000000000000) - sqrt_half)
    e = ((shifted >> np.uint64(52)) | np.uint64(0x4330000000000000)).view(np.float64) - bias
    m = ((shifted & np.uint64(0x000FFFFFFFFFFFFF)) + sqrt_half).view(np.float64)
    return e, m


def decompose(x):
    is_subnormal = x < 2.2250738585072014e-308
    scaled = np.where(is_subnormal, x * 18014398509481984.0, x)
    return decompose_normal(scaled, np.where(is_subnormal, 4503599627371573.0, 4503599627371519.0))


def at_the_ends(x, y):
    """The logarithm also where it is none of a positive, finite number."""
    y = np.where(x == np.inf, x, y)
    y = np.where(x == 0.0, -np.inf, y)
    return np.where(x >= 0.0, y, np.nan)


def log_float32(x):
    x = np.asarray(x, np.float64)
    return at_the_ends(x, log_to_single(x)).astype(np.float32)


def log10_float32(x):
    x = np.asarray(x, np.float64)
    return at_the_ends(x, log_to_single(x) * 0.4342944819032518).astype(np.float32)
