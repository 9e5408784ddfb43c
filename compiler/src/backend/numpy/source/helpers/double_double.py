SHIFT = 6755399441055744.0  # 1.5 * 2**52: a sum with it has the nearest integer in its low bits
LN_2_HIGH, LN_2_LOW = 0.6931471805598903, 5.497923018708371e-14


def bits(x):
    return np.asarray(x, np.float64).view(np.uint64)


def head(x):
    """The leading bits of x: as many as a square has room for."""
    return (bits(x) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)
