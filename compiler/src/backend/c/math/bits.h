/* Mathematics of Isobar: the mirror of the compiler's `types::math`.
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
