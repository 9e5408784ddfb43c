def minimum(a, b):
    """The smaller; NaN if either is, and of zeros the first."""
    return np.where((b < a) | np.isnan(b), b, a)


def maximum(a, b):
    """The larger; NaN if either is, and of zeros the first."""
    return np.where((a < b) | np.isnan(b), b, a)


def minimum_c(a, b):
    """The first unless the second is smaller."""
    return np.where(b < a, b, a)


def maximum_c(a, b):
    """The first unless the second is larger."""
    return np.where(a < b, b, a)


def mod(a, b):
    """The remainder with the sign of the divisor."""
    truncated = np.fmod(a, b)
    floored = np.where((truncated < 0.0) == (b < 0.0), truncated, truncated + b)
    return np.where(truncated == 0.0, np.copysign(np.zeros_like(truncated), b), floored)


def round_away_from_zero(x):
    """The nearest integer, ties away from zero."""
    toward_zero = np.trunc(x)
    away = toward_zero + np.copysign(np.ones_like(toward_zero), x)
    return np.where(np.abs(x - toward_zero) >= 0.5, away, toward_zero)
