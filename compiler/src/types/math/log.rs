//! Natural and decimal logarithms.
//!
//! x = 2^e m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), and log(m) = 2 atanh(s), an odd
//! series in s (J. F. Hart et al., "Computer Approximations", 1968, section 6.3; the same reduction
//! as in P.-T. P. Tang, "Table-driven implementation of the logarithm function in IEEE
//! floating-point arithmetic", ACM TOMS 16 (1990), equation 3, without the table).

use super::double_double::{Double, product, quick_two_sum, two_product, two_sum};
use super::{LN_2_HIGH, LN_2_LOW, narrow};

/// The bits of sqrt(1/2), where the binade of `m` begins.
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
/// What of a double to keep for its upper 26 bits, whose square is exact.
const UPPER_26_BITS: u64 = 0xffff_ffff_f800_0000;
/// 2^52: its low bits, set to an integer, make that integer plus 2^52.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_52_BITS: u64 = 0x4330_0000_0000_0000;

/// `log(x)`; the largest error is stated in the module.
#[must_use]
#[inline]
pub fn log_f64(x: f64) -> f64 {
    let (e, m) = decompose(x);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let tail = 2.0 * z * atanh_tail_f64(z);
    // log(1 + f) = f - f^2/2 + s (f^2/2 + tail). The large parts f and f^2/2 (of the upper 26 bits
    // of f) are exact, and so is what adding them to e ln 2 rounds off.
    let f_high = f64::from_bits(f.to_bits() & UPPER_26_BITS);
    let square_high = 0.5 * f_high * f_high;
    let square_low = 0.5 * (f - f_high) * (f + f_high);
    let first = quick_two_sum(e * LN_2_HIGH, f);
    let sum = quick_two_sum(first.high, -square_high);
    let low = (sum.low + (first.low + e * LN_2_LOW)) + (s * (square_high + square_low + tail) - square_low);
    at_the_ends(x, sum.high + low)
}

/// `log10(x)`; the largest error is stated in the module. Powers of ten give integers.
#[must_use]
#[inline]
pub fn log10_f64(x: f64) -> f64 {
    const LOG10_E: Double = Double { high: std::f64::consts::LOG10_E, low: 1.098_319_650_216_765e-17 };
    let y = product(log_double(x), LOG10_E);
    at_the_ends(x, y.high + y.low)
}

/// `log(x)` in single precision: in double precision, to 2^-43, and rounded once.
#[must_use]
#[inline]
pub fn log_f32(x: f32) -> f32 {
    let x = f64::from(x);
    narrow(at_the_ends(x, log_to_single(x)))
}

/// `log10(x)` in single precision: in double precision, to 2^-43, and rounded once.
#[must_use]
#[inline]
pub fn log10_f32(x: f32) -> f32 {
    let x = f64::from(x);
    narrow(at_the_ends(x, log_to_single(x) * std::f64::consts::LOG10_E))
}

/// `log(x)` to 2^-43 for a positive x that came from a single: never subnormal here.
#[inline]
pub(super) fn log_to_single(x: f64) -> f64 {
    let (e, m) = decompose_normal(x, TWO_52 + 1023.0);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    e * std::f64::consts::LN_2 + (2.0 * s + (2.0 * s) * (z * atanh_tail_f32(z)))
}

/// `log(x)` for a positive, finite x to about 2^-68.
#[inline]
pub(super) fn log_double(x: f64) -> Double {
    const THIRD: Double = Double { high: 0.333_333_333_333_333_3, low: 1.850_371_707_708_594e-17 };
    const FIFTH: Double = Double { high: 0.2, low: -1.110_223_024_625_156_6e-17 };

    let (e, m) = decompose(x);
    // s = f / d with d = m + 1 in two parts: a rounded quotient and what is missing.
    let f = m - 1.0;
    let d = two_sum(m, 1.0);
    let reciprocal = 1.0 / d.high;
    let quotient = f * reciprocal;
    let p = two_product(quotient, d.high);
    let missing = ((f - p.high) - p.low) - quotient * d.low;
    let s = quick_two_sum(quotient, missing * reciprocal);

    // w = z/3 + z^2/5 + z^3 (1/7 + ...), the first two terms with both parts.
    let z = two_product(s.high, s.high);
    let z = Double { high: z.high, low: z.low + 2.0 * s.high * s.low };
    let inner = quick_two_sum(FIFTH.high, z.high * atanh_tail_double(z.high));
    let inner = product(z, Double { high: inner.high, low: inner.low + FIFTH.low });
    let inner_sum = quick_two_sum(THIRD.high, inner.high);
    let inner = Double { high: inner_sum.high, low: inner_sum.low + (inner.low + THIRD.low) };
    let w = product(z, inner);

    let twice = Double { high: 2.0 * s.high, low: 2.0 * s.low };
    let cubic = product(twice, w);
    let log_m = quick_two_sum(twice.high, cubic.high);
    let low = log_m.low + (cubic.low + twice.low);

    let sum = quick_two_sum(e * LN_2_HIGH, log_m.high);
    quick_two_sum(sum.high, sum.low + (e * LN_2_LOW + low))
}

