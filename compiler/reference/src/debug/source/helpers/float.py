def divide(a, b):
    """The quotient, also by zero."""
    if b != 0.0:
        return a / b
    if a == 0.0 or isnan(a) or isnan(b):
        return nan
    return copysign(inf, a) * copysign(1.0, b)


def sqrt(x):
    return math.sqrt(x) if x >= 0.0 else nan


def floor(x):
    return copysign(float(math.floor(x)), x) if isfinite(x) else x


def ceil(x):
    return copysign(float(math.ceil(x)), x) if isfinite(x) else x


def trunc(x):
    return copysign(float(math.trunc(x)), x) if isfinite(x) else x


def rounded(x):
    """The nearest integer, ties to the even one."""
    return copysign(float(round(x)), x) if isfinite(x) else x


def round_away_from_zero(x):
    """The nearest integer, ties away from zero."""
    toward_zero = trunc(x)
    away = toward_zero + copysign(1.0, x)
    return away if abs(x - toward_zero) >= 0.5 else toward_zero


def minimum(a, b):
    """The smaller; NaN if either is, and of zeros the first."""
    return b if b < a or isnan(b) else a


def maximum(a, b):
    """The larger; NaN if either is, and of zeros the first."""
    return b if a < b or isnan(b) else a


def minimum_c(a, b):
    """The first unless the second is smaller."""
    return b if b < a else a


def maximum_c(a, b):
    """The first unless the second is larger."""
    return b if a < b else a


def mod_c(a, b):
    """The remainder with the sign of the dividend."""
    return math.fmod(a, b) if isfinite(a) and b != 0.0 else nan


def mod(a, b):
    """The remainder with the sign of the divisor."""
    truncated = mod_c(a, b)
    if isnan(truncated):
        return nan
    if truncated == 0.0:
        return copysign(0.0, b)
    return truncated if (truncated < 0.0) == (b < 0.0) else truncated + b
