def platform(function, x):
    """A function whose last bits are the platform's own."""
    try:
        return function(x)
    except ValueError:
        is_pole = x == 0.0 if function is math.gamma else abs(x) == 1.0
        return copysign(inf, x) if is_pole else nan
    except OverflowError:
        return copysign(inf, x) if function is math.sinh else inf
