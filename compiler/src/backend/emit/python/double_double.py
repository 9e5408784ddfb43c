def quick_two_sum(a, b):
    """a + b exactly, as two numbers; a is the larger."""
    high = a + b
    return high, b - (high - a)


def two_sum(a, b):
    """a + b exactly, as two numbers."""
    high = a + b
    b_part = high - a
    return high, (a - (high - b_part)) + (b - b_part)


def split(a):
    """Two halves with 26 bits each."""
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a, b):
    """a * b exactly, as two numbers."""
    high = a * b
    (a_high, a_low), (b_high, b_low) = split(a), split(b)
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def product(a, b):
    """The product of two numbers that are sums of two."""
    high, low = two_product(a[0], b[0])
    return high, low + (a[0] * b[1] + a[1] * b[0])
