//! The exponential function.
//!
//! x = k ln(2) + r with |r| <= ln(2)/2, where ln(2) has two parts (W. J. Cody and W. Waite, "Software Manual
//! for the Elementary Functions", 1980, chapter 6). Then exp(x) = 2^k (1 + r + r^2 P(r)). The sum is formed
//! from its small end. There is no table: in a vector, looking up costs more than the longer polynomial does.

use super::double_double::{Double, quick_two_sum};
use super::real::{Bits, Real, polynomial};
use super::{LN_2_HIGH, LN_2_LOW, SHIFT};

const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// `exp(x)`
#[inline]
pub fn exp<T: Real>(x: T) -> T {
    exp_of_sum(x, None).or_nan_of(x)
}

/// `exp(high + low)`, where `low` is at most a rounding error of `high`.
#[inline]
pub(super) fn exp_of_sum<T: Real>(high: T, low: Option<T>) -> T {
    let parts = reduce(high, low);
    let y = (parts.r_high + parts.tail) + 1.0;

    // Where 2^k is beyond the range of normal numbers on either side, y is multiplied by it in two steps. The
    // first one is exact, so a subnormal result is rounded once.
    let is_tiny = high.below(-600.0);
    let before = T::choose(is_tiny, high.constant(SHIFT + 128.0), high.constant(SHIFT - 1.0));
    let after = T::choose(is_tiny, high.constant(TWO_TO_MINUS_128), high.constant(2.0));
    let y = times_power_of_two(y.named("y"), (parts.k + before).bits()) * after;
    y.but(high.above(710.0), f64::INFINITY).but(high.below(-746.0), 0.0)
}

/// `exp(x)` over 2^k to some 57 bits, and k.
#[inline]
pub(super) fn exp_double<T: Real>(x: Double<T>) -> (Double<T>, T) {
    let parts = reduce(x.high, Some(x.low));
    let sum = quick_two_sum(x.high.constant(1.0), parts.r_high);
    (quick_two_sum(sum.high, sum.low + parts.tail), parts.k)
}

/// k ln(2) + r, where exp(r) = 1 + r_high + tail.
struct ExpReduction<T> {
    k: T,
    r_high: T,
    tail: T,
}

#[inline]
fn reduce<T: Real>(high: T, low: Option<T>) -> ExpReduction<T> {
    let k = ((high * LOG2_E + SHIFT) - SHIFT).named("k");
    let r_high = (high - k * LN_2_HIGH).named("r_high");
    let rest = k * -LN_2_LOW;
    let r_low = low.map_or(rest, |low| low + rest).named("r_low");
    let r = (r_high + r_low).named("r");

    // (exp(r) - 1 - r) / r^2; the error is 2^-61 of exp(r).
    const C: [f64; 11] = [
        0.5,
        0.166_666_666_666_666_7,
        0.041_666_666_666_666_67,
        0.008_333_333_333_326_141,
        0.001_388_888_888_888_375_2,
        0.000_198_412_698_748_004_93,
        2.480_158_732_553_336_3e-5,
        2.755_725_542_574_643_5e-6,
        2.755_727_366_134_863_7e-7,
        2.510_520_637_395_710_7e-8,
        2.091_467_937_658_400_5e-9,
    ];
    ExpReduction { k, r_high, tail: r_low + (r * r) * polynomial(r, C) }
}

const TWO_TO_MINUS_128: f64 = 2.938_735_877_055_719e-39;

/// `x 2^n` for a normal result, given an integer with n in its low twelve bits.
#[inline]
fn times_power_of_two<T: Real>(x: T, n: T::Bits) -> T {
    T::of_bits(x.bits().plus(n << 52))
}

/// 2^n for an integer between -1023 and 1024.
#[inline]
pub(super) fn power_of_two<T: Real>(n: T) -> T {
    T::of_bits(((n + SHIFT).bits() << 52).plus_constant(1023 << 52))
}

/// `exp(x)` to 2^-37, with a range somewhat beyond that of a single.
#[inline]
pub(super) fn exp_to_single<T: Real>(x: T) -> T {
    let x = x.but(x.below(-110.0), -110.0);
    let x = x.but(x.above(90.0), 90.0).named("bounded");
    let shifted = (x * LOG2_E + SHIFT).named("shifted");
    let r = (x - (shifted - SHIFT) * std::f64::consts::LN_2).named("r");
    // (exp(r) - 1 - r) / r^2; the error is 2^-37 of exp(r).
    const C: [f64; 7] = [
        0.5,
        0.166_666_667_189_975_08,
        0.041_666_666_718_980_845,
        0.008_333_298_483_754_886,
        0.001_388_885_404_961_482,
        0.000_198_992_739_586_494_66,
        2.485_957_822_262_54e-5,
    ];
    let y = (r + (r * r) * polynomial(r, C)) + 1.0;
    times_power_of_two(y.named("y"), shifted.bits())
}

/// `exp(x)` of a single, before it is rounded.
#[inline]
pub(super) fn exp_single<T: Real>(x: T) -> T {
    exp_to_single(x).or_nan_of(x)
}

#[cfg(test)]
mod tests {
    use super::super::narrow;
    use super::{exp, exp_single};

    fn exp_f64(x: f64) -> f64 {
        exp(x)
    }

    fn exp_f32(x: f32) -> f32 {
        narrow(exp_single(f64::from(x)))
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        assert_eq!(exp_f64(0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(exp_f64(-0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(exp_f64(f64::INFINITY).to_bits(), f64::INFINITY.to_bits());
        assert_eq!(exp_f64(f64::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp_f64(709.782_712_893_384).to_bits(), 0x7fef_ffff_ffff_ff2a);
        assert_eq!(exp_f64(709.782_712_893_384_1).to_bits(), f64::INFINITY.to_bits());
        assert_eq!(exp_f64(-745.133_219_101_941_1).to_bits(), 1);
        assert_eq!(exp_f64(-745.133_219_101_941_3).to_bits(), 0);
        assert_eq!(exp_f32(88.722_83).to_bits(), 0x7f7f_ff84);
        assert_eq!(exp_f32(88.722_84).to_bits(), f32::INFINITY.to_bits());
        assert_eq!(exp_f32(f32::NEG_INFINITY).to_bits(), 0);
    }

    #[test]
    fn nan_is_the_plain_one() {
        assert_eq!(exp_f64(f64::from_bits(0xfff8_0000_0000_0001)).to_bits(), 0x7ff8_0000_0000_0000);
        assert_eq!(exp_f32(f32::from_bits(0xffc0_0001)).to_bits(), 0x7fc0_0000);
    }
}
