/* Integer arithmetic: total and wrapping, through unsigned numbers, whose overflow is defined.
 *
 * mod: floored, the sign of the divisor; mod_c: the sign of the dividend; both are 0 for a zero
 * divisor. pow: for a negative exponent the real power truncated toward zero, and 0 of the base 0.
 */
ISOBAR_INLINE int64_t isobar_mod_i64(int64_t a, int64_t b)
{
    /* -1 divides everything, and the lowest number divided by it would trap. */
    int64_t divisor = b == 0 ? 1 : b == -1 ? 1 : b;
    int64_t remainder = a % divisor;
    return remainder != 0 && (remainder < 0) != (divisor < 0) ? remainder + divisor : remainder;
}

ISOBAR_INLINE int64_t isobar_mod_c_i64(int64_t a, int64_t b)
{
    return a % (b == 0 || b == -1 ? 1 : b);
}

ISOBAR_INLINE int64_t isobar_pow_i64(int64_t base, int64_t exponent)
{
    /* Of the integers, only 1 and -1 have reciprocals that do not truncate to 0. */
    int is_unit = base == 1 || base == -1;
    uint64_t result = exponent < 0 && !is_unit ? 0 : 1;
    uint64_t square = (uint64_t)base;
    /* As unsigned, a negative exponent is even or odd as before. */
    for (uint64_t rest = (uint64_t)exponent; rest != 0; rest >>= 1) {
        result = rest & 1 ? result * square : result;
        square = square * square;
    }
    return (int64_t)result;
}

ISOBAR_INLINE int64_t isobar_abs_i64(int64_t a)
{
    return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
}

#define ISOBAR_EXTREMA(T, NAME)                                             \
    ISOBAR_INLINE T isobar_min_##NAME(T a, T b) { return b < a ? b : a; }   \
    ISOBAR_INLINE T isobar_max_##NAME(T a, T b) { return a < b ? b : a; }

/* A narrower type embeds in 64 bits, and the truncation is its wrapping. */
#define ISOBAR_NARROW(T, NAME)                                                              \
    ISOBAR_INLINE T isobar_mod_##NAME(T a, T b) { return (T)isobar_mod_i64(a, b); }         \
    ISOBAR_INLINE T isobar_mod_c_##NAME(T a, T b) { return (T)isobar_mod_c_i64(a, b); }     \
    ISOBAR_INLINE T isobar_pow_##NAME(T a, T b) { return (T)isobar_pow_i64(a, b); }         \
    ISOBAR_INLINE T isobar_abs_##NAME(T a) { return (T)isobar_abs_i64(a); }

ISOBAR_EXTREMA(int64_t, i64)
ISOBAR_EXTREMA(int32_t, i32)
ISOBAR_EXTREMA(int16_t, i16)
ISOBAR_EXTREMA(int8_t, i8)
ISOBAR_NARROW(int32_t, i32)
ISOBAR_NARROW(int16_t, i16)
ISOBAR_NARROW(int8_t, i8)
