//! Arc sine, arc cosine and arc tangent.
//!
//! A polynomial in a small argument, to which a larger one is reduced. The arc sine of x is pi/2 less twice
//! that of sqrt((1 - x)/2). The arc tangent of x is that of c plus that of (x - c)/(1 + c x), for a c of 0, 1
//! or infinity. Roots and quotients keep the part that they round off.

use super::double_double::{Double, quick_two_sum, quotient, root, two_sum};
use super::real::{Real, polynomial};

const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;
const PI_HALF_LOW: f64 = 6.123_233_995_736_766e-17;
const PI_QUARTER_LOW: f64 = 3.061_616_997_868_383e-17;

/// `asin(x)`
#[inline]
pub(super) fn asin<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let is_large = size.above(0.5);
    let part = arc(size, is_large);
    // pi/2 - 2 asin(s)
    let far = quick_two_sum(x.constant(std::f64::consts::FRAC_PI_2), part.high * -2.0);
    let far = far.high + (far.low + (part.low * -2.0 + PI_HALF_LOW));
    let y = T::choose(is_large, far.named("far"), part.rounded());
    y.signed_as(x).but(!size.less(x.constant(ABOVE_ONE)), f64::NAN)
}

/// `acos(x)`
#[inline]
pub(super) fn acos<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let is_large = size.above(0.5);
    let part = arc(size, is_large);
    let is_negative = x.below(0.0);
    // 2 asin(s), or pi less that
    let twice = Double { high: part.high * 2.0, low: part.low * 2.0 };
    let beyond = quick_two_sum(x.constant(std::f64::consts::PI), -twice.high);
    let beyond = beyond.high + (beyond.low + (-twice.low + PI_LOW));
    let far = T::choose(is_negative, beyond.named("beyond"), twice.rounded());
    // pi/2 - asin(x)
    let sign = T::choose(is_negative, x.constant(1.0), x.constant(-1.0)).named("sign");
    let near = quick_two_sum(x.constant(std::f64::consts::FRAC_PI_2), part.high * sign);
    let near = near.high + (near.low + (part.low * sign + PI_HALF_LOW));
    T::choose(is_large, far.named("far"), near.named("near")).but(!size.less(x.constant(ABOVE_ONE)), f64::NAN)
}

const ABOVE_ONE: f64 = 1.000_000_000_000_000_2;

/// The arc sine of a number up to 1/2, or of the root of half its distance from 1.
#[inline]
fn arc<T: Real>(size: T, is_large: T::Truth) -> Double<T> {
    // (asin(s) / s - 1) / s^2; the error is 2^-57 of 1/s^2.
    const C: [f64; 13] = [
        0.166_666_666_666_667_63,
        0.074_999_999_999_703_91,
        0.044_642_857_175_020_24,
        0.030_381_942_687_747_1,
        0.022_372_215_557_671_67,
        0.017_351_601_751_986_738,
        0.013_980_943_255_375_945,
        0.011_397_913_696_815_603,
        0.010_785_808_551_620_963,
        0.003_685_601_356_421_524,
        0.021_757_606_872_055_132,
        -0.021_069_361_436_946_786,
        0.032_672_151_889_987_64,
    ];
    let zero = size.constant(0.0);
    // Exact, as 1 - x is.
    let half = ((-size + 1.0) * 0.5).named("half");
    let near = Double { high: size, low: zero };
    let s = Double::choose(is_large, root(Double { high: half, low: zero }), near);
    let (s, s_low) = (s.high.named("s"), s.low.named("s_low"));
    let z = T::choose(is_large, half, size * size).named("z");
    Double { high: s, low: (s_low + (s * z) * polynomial(z, C)).named("low") }
}

/// `atan(x)`
#[inline]
pub(super) fn atan<T: Real>(x: T) -> T {
    // Beyond 2^100 nothing changes any more.
    let size = x.abs();
    let size = size.but(size.above(TWO_100), TWO_100).named("size");
    let is_small = size.below(TAN_PI_8);
    let is_large = size.above(TAN_3_PI_8);
    let (zero, one) = (size.constant(0.0), size.constant(1.0));
    let (less, more) = (two_sum(size, -one), two_sum(size, one));
    let whole = |it: T| Double { high: it, low: zero };
    let upper = Double::choose(is_small, whole(size), Double::choose(is_large, whole(-one), less));
    let lower = Double::choose(is_small, whole(one), Double::choose(is_large, whole(size), more));
    let base = one
        .constant(std::f64::consts::FRAC_PI_4)
        .but(is_small, 0.0)
        .but(is_large, std::f64::consts::FRAC_PI_2);
    let base_low = one.constant(PI_QUARTER_LOW).but(is_small, 0.0).but(is_large, PI_HALF_LOW);

    let t = quotient(upper, lower);
    let (t, t_low) = (t.high.named("t"), t.low);

    // (atan(t) / t - 1) / t^2; the error is 2^-59 of 1/t^2.
    const C: [f64; 11] = [
        -0.333_333_333_333_332,
        0.199_999_999_999_537_38,
        -0.142_857_142_802_085_64,
        0.111_111_107_839_394_64,
        -0.090_908_977_685_073_58,
        0.076_920_603_572_198_82,
        -0.066_631_051_283_095_81,
        0.058_478_933_409_761_86,
        -0.050_393_061_648_831_76,
        0.038_064_186_888_908_856,
        -0.017_906_366_271_647_156,
    ];
    let z = (t * t).named("z");
    let sum = quick_two_sum(base.named("base"), t);
    let y = sum.high + (sum.low + ((base_low + t_low) + (t * z) * polynomial(z, C)));
    y.signed_as(x).or_nan_of(x)
}

const TWO_100: f64 = 1.267_650_600_228_229_4e30;
/// tan(pi/8) and tan(3 pi/8), nearly.
const TAN_PI_8: f64 = 0.414_213_562_373_095_1;
const TAN_3_PI_8: f64 = 2.414_213_562_373_095;
