//! The inverses of the hyperbolic functions.
//!
//! All three are an area tangent: asinh(x) is that of x / sqrt(x^2 + 1), and acosh(x) that of
//! sqrt(x^2 - 1) / x. Of a small argument it is a polynomial, and else a logarithm, both of numbers
//! in two parts.

use super::double_double::{Double, quick_two_sum, quotient, root, two_product, two_sum};
use super::log::log_double;
use super::real::{Real, polynomial};

const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);

/// `asinh(x)`
#[inline]
pub(super) fn asinh<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let y = area_of_root(size, 1.0, size.below(0.25));
    // A number too small for the squares is its own result.
    let y = T::choose(size.below(TINY), size, y);
    T::choose(size.below(f64::INFINITY), y, size).signed_as(x).or_nan_of(x)
}

/// `acosh(x)`
#[inline]
pub(super) fn acosh<T: Real>(x: T) -> T {
    let y = area_of_root(x, -1.0, x.below(1.03));
    T::choose(x.below(f64::INFINITY), y, x).but(!x.above(BELOW_ONE), f64::NAN)
}

/// `atanh(x)`
#[inline]
pub(super) fn atanh<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let zero = x.constant(0.0);
    let near = series(Double { high: size, low: zero }).named("near");
    let one = x.constant(1.0);
    let ratio = quotient(two_sum(one, size), two_sum(one, -size));
    let far = (logarithm(ratio).rounded() * 0.5).named("far");
    let y = T::choose(size.below(0.25), near, far);
    y.but(size.is(1.0), f64::INFINITY).signed_as(x).but(!size.less(x.constant(ABOVE_ONE)), f64::NAN)
}

const TINY: f64 = 1e-100;
const BELOW_ONE: f64 = 0.999_999_999_999_999_9;
const ABOVE_ONE: f64 = 1.000_000_000_000_000_2;

/// The area whose sine (with 1) or cosine (with -1) is `size`.
#[inline]
fn area_of_root<T: Real>(size: T, one: f64, is_near: T::Truth) -> T {
    let zero = size.constant(0.0);
    let square = two_product(size, size);
    let sum = two_sum(square.high, size.constant(one));
    let root = root(quick_two_sum(sum.high, sum.low + square.low));
    let root = quick_two_sum(root.high, root.low);
    let whole = Double { high: size, low: zero };

    let ratio = if one > 0.0 { quotient(whole, root) } else { quotient(root, whole) };
    let near = series(ratio).named("near");

    // From some size on the one does not count, and below that the square is finite.
    let is_large = size.above(1e10);
    let sum = two_sum(size, root.high);
    let sum = quick_two_sum(sum.high, sum.low + root.low);
    let log = logarithm(Double::choose(is_large, whole, sum));
    let more = Double {
        high: T::choose(is_large, size.constant(LN_2.0), zero),
        low: T::choose(is_large, size.constant(LN_2.1), zero),
    };
    let far = quick_two_sum(log.high, more.high);
    let far = far.high + (far.low + (log.low + more.low));
    T::choose(is_near, near, far.named("far"))
}

/// The area tangent of a number up to 1/4.
#[inline]
fn series<T: Real>(s: Double<T>) -> T {
    // (atanh(s) / s - 1) / s^2; the error is 2^-59 of 1/s^2.
    const C: [f64; 9] = [
        0.333_333_333_333_333_7,
        0.199_999_999_999_766_23,
        0.142_857_142_906_041_23,
        0.111_111_106_103_223_79,
        0.090_909_380_458_010_13,
        0.076_912_998_636_506_62,
        0.066_881_543_912_054,
        0.056_094_323_529_874_195,
        0.071_243_351_089_099_46,
    ];
    let z = (s.high * s.high).named("z");
    s.high + (s.low + (s.high * z) * polynomial(z, C))
}

/// The logarithm of a number in two parts.
#[inline]
fn logarithm<T: Real>(x: Double<T>) -> Double<T> {
    let log = log_double(x.high);
    Double { high: log.high, low: log.low + x.low / x.high }
}
