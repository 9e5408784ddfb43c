/* The exponential function: x = k ln 2 + r, exp(x) = 2^k (1 + r + r^2 P(r)). */

/* 2^n, given n + 1.5 * 2^52. */
ISOBAR_INLINE double isobar_power_of_two(double shifted)
{
    return isobar_from_bits((isobar_bits(shifted) + 1023) << 52);
}

/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2. */
ISOBAR_INLINE double isobar_exp_tail_f64(double r)
{
    double s = r * r;
    double even = 0.5 + s * (0.04166666666666667 + s * (0.0013888888888883752
        + s * (2.4801587325333533e-05 + s * (2.7557273661348637e-07 + s * 2.0914679376584005e-09))));
    double odd = 0.1666666666666667 + s * (0.008333333333326141 + s * (0.00019841269874800493
        + s * (2.7557255425746435e-06 + s * 2.5105206373957107e-08)));
    return even + r * odd;
}

/* exp(high + low), where low is at most a rounding error of high. */
ISOBAR_INLINE double isobar_exp_of_sum(double high, double low)
{
    double clamped = high < -746.0 ? -746.0 : high;
    clamped = clamped > 710.0 ? 710.0 : clamped;
    low = clamped == high ? low : 0.0;

    double k = (clamped * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;
    isobar_double r =
        isobar_quick_two_sum(clamped - k * 0.6931471805598903, low - k * 5.497923018708371e-14);

    isobar_double sum = isobar_quick_two_sum(1.0, r.high);
    double tail = (r.low + r.low * r.high) + (r.high * r.high) * isobar_exp_tail_f64(r.high);
    double y = sum.high + (sum.low + tail);

    double half = k * 0.5 + 6755399441055744.0;
    double rest = (k - (half - 6755399441055744.0)) + 6755399441055744.0;
    return (y * isobar_power_of_two(half)) * isobar_power_of_two(rest);
}

ISOBAR_INLINE double isobar_exp_f64(double x)
{
    double y = isobar_exp_of_sum(x, 0.0);
    return x != x ? (double)NAN : y;
}

/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, enough for a float. */
ISOBAR_INLINE double isobar_exp_tail_f32(double r)
{
    double s = r * r;
    double even = 0.5 + s * (0.041666666718980845 + s * (0.001388885404961482 + s * 2.48595782226254e-05));
    double odd = 0.16666666718997508 + s * (0.008333298483754886 + s * 0.00019899273958946648);
    return even + r * odd;
}

/* exp(x) to 2^-37, with a range somewhat beyond that of a float. */
ISOBAR_INLINE double isobar_exp_to_single(double x)
{
    double clamped = x < -110.0 ? -110.0 : x;
    clamped = clamped > 90.0 ? 90.0 : clamped;
    double shifted = clamped * 1.4426950408889634 + 6755399441055744.0;
    double r = clamped - (shifted - 6755399441055744.0) * 0.6931471805599453;
    double y = 1.0 + (r + (r * r) * isobar_exp_tail_f32(r));
    return y * isobar_power_of_two(shifted);
}

ISOBAR_INLINE float isobar_exp_f32(float x)
{
    double y = isobar_exp_to_single((double)x);
    return x != x ? NAN : (float)y;
}
