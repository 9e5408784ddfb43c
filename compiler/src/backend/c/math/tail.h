/* The other functions: called through a table that the caller sets before the first call.
 *
 * The order of the entries is a contract with the compiler's `types::math::TAIL`. A float is
 * converted, and the result rounded.
 */
typedef struct isobar_math {
    double (*sin_f64)(double);
    double (*cos_f64)(double);
    double (*tan_f64)(double);
    double (*asin_f64)(double);
    double (*acos_f64)(double);
    double (*atan_f64)(double);
    double (*sinh_f64)(double);
    double (*cosh_f64)(double);
    double (*tanh_f64)(double);
    double (*asinh_f64)(double);
    double (*acosh_f64)(double);
    double (*atanh_f64)(double);
    double (*cbrt_f64)(double);
    double (*gamma_f64)(double);
    double (*erf_f64)(double);
    double (*erfc_f64)(double);
} isobar_math;

static const isobar_math *isobar_math_table;

#define ISOBAR_TAIL(NAME)                                                                         \
    ISOBAR_INLINE double isobar_##NAME##_f64(double x) { return isobar_math_table->NAME##_f64(x); } \
    ISOBAR_INLINE float isobar_##NAME##_f32(float x)                                              \
    {                                                                                             \
        return (float)isobar_math_table->NAME##_f64((double)x);                                   \
    }

ISOBAR_TAIL(sin)
ISOBAR_TAIL(cos)
ISOBAR_TAIL(tan)
ISOBAR_TAIL(asin)
ISOBAR_TAIL(acos)
ISOBAR_TAIL(atan)
ISOBAR_TAIL(sinh)
ISOBAR_TAIL(cosh)
ISOBAR_TAIL(tanh)
ISOBAR_TAIL(asinh)
ISOBAR_TAIL(acosh)
ISOBAR_TAIL(atanh)
ISOBAR_TAIL(cbrt)
ISOBAR_TAIL(gamma)
ISOBAR_TAIL(erf)
ISOBAR_TAIL(erfc)