/// The exponent and the mantissa in [sqrt(1/2), sqrt(2)) of a positive, finite number.
#[inline]
fn decompose(x: f64) -> (f64, f64) {
    // 2^54
    const SCALE: f64 = 18_014_398_509_481_984.0;
    let is_subnormal = x < f64::MIN_POSITIVE;
    let scaled = if is_subnormal { x * SCALE } else { x };
    decompose_normal(scaled, if is_subnormal { TWO_52 + 1077.0 } else { TWO_52 + 1023.0 })
}

#[inline]
fn decompose_normal(x: f64, bias: f64) -> (f64, f64) {
    let shifted = x.to_bits().wrapping_add(ONE_BITS - SQRT_HALF_BITS);
    let e = f64::from_bits((shifted >> 52) | TWO_52_BITS) - bias;
    let m = f64::from_bits((shifted & MANTISSA).wrapping_add(SQRT_HALF_BITS));
    (e, m)
}

/// The logarithm where it isn't one of a positive, finite number.
#[inline]
fn at_the_ends(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// 1/3 + z/5 + z^2/7 + ... for z up to 0.0295; the error is 2^-57 of 1/z.
#[inline]
fn atanh_tail_f64(z: f64) -> f64 {
    const C: [f64; 7] = [
        0.333_333_333_333_333_5,
        0.199_999_999_999_497_52,
        0.142_857_143_129_877_43,
        0.111_111_055_673_975_4,
        0.090_914_445_626_308_63,
        0.076_658_608_002_779_71,
        0.073_082_248_425_223_2,
    ];
    let q = z * z;
    let even = C[0] + q * (C[2] + q * (C[4] + q * C[6]));
    let odd = C[1] + q * (C[3] + q * C[5]);
    even + z * odd
}

/// 1/3 + z/5 + z^2/7 + ... for z up to 0.0295; the error is 2^-43 of 1/z.
#[inline]
fn atanh_tail_f32(z: f64) -> f64 {
    const C: [f64; 5] = [
        0.333_333_333_336_875_4,
        0.199_999_993_986_687_94,
        0.142_858_772_679_572_45,
        0.110_957_004_151_542_24,
        0.096_813_268_571_015_63,
    ];
    let q = z * z;
    let even = C[0] + q * (C[2] + q * C[4]);
    let odd = C[1] + q * C[3];
    even + z * odd
}

/// 1/7 + z/9 + z^2/11 + ... for z up to 0.0295; the error is 2^-72 of 1/z^3.
#[inline]
fn atanh_tail_double(z: f64) -> f64 {
    const C: [f64; 8] = [
        0.142_857_142_857_142_85,
        0.111_111_111_111_114_74,
        0.090_909_090_906_504_92,
        0.076_923_077_624_383_62,
        0.066_666_573_401_150_24,
        0.058_830_249_342_569_335,
        0.052_364_532_828_523_55,
        0.053_085_138_630_481_137,
    ];
    let q = z * z;
    let even = C[0] + q * (C[2] + q * (C[4] + q * C[6]));
    let odd = C[1] + q * (C[3] + q * (C[5] + q * C[7]));
    even + z * odd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_range_are_exact() {
        for log in [log_f64, log10_f64] {
            assert_eq!(log(1.0).to_bits(), 0);
            assert_eq!(log(0.0).to_bits(), f64::NEG_INFINITY.to_bits());
            assert_eq!(log(-0.0).to_bits(), f64::NEG_INFINITY.to_bits());
            assert_eq!(log(f64::INFINITY).to_bits(), f64::INFINITY.to_bits());
            for outside in [-1.0, -5e-324, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
                assert_eq!(log(outside).to_bits(), 0x7ff8_0000_0000_0000);
            }
        }
        for log in [log_f32, log10_f32] {
            assert_eq!(log(1.0).to_bits(), 0);
            assert_eq!(log(-0.0).to_bits(), f32::NEG_INFINITY.to_bits());
            assert_eq!(log(f32::INFINITY).to_bits(), f32::INFINITY.to_bits());
            assert_eq!(log(-1.0).to_bits(), 0x7fc0_0000);
        }
    }

    #[test]
    fn powers_of_ten_have_integer_logarithms() {
        for (n, power) in ["1e-3", "1e1", "1e2", "1e3", "1e10", "1e15", "1e22"]
            .iter()
            .zip([-3.0, 1.0, 2.0, 3.0, 10.0, 15.0, 22.0])
        {
            let x: f64 = n.parse().expect("a number");
            assert_eq!(log10_f64(x).to_bits(), f64::to_bits(power), "{n}");
        }
        for (x, power) in [(10.0, 1.0), (100.0, 2.0), (1e10, 10.0)] {
            assert_eq!(log10_f32(x).to_bits(), f32::to_bits(power), "{x}");
        }
    }

    #[test]
    fn subnormal_numbers_have_logarithms() {
        assert_eq!(log_f64(5e-324).to_bits(), (-744.440_071_921_381_2_f64).to_bits());
        assert_eq!(log10_f64(5e-324).to_bits(), (-323.306_215_343_115_8_f64).to_bits());
        assert_eq!(log_f32(1e-45).to_bits(), (-103.278_93_f32).to_bits());
    }
}
