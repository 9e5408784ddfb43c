/* Numbers as unevaluated sums of two doubles: about 106 bits (Dekker 1971). */
typedef struct isobar_double {
    double high, low;
} isobar_double;

/* a + b exactly, for |a| >= |b| or a == 0. */
ISOBAR_INLINE isobar_double isobar_quick_two_sum(double a, double b)
{
    double high = a + b;
    return (isobar_double){high, b - (high - a)};
}

/* a + b exactly, whichever is larger. */
ISOBAR_INLINE isobar_double isobar_two_sum(double a, double b)
{
    double high = a + b;
    double b_part = high - a;
    return (isobar_double){high, (a - (high - b_part)) + (b - b_part)};
}

/* a as two numbers of 26 bits. */
ISOBAR_INLINE isobar_double isobar_split(double a)
{
    double scaled = 134217729.0 * a;
    double high = scaled - (scaled - a);
    return (isobar_double){high, a - high};
}

/* a * b exactly, while neither overflows nor underflows. */
ISOBAR_INLINE isobar_double isobar_two_product(double a, double b)
{
    double high = a * b;
    isobar_double x = isobar_split(a), y = isobar_split(b);
    double low = ((x.high * y.high - high) + x.high * y.low + x.low * y.high) + x.low * y.low;
    return (isobar_double){high, low};
}

/* a * b to about 104 bits, not normalised. */
ISOBAR_INLINE isobar_double isobar_product(isobar_double a, isobar_double b)
{
    isobar_double p = isobar_two_product(a.high, b.high);
    return (isobar_double){p.high, p.low + (a.high * b.low + a.low * b.high)};
}
