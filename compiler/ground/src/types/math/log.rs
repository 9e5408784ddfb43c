//! Natural and decimal logarithms.
//!
//! x = 2^k m with m in [0.708, 1.417). The logarithm of m is 2 atanh(s) with s = (m - 1) / (m + 1),
//! an odd series (J. F. Hart et al., "Computer Approximations", 1968, section 6.3), added to the
//! others as in the library FDLIBM of Sun Microsystems, 1993.
//!
//! Where more digits are needed, there is a number c near m with a known logarithm. Then log(m) = log(c) +
//! log(1 + r) with r = m/c - 1 and |r| <= 2^-8 (P.-T. P. Tang, "Table-driven implementation of the logarithm
//! function in IEEE floating-point arithmetic", ACM TOMS 16 (1990)). Around 1 there is c = 1, so that the
//! logarithm of a number near 1 has as many digits as any. The quotient m/c is found as a product with 1/c,
//! and the part that this product rounds off is kept.

use super::double_double::{Double, product, quick_two_sum, quotient, two_product};
use super::real::{Bits, Real, polynomial};
use super::tables::{INVERSES, LOGARITHMS, LOGARITHMS_REST};
use super::{LN_2_HIGH, LN_2_LOW};

/// The bits of the lower end of m. From there on, each interval of the tables takes 2^45 bits; 1 is in the
/// middle of one.
const LOWEST_BITS: u64 = 0x3fe6_aaaa_aaaa_aaab;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
/// 2^52: its low bits, set to an integer, make that integer plus 2^52.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_52_BITS: u64 = 0x4330_0000_0000_0000;

/// `log(x)`
#[inline]
pub(super) fn log<T: Real>(x: T) -> T {
    let (scaled, bias) = normal(x);
    let (k, m) = split(scaled.bits().plus_constant(ONE_BITS - LOWEST_BITS), bias);
    let f = (m - 1.0).named("f");
    let s = (f / (f + 2.0)).named("s");
    let z = (s * s).named("z");
    // 2/3 + 2 z/5 + 2 z^2/7 + ...; the error is 2^-57 of 2/z.
    const C: [f64; 7] = [
        0.666_666_666_666_667,
        0.399_999_999_998_933_3,
        0.285_714_286_287_614_64,
        0.222_222_106_822_446_5,
        0.181_829_219_359_193_2,
        0.153_306_363_176_416_3,
        0.146_297_986_864_600_4,
    ];
    // log(1 + f) = f - f^2/2 + s (f^2/2 + z C(z)).
    let half = two_product(f * 0.5, f);
    let series = s * (half.high.named("half") + z * polynomial(z, C));
    let y = k * LN_2_HIGH - ((half.high - (series + (k * LN_2_LOW - half.low))) - f);
    at_the_ends(x, y)
}

/// `log10(x)`; powers of ten give integers.
#[inline]
pub(super) fn log10<T: Real>(x: T) -> T {
    let log10_e =
        Double { high: x.constant(std::f64::consts::LOG10_E), low: x.constant(1.098_319_650_216_765e-17) };
    let y = product(log_double(x), log10_e);
    at_the_ends(x, y.high + y.low)
}

/// `log(x)` for a positive, finite x to about 2^-68.
#[inline]
pub(super) fn log_double<T: Real>(x: T) -> Double<T> {
    let parts = decompose(x);
    let (k, r, rest) = (parts.k, parts.r, parts.rest);
    // Exactly: both are multiples of 2^-42.
    let head = k * LN_2_HIGH + T::pick(&LOGARITHMS, parts.interval);
    let head_low = k * LN_2_LOW + T::pick(&LOGARITHMS_REST, parts.interval);

    // log(1 + r + rest) = r - r^2/2 + rest (1 - r) + t^3 (1/3 - ...); the first two exactly.
    let square = two_product(r * -0.5, r);
    let first = quick_two_sum(head.named("head"), r);
    let second = quick_two_sum(first.high.named("first"), square.high.named("square"));

    // (log(1 + t) - t + t^2/2) / t^3; the error is 2^-70 of 1/t^2.
    const C: [f64; 6] = [
        0.333_333_333_333_333_37,
        -0.25,
        0.199_999_999_985_777_86,
        -0.166_666_666_653_866_73,
        0.142_859_657_020_256_16,
        -0.125_002_262_747_383_8,
    ];
    let t = (r + rest).named("t");
    let cubic = ((t * t) * t) * polynomial(t, C);
    let small = (head_low + square.low) + (first.low + second.low);
    let low = (small + (rest - r * rest)) + cubic;
    quick_two_sum(second.high.named("second"), low.named("low"))
}

