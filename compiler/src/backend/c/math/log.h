/* Logarithms: x = 2^e m, s = (m - 1) / (m + 1), log(m) = 2 atanh(s). */

/* The exponent and the mantissa in [sqrt(1/2), sqrt(2)), as high and low. */
ISOBAR_INLINE isobar_double isobar_decompose_normal(double x, double bias)
{
    uint64_t shifted = isobar_bits(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    double e = isobar_from_bits((shifted >> 52) | 0x4330000000000000u) - bias;
    double m = isobar_from_bits((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    return (isobar_double){e, m};
}

ISOBAR_INLINE isobar_double isobar_decompose(double x)
{
    double raised = x * 18014398509481984.0;
    int is_subnormal = x < 2.2250738585072014e-308;
    double scaled = is_subnormal ? raised : x;
    return isobar_decompose_normal(
        scaled, is_subnormal ? 4503599627370496.0 + 1077.0 : 4503599627370496.0 + 1023.0);
}

/* The logarithm where it isn't one of a positive, finite number. */
ISOBAR_INLINE double isobar_at_the_ends(double x, double y)
{
    y = x == INFINITY ? x : y;
    y = x == 0.0 ? -INFINITY : y;
    return x >= 0.0 ? y : (double)NAN;
}

/* 1/3 + z/5 + z^2/7 + ... for z up to 0.0295. */
ISOBAR_INLINE double isobar_atanh_tail_f64(double z)
{
    double q = z * z;
    double even = 0.3333333333333335
        + q * (0.14285714312987743 + q * (0.09091444562630863 + q * 0.0730822484252232));
    double odd = 0.19999999999949752 + q * (0.1111110556739754 + q * 0.07665860800277971);
    return even + z * odd;
}

ISOBAR_INLINE double isobar_log_f64(double x)
{
    isobar_double parts = isobar_decompose(x);
    double e = parts.high;
    double f = parts.low - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double tail = 2.0 * z * isobar_atanh_tail_f64(z);
    double f_high = isobar_from_bits(isobar_bits(f) & 0xfffffffff8000000u);
    double square_high = 0.5 * f_high * f_high;
    double square_low = 0.5 * (f - f_high) * (f + f_high);
    isobar_double first = isobar_quick_two_sum(e * 0.6931471805598903, f);
    isobar_double sum = isobar_quick_two_sum(first.high, -square_high);
    double low = (sum.low + (first.low + e * 5.497923018708371e-14))
        + (s * (square_high + square_low + tail) - square_low);
    return isobar_at_the_ends(x, sum.high + low);
}

/* 1/7 + z/9 + z^2/11 + ... for z up to 0.0295. */
ISOBAR_INLINE double isobar_atanh_tail_double(double z)
{
    double q = z * z;
    double even = 0.14285714285714285
        + q * (0.09090909090650492 + q * (0.06666657340115024 + q * 0.05236453282852355));
    double odd = 0.11111111111111474
        + q * (0.07692307762438362 + q * (0.058830249342569335 + q * 0.053085138630481137));
    return even + z * odd;
}

/* log(x) for a positive, finite x to about 2^-68. */
ISOBAR_INLINE isobar_double isobar_log_double(double x)
{
    isobar_double parts = isobar_decompose(x);
    double e = parts.high, m = parts.low;

    double f = m - 1.0;
    isobar_double d = isobar_two_sum(m, 1.0);
    double reciprocal = 1.0 / d.high;
    double quotient = f * reciprocal;
    isobar_double p = isobar_two_product(quotient, d.high);
    double missing = ((f - p.high) - p.low) - quotient * d.low;
    isobar_double s = isobar_quick_two_sum(quotient, missing * reciprocal);

    isobar_double z = isobar_two_product(s.high, s.high);
    z.low = z.low + 2.0 * s.high * s.low;
    isobar_double inner = isobar_quick_two_sum(0.2, z.high * isobar_atanh_tail_double(z.high));
    inner.low = inner.low + -1.1102230246251566e-17;
    inner = isobar_product(z, inner);
    isobar_double inner_sum = isobar_quick_two_sum(0.3333333333333333, inner.high);
    inner_sum.low = inner_sum.low + (inner.low + 1.850371707708594e-17);
    isobar_double w = isobar_product(z, inner_sum);

    isobar_double twice = {2.0 * s.high, 2.0 * s.low};
    isobar_double cubic = isobar_product(twice, w);
    isobar_double log_m = isobar_quick_two_sum(twice.high, cubic.high);
    double low = log_m.low + (cubic.low + twice.low);

    isobar_double sum = isobar_quick_two_sum(e * 0.6931471805598903, log_m.high);
    return isobar_quick_two_sum(sum.high, sum.low + (e * 5.497923018708371e-14 + low));
}

ISOBAR_INLINE double isobar_log10_f64(double x)
{
    isobar_double log10_e = {0.4342944819032518, 1.098319650216765e-17};
    isobar_double y = isobar_product(isobar_log_double(x), log10_e);
    return isobar_at_the_ends(x, y.high + y.low);
}

/* 1/3 + z/5 + z^2/7 + ... for z up to 0.0295, enough for a float. */
ISOBAR_INLINE double isobar_atanh_tail_f32(double z)
{
    double q = z * z;
    double even = 0.3333333333368754 + q * (0.14285877267957245 + q * 0.09681326857101563);
    double odd = 0.19999999398668794 + q * 0.11095700415154224;
    return even + z * odd;
}

/* log(x) to 2^-43 for a positive x that came from a float. */
ISOBAR_INLINE double isobar_log_to_single(double x)
{
    isobar_double parts = isobar_decompose_normal(x, 4503599627370496.0 + 1023.0);
    double f = parts.low - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    return parts.high * 0.6931471805599453 + (2.0 * s + (2.0 * s) * (z * isobar_atanh_tail_f32(z)));
}

ISOBAR_INLINE float isobar_log_f32(float x)
{
    return (float)isobar_at_the_ends((double)x, isobar_log_to_single((double)x));
}

ISOBAR_INLINE float isobar_log10_f32(float x)
{
    return (float)isobar_at_the_ends((double)x, isobar_log_to_single((double)x) * 0.4342944819032518);
}
