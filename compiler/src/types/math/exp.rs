//! The exponential function.
//!
//! x = k ln 2 + r with |r| <= ln(2) / 2 (W. J. Cody and W. Waite, "Software Manual for the Elementary
//! Functions", 1980, chapter 6: ln 2 in two parts), then exp(r) = 1 + r + r^2 P(r). The sum is formed
//! from the large end, keeping what each step rounds off (P.-T. P. Tang, "Table-driven
//! implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15
//! (1989), section 2, here without a table: a gather costs more than the longer polynomial).

use super::double_double::quick_two_sum;
use super::{LN_2_HIGH, LN_2_LOW, SHIFT, narrow};

const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// Below, `exp` rounds to zero; above, to infinity. Both are well past the borders.
const LOWEST: f64 = -746.0;
const HIGHEST: f64 = 710.0;

/// `exp(x)`; the largest error is stated in the module.
#[must_use]
#[inline]
pub fn exp_f64(x: f64) -> f64 {
    let y = exp_of_sum(x, 0.0);
    if x.is_nan() { f64::NAN } else { y }
}

/// `exp(high + low)`, where `low` is at most a rounding error of `high`.
#[inline]
#[expect(clippy::float_cmp, reason = "asks whether the clamp changed a bit")]
pub(super) fn exp_of_sum(high: f64, low: f64) -> f64 {
    let clamped = if high < LOWEST { LOWEST } else { high };
    let clamped = if clamped > HIGHEST { HIGHEST } else { clamped };
    let low = if clamped == high { low } else { 0.0 };

    let k = (clamped * LOG2_E + SHIFT) - SHIFT;
    let r = quick_two_sum(clamped - k * LN_2_HIGH, low - k * LN_2_LOW);

    let sum = quick_two_sum(1.0, r.high);
    let tail = (r.low + r.low * r.high) + (r.high * r.high) * exp_tail_f64(r.high);
    let y = sum.high + (sum.low + tail);

    // 2^k in two factors, as k may be beyond both ends of the exponent range; the first product is
    // exact, so a subnormal result is rounded once.
    let half = k * 0.5 + SHIFT;
    let rest = (k - (half - SHIFT)) + SHIFT;
    (y * power_of_two(half)) * power_of_two(rest)
}

/// 2^n, given n + [`SHIFT`]: the low bits are n, and all but twelve of them are shifted out.
#[inline]
fn power_of_two(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2; the error is 2^-61 of exp(r).
#[inline]
fn exp_tail_f64(r: f64) -> f64 {
    const C: [f64; 11] = [
        0.5,
        0.166_666_666_666_666_7,
        0.041_666_666_666_666_67,
        0.008_333_333_333_326_141,
        0.001_388_888_888_888_375_2,
        0.000_198_412_698_748_004_93,
        2.480_158_732_533_353e-5,
        2.755_725_542_574_643_5e-6,
        2.755_727_366_134_863_7e-7,
        2.510_520_637_395_710_7e-8,
        2.091_467_937_658_400_5e-9,
    ];
    let s = r * r;
    let even = C[0] + s * (C[2] + s * (C[4] + s * (C[6] + s * (C[8] + s * C[10]))));
    let odd = C[1] + s * (C[3] + s * (C[5] + s * (C[7] + s * C[9])));
    even + r * odd
}

/// `exp(x)` in single precision: in double precision, to 2^-37, and rounded once.
#[must_use]
#[inline]
pub fn exp_f32(x: f32) -> f32 {
    let y = exp_to_single(f64::from(x));
    if x.is_nan() { f32::NAN } else { narrow(y) }
}

/// `exp(x)` to 2^-37, with a range somewhat beyond that of a single.
#[inline]
pub(super) fn exp_to_single(x: f64) -> f64 {
    let clamped = if x < -110.0 { -110.0 } else { x };
    let clamped = if clamped > 90.0 { 90.0 } else { clamped };
    let shifted = clamped * LOG2_E + SHIFT;
    let r = clamped - (shifted - SHIFT) * std::f64::consts::LN_2;
    let y = 1.0 + (r + (r * r) * exp_tail_f32(r));
    y * power_of_two(shifted)
}

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2; the error is 2^-37 of exp(r).
#[inline]
fn exp_tail_f32(r: f64) -> f64 {
    const C: [f64; 7] = [
        0.5,
        0.166_666_667_189_975_08,
        0.041_666_666_718_980_845,
        0.008_333_298_483_754_886,
        0.001_388_885_404_961_482,
        0.000_198_992_739_589_466_5,
        2.485_957_822_262_54e-5,
    ];
    let s = r * r;
    let even = C[0] + s * (C[2] + s * (C[4] + s * C[6]));
    let odd = C[1] + s * (C[3] + s * C[5]);
    even + r * odd
}

#[cfg(test)]
mod tests {
    use super::*;

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
