def platform(function, x):
    """A function whose last bits are the platform's own."""
    y = function(np.asarray(x, np.float64))
    return np.where(np.isnan(y), np.nan, y).astype(x.dtype)


def pointwise(function):
    """A function of the module `math` for arrays."""

    def of_one(x):
        try:
            return function(x)
        except ValueError:
            return math.copysign(math.inf, x) if x == 0.0 else math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(of_one, otypes=[np.float64])
