WRAP = 1 << 64


def bits(x):
    """The bits of a number, as an integer."""
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def of_bits(n):
    return struct.unpack("<d", struct.pack("<Q", n))[0]


def product_error(a, b, product):
    """What a * b has beyond the rounded product, exactly (T. J. Dekker, 1971)."""
    a_scaled, b_scaled = 134217729.0 * a, 134217729.0 * b
    a_high, b_high = a_scaled - (a_scaled - a), b_scaled - (b_scaled - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
