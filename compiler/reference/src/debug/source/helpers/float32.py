def float32(x):
    """The nearest number in single precision."""
    if isinstance(x, int):
        # Rounded once: a double may not hold all digits.
        n = max(abs(x).bit_length() - 24, 0)
        whole, rest = divmod(abs(x), 1 << n)
        half = (1 << n) >> 1
        whole += rest > half or (n > 0 and rest == half and whole % 2 == 1)
        return float(whole << n) if x >= 0 else -float(whole << n)
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return copysign(inf, x)
