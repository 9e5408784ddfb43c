def special_cases(x, y, power):
    """x ** y, given |x| ** y for a finite |x| above zero."""
    size = np.abs(x)
    power = np.where(size == 0.0, np.where(y < 0.0, np.inf, 0.0), power)
    power = np.where(size == np.inf, np.where(y < 0.0, 0.0, np.inf), power)
    is_integer = np.floor(y) == y
    half = y * 0.5
    is_odd = is_integer & (np.floor(half) != half)
    sign = np.where(is_odd, bits(x) & np.uint64(1 << 63), np.uint64(0))
    power = (bits(power) | sign).view(np.float64)
    is_nan = np.isnan(x) | np.isnan(y) | ((x < 0.0) & (size != np.inf) & ~is_integer)
    power = np.where(is_nan, np.nan, power)
    return np.where((x == 1.0) | (y == 0.0), 1.0, power)


def pow(x, y):
    bounded = np.where(y > 1e21, 1e21, y)
    bounded = np.where(bounded < -1e21, -1e21, bounded)
    high, low = log_double(np.abs(x))
    exponent, rest = two_product(bounded, high)
    return special_cases(x, y, exp_of_sum(exponent, rest + bounded * low))


def pow_float32(x, y):
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    power = exp_to_single(y * log_to_single(np.abs(x)))
    return special_cases(x, y, power).astype(np.float32)
