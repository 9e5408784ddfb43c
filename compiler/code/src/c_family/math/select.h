/* Extrema, remainders and rounding.
 *
 * min, max: NaN if either is; of equals the first. mod: floored, the sign of the divisor.
 * min_c, max_c: the first if either is NaN; of equals the first. mod_c: the sign of the dividend.
 * round: ties to even. round_away_from_zero: ties away from zero.
 */
#define ISOBAR_SELECT(T, NAME, SUFFIX)                                             \
    ISOBAR_INLINE T isobar_min_##NAME(T a, T b)                                    \
    {                                                                              \
        T smaller = b < a ? b : a;                                                 \
        return b != b ? b : smaller;                                               \
    }                                                                              \
    ISOBAR_INLINE T isobar_max_##NAME(T a, T b)                                    \
    {                                                                              \
        T larger = a < b ? b : a;                                                  \
        return b != b ? b : larger;                                                \
    }                                                                              \
    ISOBAR_INLINE T isobar_mod_##NAME(T a, T b)                                    \
    {                                                                              \
        T truncated = fmod##SUFFIX(a, b);                                          \
        T moved = truncated + b;                                                   \
        T floored = (truncated < 0) == (b < 0) ? truncated : moved;                \
        T y = truncated == 0 ? copysign##SUFFIX(0, b) : floored;                   \
        return truncated != truncated ? (T)NAN : y;                                \
    }                                                                              \
    ISOBAR_INLINE T isobar_min_c_##NAME(T a, T b) { return b < a ? b : a; }        \
    ISOBAR_INLINE T isobar_max_c_##NAME(T a, T b) { return a < b ? b : a; }        \
    ISOBAR_INLINE T isobar_mod_c_##NAME(T a, T b)                                  \
    {                                                                              \
        T truncated = fmod##SUFFIX(a, b);                                          \
        return truncated != truncated ? (T)NAN : truncated;                        \
    }                                                                              \
    ISOBAR_INLINE T isobar_round_##NAME(T x) { return rint##SUFFIX(x); }           \
    ISOBAR_INLINE T isobar_round_away_from_zero_##NAME(T x)                        \
    {                                                                              \
        T toward_zero = trunc##SUFFIX(x);                                          \
        T away = toward_zero + copysign##SUFFIX(1, x);                             \
        return fabs##SUFFIX(x - toward_zero) >= (T)0.5 ? away : toward_zero;       \
    }

ISOBAR_SELECT(double, f64, )
ISOBAR_SELECT(float, f32, f)
