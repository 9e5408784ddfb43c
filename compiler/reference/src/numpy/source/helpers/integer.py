def integer(x, dtype):
    """A number without its fraction; saturates at 64 bits, and then wraps. NaN is 0."""
    x = np.trunc(np.asarray(x, np.float64))
    too_low, too_high = x < -9223372036854775808.0, x >= 9223372036854775808.0
    inside = np.where(too_low | too_high | np.isnan(x), 0.0, x).astype(np.int64)
    highest, lowest = np.int64(9223372036854775807), np.int64(-9223372036854775808)
    return np.where(too_high, highest, np.where(too_low, lowest, inside)).astype(dtype)


def integer_mod(a, b):
    """The remainder with the sign of the divisor; 0 for a division by zero."""
    return np.mod(a, np.where(b == -1, b.dtype.type(1), b))


def integer_mod_c(a, b):
    """The remainder with the sign of the dividend; 0 for a division by zero."""
    return np.fmod(a, np.where(b == -1, b.dtype.type(1), b))


def integer_pow(a, b):
    """A power that wraps; with a negative exponent it is truncated toward zero, and 0 for the base 0."""
    a, b = np.broadcast_arrays(a, np.asarray(b, np.int64))
    result, square, exponent = np.ones_like(a), a.copy(), np.where(b < 0, 0, b)
    while np.any(exponent):
        result = np.where(exponent & 1, result * square, result)
        square, exponent = square * square, exponent >> 1
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, inverse, result).astype(a.dtype)
