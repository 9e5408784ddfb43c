SHIFT = 6755399441055744.0  # 1.5 * 2**52: a sum with it has the nearest integer in its low bits
LN_2_HIGH, LN_2_LOW = 0.6931471805598903, 5.497923018708371e-14


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def of_bits(n):
    return struct.unpack("<d", struct.pack("<Q", n % (1 << 64)))[0]


def head(x):
    """The leading bits of x: as many as a square has room for."""
    return of_bits(bits(x) & 0xFFFFFFFFF8000000)
