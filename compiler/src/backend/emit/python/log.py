def log(x):
    e, m = decompose(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    q = z * z
    even = 0.3333333333333335 + q * (0.14285714312987743 + q * (0.09091444562630863
        + q * 0.0730822484252232))
    odd = 0.19999999999949752 + q * (0.1111110556739754 + q * 0.07665860800277971)
    tail = 2.0 * z * (even + z * odd)
    f_high = head(f)
    square_high = 0.5 * f_high * f_high
    square_low = 0.5 * (f - f_high) * (f + f_high)
    first, first_low = quick_two_sum(e * LN_2_HIGH, f)
    total, total_low = quick_two_sum(first, -square_high)
    low = (total_low + (first_low + e * LN_2_LOW)) + (s * (square_high + square_low + tail) - square_low)
    return at_the_ends(x, total + low)


def log_double(x):
    """The logarithm as a sum of two numbers."""
    e, m = decompose(x)
    f = m - 1.0
    d, d_low = two_sum(m, 1.0)
    reciprocal = 1.0 / d
    quotient = f * reciprocal
    p, p_low = two_product(quotient, d)
    missing = ((f - p) - p_low) - quotient * d_low
    s = quick_two_sum(quotient, missing * reciprocal)
    z, z_low = two_product(s[0], s[0])
    z_low = z_low + 2.0 * s[0] * s[1]
    q = z * z
    even = 0.14285714285714285 + q * (0.09090909090650492 + q * (0.06666657340117015
        + q * 0.052364532828523556))
    odd = 0.11111111111111474 + q * (0.07692307762438362 + q * (0.05883024934256933
        + q * 0.05308513863048114))
    inner, inner_low = quick_two_sum(0.2, z * (even + z * odd))
    inner, inner_low = product((z, z_low), (inner, inner_low + -1.1102230246251566e-17))
    total, rest = quick_two_sum(0.3333333333333333, inner)
    w = product((z, z_low), (total, rest + (inner_low + 1.850371707708594e-17)))
    twice = 2.0 * s[0], 2.0 * s[1]
    cubic, cubic_low = product(twice, w)
    log_m, log_m_low = quick_two_sum(twice[0], cubic)
    low = log_m_low + (cubic_low + twice[1])
    total, rest = quick_two_sum(e * LN_2_HIGH, log_m)
    return quick_two_sum(total, rest + (e * LN_2_LOW + low))


def log10(x):
    high, low = product(log_double(x), (0.4342944819032518, 1.098319650216765e-17))
    return at_the_ends(x, high + low)


def log_to_single(x):
    """The logarithm to 43 bits, of a number that came from a single."""
    e, m = decompose_normal(x, 4503599627371519.0)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    q = z * z
    even = 0.3333333333368754 + q * (0.14285877267957245 + q * 0.09681326857101563)
    odd = 0.19999999398668794 + q * 0.11095700415154224
    return e * 0.6931471805599453 + (2.0 * s + (2.0 * s) * (z * (even + z * odd)))
