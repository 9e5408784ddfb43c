//! Sine, cosine and tangent of any number.
//!
//! x = n pi/2 + r with |r| <= pi/4. The remainder comes from x times 2/pi modulo 4 (M. H. Payne and R. N.
//! Hanek, "Radian reduction for trigonometric functions", ACM SIGNUM Newsletter 18 (1983)). A table gives as
//! many bits of 2/pi as matter for the size of x. So one way serves all numbers. Sine and cosine of r are
//! polynomials, added as in the library FDLIBM of Sun Microsystems, 1993; the tangent is their quotient.

use super::SHIFT;
use super::double_double::{Double, product, quick_two_sum, quotient, two_product, two_sum};
use super::real::{Bits, Real, polynomial};
use super::tables::TWO_OVER_PI;

const PI_HALF: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

/// `sin(x)`
#[inline]
pub fn sin<T: Real>(x: T) -> T {
    let reduced = reduce(x.abs());
    let y = T::choose(reduced.is_odd, cosine(reduced.r).rounded(), sine(reduced.r).rounded());
    let y = negative_by_bit(y.named("y"), reduced.quadrant & 2);
    finite(x, y.signed_as(x))
}

/// `cos(x)`
#[inline]
pub(super) fn cos<T: Real>(x: T) -> T {
    let reduced = reduce(x.abs());
    let y = T::choose(reduced.is_odd, sine(reduced.r).rounded(), cosine(reduced.r).rounded());
    finite(x, negative_by_bit(y.named("y"), reduced.quadrant.plus_constant(1) & 2))
}

/// `tan(x)`
#[inline]
pub(super) fn tan<T: Real>(x: T) -> T {
    let reduced = reduce(x.abs());
    let (s, c) = (sine(reduced.r), cosine(reduced.r));
    let (s, c) = (quick_two_sum(s.high, s.low), quick_two_sum(c.high, c.low));
    let upper = Double::choose(reduced.is_odd, c, s);
    let lower = Double::choose(reduced.is_odd, s, c);
    let y = quotient(upper, lower).rounded();
    finite(x, negative_by_bit(y.named("y"), (reduced.quadrant & 1) << 1).signed_as(x))
}

/// `y`, negative where the bit with the value two is set.
#[inline]
fn negative_by_bit<T: Real>(y: T, bit: T::Bits) -> T {
    T::of_bits(y.bits().plus(bit << 62))
}

#[inline]
fn finite<T: Real>(x: T, y: T) -> T {
    T::choose(x.abs().below(f64::INFINITY), y, x.constant(f64::NAN))
}

/// n pi/2 + r
struct TrigReduction<T: Real> {
    r: Double<T>,
    /// n in its low bits.
    quadrant: T::Bits,
    is_odd: T::Truth,
}

#[inline]
fn reduce<T: Real>(size: T) -> TrigReduction<T> {
    // Row j of the table has the fraction of 2^(32 j) 2/pi in four doubles. The integer part is left out:
    // times a number of 2^(32 j + 54) and more, it is a multiple of 4.
    let at_least = T::choose(size.below(TWO_54), size.constant(TWO_54), size).named("at_least");
    let row = ((at_least.bits() >> 52) & 0x7ff).plus_constant(0_u64.wrapping_sub(1023 + 54)) >> 5;
    // 2^(32 j)
    let unit = T::of_bits((row << 57).plus_constant(1023 << 52)).named("unit");
    let scaled = (size / unit).named("scaled");
    let first = row << 2;
    let entry = |n: u64| T::pick(&TWO_OVER_PI, first.plus_constant(n));

    let modulo_4 = |it: T| it - (it * 0.25).nearest() * 4.0;
    let p0 = two_product(scaled, entry(0));
    let p1 = two_product(scaled, entry(1));
    let p2 = two_product(scaled, entry(2));
    let p3 = scaled * entry(3);
    let a = two_sum(modulo_4(p0.high), modulo_4(p0.low));
    let b = two_sum(a.high, modulo_4(p1.high));
    let n = b.high.nearest().named("n");

    // The fraction may be as small as 2^-62: its parts cancel exactly.
    let mut sum = Double { high: b.high - n, low: p2.low + p3 };
    for part in [a.low, b.low, p1.low, p2.high] {
        let next = two_sum(sum.high, part);
        sum = Double { high: next.high, low: sum.low + next.low };
    }
    let sum = quick_two_sum(sum.high, sum.low);
    let r = product(sum, Double::constant(size, PI_HALF.0, PI_HALF.1));
    let r = quick_two_sum(r.high, r.low);

    // A small number is its own remainder, with all its bits.
    let is_small = size.below(std::f64::consts::FRAC_PI_4);
    let zero = size.constant(0.0);
    let r = Double {
        high: T::choose(is_small, size, r.high).named("r"),
        low: T::choose(is_small, zero, r.low).named("r_low"),
    };
    let n = T::choose(is_small, zero, n);
    let half = n * 0.5;
    TrigReduction { r, quadrant: (n + SHIFT).bits(), is_odd: !half.floor().equals(half) }
}

/// 2^54
const TWO_54: f64 = 18_014_398_509_481_984.0;

/// `sin(r)` for |r| <= pi/4, not normalised.
#[inline]
pub(super) fn sine<T: Real>(r: Double<T>) -> Double<T> {
    // (sin(r) / r - 1) / r^2; the error is 2^-57 of 1/r^2.
    const C: [f64; 6] = [
        -0.166_666_666_666_666_32,
        0.008_333_333_333_322_38,
        -0.000_198_412_698_297_779_1,
        2.755_731_368_073_159e-06,
        -2.505_075_625_520_697_3e-08,
        1.589_668_227_761_856_6e-10,
    ];
    let z = (r.high * r.high).named("z");
    let low = (r.high * z) * polynomial(z, C) + (r.low - r.low * (z * 0.5));
    Double { high: r.high, low: low.named("sine_low") }
}

/// `cos(r)` for |r| <= pi/4.
#[inline]
pub(super) fn cosine<T: Real>(r: Double<T>) -> Double<T> {
    // (cos(r) - 1 + r^2/2) / r^4; the error is 2^-59 of 1/r^4.
    const C: [f64; 6] = [
        0.041_666_666_666_666_6,
        -0.001_388_888_888_887_411_2,
        2.480_158_728_946_900_4e-05,
        -2.755_731_434_726_198e-07,
        2.087_572_244_151_792_5e-09,
        -1.135_959_842_102_324_4e-11,
    ];
    let z = (r.high * r.high).named("z");
    let half = (z * 0.5).named("half");
    let high = (-half + 1.0).named("cosine");
    let low = ((-high + 1.0) - half)
        + (((z * z) * polynomial(z, C) - r.high * r.low) - r.high.product_error(r.high, z) * 0.5);
    Double { high, low: low.named("cosine_low") }
}
