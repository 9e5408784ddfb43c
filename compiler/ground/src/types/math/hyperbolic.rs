//! Hyperbolic sine, cosine and tangent.
//!
//! x = k ln(2) + r, with the formulas for the sine and the cosine of a sum. The functions of k ln(2) are sums
//! of two powers of two, and those of r are polynomials. So nothing cancels where x is small.

use super::double_double::{Double, quick_two_sum, quotient, two_product, two_sum};
use super::real::{Bits, Real, polynomial};
use super::{LN_2_HIGH, LN_2_LOW, SHIFT};

/// `sinh(x)`
#[inline]
pub(super) fn sinh<T: Real>(x: T) -> T {
    let parts = parts(x.abs());
    let y = sum(parts.difference, parts.sum, &parts).rounded();
    times(y.named("y"), parts.k).signed_as(x).or_nan_of(x)
}

/// `cosh(x)`
#[inline]
pub(super) fn cosh<T: Real>(x: T) -> T {
    let parts = parts(x.abs());
    let y = sum(parts.sum, parts.difference, &parts).rounded();
    times(y.named("y"), parts.k).or_nan_of(x)
}

/// `tanh(x)`
#[inline]
pub(super) fn tanh<T: Real>(x: T) -> T {
    let parts = parts(x.abs());
    let upper = sum(parts.difference, parts.sum, &parts);
    let lower = sum(parts.sum, parts.difference, &parts);
    quotient(upper, lower).rounded().signed_as(x).or_nan_of(x)
}

struct HyperbolicReduction<T> {
    k: T,
    /// 1 + 2^-2k and 1 - 2^-2k: cosine and sine of k ln(2), over 2^(k-1).
    sum: Double<T>,
    difference: Double<T>,
    /// cosh(r) - 1
    cosine: Double<T>,
    sine: Double<T>,
}

#[inline]
fn parts<T: Real>(size: T) -> HyperbolicReduction<T> {
    // Beyond, the sine is infinite, and the tangent is 1.
    let size = size.but(size.above(711.0), 711.0).named("size");
    let k = ((size * std::f64::consts::LOG2_E + SHIFT) - SHIFT).named("k");
    let r = two_sum(size - k * LN_2_HIGH, k * -LN_2_LOW);
    let (r, r_low) = (r.high.named("r"), r.low.named("r_low"));

    let bounded = k.but(k.above(500.0), 500.0);
    let power = (bounded * -2.0 + SHIFT).bits() << 52;
    let small = T::of_bits(power.plus_constant(1023 << 52)).named("small");
    let one = k.constant(1.0);

    // (sinh(r) / r - 1) / r^2; the error is 2^-60 of 1/r^2.
    const SINE: [f64; 5] = [
        0.166_666_666_666_666_77,
        0.008_333_333_333_321_63,
        0.000_198_412_698_861_200_4,
        2.755_724_422_225_259e-6,
        2.510_903_024_823_520_4e-8,
    ];
    // (cosh(r) - 1 - r^2/2) / r^4; the error is 2^-67 of 1/r^4.
    const COSINE: [f64; 5] = [
        0.041_666_666_666_666_685,
        0.001_388_888_888_887_349_6,
        2.480_158_734_872_184_2e-5,
        2.755_725_226_791_999_5e-7,
        2.092_162_142_121_588e-9,
    ];
    let square = two_product(r, r);
    let z = square.high.named("z");
    let cosine_low = (z * z) * polynomial(z, COSINE) + (square.low * 0.5 + r * r_low);
    let sine_low = (r * z) * polynomial(z, SINE) + (r_low + r_low * (z * 0.5));
    HyperbolicReduction {
        k,
        sum: quick_two_sum(one, small),
        difference: quick_two_sum(one, -small),
        cosine: Double { high: z * 0.5, low: cosine_low.named("cosine_low") },
        sine: Double { high: r, low: sine_low.named("sine_low") },
    }
}

/// a cosh(r) + b sinh(r)
#[inline]
fn sum<T: Real>(a: Double<T>, b: Double<T>, parts: &HyperbolicReduction<T>) -> Double<T> {
    let (cosine, sine) = (parts.cosine, parts.sine);
    let second = two_product(b.high, sine.high);
    let sum = two_sum(a.high, second.high);
    let even = a.high * cosine.high + (a.high * cosine.low + a.low);
    let odd = second.low + (b.high * sine.low + b.low * sine.high);
    quick_two_sum(sum.high, sum.low + (even + odd))
}

/// `y 2^(k - 1)`
#[inline]
fn times<T: Real>(y: T, k: T) -> T {
    let power = T::of_bits(((k + SHIFT).bits() << 52).plus_constant((1023 - 2) << 52));
    (y * 2.0) * power
}
