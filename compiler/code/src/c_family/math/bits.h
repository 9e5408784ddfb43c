/* Mathematics of Isobar, printed from the definitions in the compiler's `types::math`.
 *
 * The same operations in the same order as there, so that the results have the same bits as the
 * interpreter's. That holds as long as the compiler keeps to the text: `-ffp-contract=off`, and
 * never `-ffast-math`. The functions have no branches, so that loops around them can be vectorised
 * (`-fno-math-errno` lets square roots take part).
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define ISOBAR_INLINE static inline __attribute__((always_inline, unused))
#else
#define ISOBAR_INLINE static inline
#endif

ISOBAR_INLINE uint64_t isobar_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ISOBAR_INLINE double isobar_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a * b - product exactly, given the rounded product: by one fused operation where the machine has
 * one, else by splitting both factors into halves of 26 bits (T. J. Dekker, 1971). The result is
 * the same. */
#if defined(__FP_FAST_FMA) || defined(__FMA__)
ISOBAR_INLINE double isobar_product_error(double a, double b, double product)
{
    return __builtin_fma(a, b, -product);
}
#else
ISOBAR_INLINE double isobar_product_error(double a, double b, double product)
{
    double a_scaled = 134217729.0 * a, b_scaled = 134217729.0 * b;
    double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    double a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
#endif
