/* Powers: |x|^y = exp(y log |x|), the exponent as a sum of two doubles; special cases as in C99. */

/* x ** y, given |x| ** y for a finite |x| above zero. */
ISOBAR_INLINE double isobar_pow_special_cases(double x, double y, double power)
{
    double size = fabs(x);
    double at_zero = y < 0.0 ? (double)INFINITY : 0.0;
    double at_infinity = y < 0.0 ? 0.0 : (double)INFINITY;
    power = size == 0.0 ? at_zero : power;
    power = size == INFINITY ? at_infinity : power;

    int is_integer = floor(y) == y;
    double half = y * 0.5;
    int is_odd = is_integer & (floor(half) != half);
    uint64_t sign = is_odd ? isobar_bits(x) & 0x8000000000000000u : 0;
    power = isobar_from_bits(isobar_bits(power) | sign);

    int is_nan = (x != x) | (y != y) | ((x < 0.0) & (size != INFINITY) & !is_integer);
    power = is_nan ? (double)NAN : power;
    return (x == 1.0) | (y == 0.0) ? 1.0 : power;
}

ISOBAR_INLINE double isobar_pow_f64(double x, double y)
{
    double bounded = y > 1e21 ? 1e21 : y;
    bounded = bounded < -1e21 ? -1e21 : bounded;

    isobar_double log = isobar_log_double(fabs(x));
    isobar_double exponent = isobar_two_product(bounded, log.high);
    double power = isobar_exp_of_sum(exponent.high, exponent.low + bounded * log.low);
    return isobar_pow_special_cases(x, y, power);
}

ISOBAR_INLINE float isobar_pow_f32(float x, float y)
{
    double power = isobar_exp_to_single((double)y * isobar_log_to_single(fabs((double)x)));
    return (float)isobar_pow_special_cases((double)x, (double)y, power);
}