/// The logarithm of `x` to a base; for a power of the base, it is exactly the exponent. None where one of the
/// two logarithms is no finite number, or that of the base is zero.
#[must_use]
pub fn log_to_base(x: f64, base: f64) -> Option<f64> {
    let is_positive = |it: f64| it > 0.0 && it < f64::INFINITY;
    let is_proper = is_positive(x) && is_positive(base) && (base - 1.0).abs() > 0.0;
    is_proper.then(|| quotient(log_double(x), log_double(base)).rounded())
}

/// `log(x)` of a single, before it is rounded.
#[inline]
pub(super) fn log_single<T: Real>(x: T) -> T {
    at_the_ends(x, log_to_single(x))
}

/// `log10(x)` of a single, before it is rounded.
#[inline]
pub(super) fn log10_single<T: Real>(x: T) -> T {
    at_the_ends(x, log_to_single(x) * std::f64::consts::LOG10_E)
}

/// `log(x)` to 2^-43 for a positive x that came from a single: never subnormal here.
#[inline]
pub(super) fn log_to_single<T: Real>(x: T) -> T {
    let (k, m) = split(x.bits().plus_constant(ONE_BITS - LOWEST_BITS), x.constant(TWO_52 + 1023.0));
    let f = m - 1.0;
    let s = (f / (f + 2.0)).named("s");
    let z = (s * s).named("z");
    // 2/3 + 2 z/5 + 2 z^2/7 + ...; the error is 2^-43 of 2/z.
    const C: [f64; 5] = [
        0.666_666_666_674_110_7,
        0.399_999_987_485_584_74,
        0.285_717_644_465_809_94,
        0.221_907_746_819_884_87,
        0.193_747_601_497_716_5,
    ];
    k * std::f64::consts::LN_2 + (s * 2.0 + s * (z * polynomial(z, C)))
}

/// 2^k c (1 + r + rest), with c from the tables.
struct LogReduction<T: Real> {
    k: T,
    interval: T::Bits,
    r: T,
    rest: T,
}

/// The parts of a positive, finite number.
#[inline]
fn decompose<T: Real>(x: T) -> LogReduction<T> {
    let (scaled, bias) = normal(x);
    let shifted = scaled.bits().plus_constant(ONE_BITS - LOWEST_BITS);
    let (k, m) = split(shifted, bias);
    let interval = (shifted >> 45) & 127;
    let quotient = two_product(m, T::pick(&INVERSES, interval).named("inverse"));
    let r = quotient.high.named("quotient") - 1.0;
    LogReduction { k, interval, r: r.named("r"), rest: quotient.low.named("rest") }
}

/// A normal number, 2^54 times as large where `x` is subnormal, and what its exponent is too large
/// by, plus 2^52.
#[inline]
fn normal<T: Real>(x: T) -> (T, T) {
    // 2^54
    const SCALE: f64 = 18_014_398_509_481_984.0;
    let is_subnormal = x.below(f64::MIN_POSITIVE);
    let scaled = T::choose(is_subnormal, x * SCALE, x).named("scaled");
    let bias = T::choose(is_subnormal, x.constant(TWO_52 + 1077.0), x.constant(TWO_52 + 1023.0));
    (scaled, bias)
}

/// Exponent and mantissa, given the bits of a number plus those of 1 minus the lowest.
#[inline]
fn split<T: Real>(shifted: T::Bits, bias: T) -> (T, T) {
    let k = T::of_bits((shifted >> 52) | TWO_52_BITS) - bias;
    let m = T::of_bits((shifted & MANTISSA).plus_constant(LOWEST_BITS));
    (k.named("k"), m.named("m"))
}

/// The logarithm where it isn't one of a positive, finite number.
#[inline]
fn at_the_ends<T: Real>(x: T, y: T) -> T {
    let y = T::choose(x.below(f64::INFINITY), y, x);
    let y = T::choose(x.above(0.0), y, x.constant(f64::NAN));
    y.but(x.is(0.0), f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::super::narrow;
    use super::{log, log_single, log10, log10_single};

    fn log_f64(x: f64) -> f64 {
        log(x)
    }

    fn log_f32(x: f32) -> f32 {
        narrow(log_single(f64::from(x)))
    }

    fn log10_f64(x: f64) -> f64 {
        log10(x)
    }

    fn log10_f32(x: f32) -> f32 {
        narrow(log10_single(f64::from(x)))
    }

    #[test]
    fn a_power_has_its_exponent_as_logarithm() {
        use super::log_to_base;
        for (x, base, exponent) in [(9.0, 3.0, 2.0), (125.0, 5.0, 3.0), (1e15, 10.0, 15.0), (0.25, 2.0, -2.0)]
        {
            assert_eq!(log_to_base(x, base).map(f64::to_bits), Some(f64::to_bits(exponent)), "{x} to {base}");
        }
        assert_eq!(log_to_base(1.0, 7.0), Some(0.0));
        assert!(
            [(0.0, 2.0), (-1.0, 2.0), (2.0, 1.0), (2.0, f64::INFINITY)]
                .iter()
                .all(|it| log_to_base(it.0, it.1).is_none())
        );
    }

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
