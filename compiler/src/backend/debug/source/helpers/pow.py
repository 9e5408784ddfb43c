def special_cases(x, y, power):
    """x ** y, given |x| ** y for a finite |x| above zero."""
    if x == 1.0 or y == 0.0:
        return 1.0
    size = abs(x)
    is_integer = floor(y) == y
    if isnan(x) or isnan(y) or (x < 0.0 and size != inf and not is_integer):
        return nan
    if size == 0.0:
        power = inf if y < 0.0 else 0.0
    if size == inf:
        power = 0.0 if y < 0.0 else inf
    half = y * 0.5
    is_odd = is_integer and floor(half) != half
    return copysign(power, x) if is_odd else power


def pow(x, y):
    bounded = 1e21 if y > 1e21 else y
    bounded = -1e21 if bounded < -1e21 else bounded
    high, low = log_double(abs(x))
    exponent, rest = two_product(bounded, high)
    return special_cases(x, y, exp_of_sum(exponent, rest + bounded * low))


def pow_float32(x, y):
    power = exp_to_single(y * log_to_single(abs(x)))
    return float32(special_cases(x, y, power))
