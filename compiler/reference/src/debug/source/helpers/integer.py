def wrapped(x, n):
    """An integer in n bits."""
    return (x + (1 << (n - 1))) % (1 << n) - (1 << (n - 1))


def int8(x):
    return wrapped(x, 8)


def int16(x):
    return wrapped(x, 16)


def int32(x):
    return wrapped(x, 32)


def int64(x):
    return wrapped(x, 64)


def integer(x):
    """A number without its fraction, in 64 bits; NaN is 0."""
    if isnan(x):
        return 0
    if not isfinite(x) or abs(x) >= 9223372036854775808.0:
        return 9223372036854775807 if x > 0.0 else -9223372036854775808
    return math.trunc(x)


def integer_mod(a, b):
    """The remainder with the sign of the divisor; 0 for a division by zero."""
    return a % b if b != 0 else 0


def integer_mod_c(a, b):
    """The remainder with the sign of the dividend; 0 for a division by zero."""
    return abs(a) % abs(b) * (-1 if a < 0 else 1) if b != 0 else 0


def integer_pow(a, b):
    """A power in 64 bits; with a negative exponent it is truncated toward zero, and 0 for the base 0."""
    if b >= 0:
        return wrapped(builtins.pow(a, b, 1 << 64), 64)
    if a == -1:
        return 1 if b % 2 == 0 else -1
    return 1 if a == 1 else 0
