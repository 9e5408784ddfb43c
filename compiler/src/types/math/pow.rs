//! Powers of floats.
//!
//! |x|^y = exp(y log |x|), the logarithm and the product as sums of two doubles, as in W. J. Cody
//! and W. Waite, "Software Manual for the Elementary Functions", 1980, chapter 7. A power that is
//! representable is exact, such as 3.0 ** 4.0 or 0.5 ** -3.0. The special cases are those of C99,
//! annex F.9.4.4.

use super::double_double::two_product;
use super::exp::{exp_of_sum, exp_to_single};
use super::log::{log_double, log_to_single};
use super::narrow;

/// `x ** y`; the largest error is stated in the module.
#[must_use]
#[inline]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    // Beyond 1e21 in size, y takes every base but 1 to zero or infinity, and the product with the
    // logarithm stays far from overflow.
    const LARGE: f64 = 1e21;
    let bounded = if y > LARGE { LARGE } else { y };
    let bounded = if bounded < -LARGE { -LARGE } else { bounded };

    let log = log_double(x.abs());
    let exponent = two_product(bounded, log.high);
    let power = exp_of_sum(exponent.high, exponent.low + bounded * log.low);
    special_cases(x, y, power)
}

/// `x ** y` in single precision: in double precision, to 2^-36, and rounded once.
#[must_use]
#[inline]
pub fn pow_f32(x: f32, y: f32) -> f32 {
    let (x, y) = (f64::from(x), f64::from(y));
    let power = exp_to_single(y * log_to_single(x.abs()));
    narrow(special_cases(x, y, power))
}

/// `x ** y`, given `|x| ** y` for a finite |x| above zero.
#[inline]
#[expect(clippy::float_cmp, reason = "asks for exact values")]
fn special_cases(x: f64, y: f64, power: f64) -> f64 {
    let size = x.abs();
    let power = if size == 0.0 { if y < 0.0 { f64::INFINITY } else { 0.0 } } else { power };
    let power = if size == f64::INFINITY { if y < 0.0 { 0.0 } else { f64::INFINITY } } else { power };

    // From 2^53 on, floats are even integers, and so are the infinities here.
    let is_integer = y.floor() == y;
    let half = y * 0.5;
    let is_odd = is_integer & (half.floor() != half);
    let sign = if is_odd { x.to_bits() & (1 << 63) } else { 0 };
    let power = f64::from_bits(power.to_bits() | sign);

    let is_nan = x.is_nan() | y.is_nan() | ((x < 0.0) & (size != f64::INFINITY) & !is_integer);
    let power = if is_nan { f64::NAN } else { power };
    if (x == 1.0) | (y == 0.0) { 1.0 } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn special_cases_are_those_of_c99() {
        let cases = [
            (0.0, -1.0, INF),
            (-0.0, -1.0, -INF),
            (-0.0, -3.0, -INF),
            (0.0, -2.5, INF),
            (-0.0, -2.0, INF),
            (-0.0, -2.5, INF),
            (0.0, -INF, INF),
            (-0.0, -INF, INF),
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (-0.0, 2.5, 0.0),
            (-1.0, INF, 1.0),
            (-1.0, -INF, 1.0),
            (1.0, NAN, 1.0),
            (1.0, INF, 1.0),
            (NAN, 0.0, 1.0),
            (NAN, -0.0, 1.0),
            (INF, 0.0, 1.0),
            (-8.0, 1.0 / 3.0, NAN),
            (-1.0, 0.5, NAN),
            (0.5, -INF, INF),
            (-0.5, -INF, INF),
            (2.0, -INF, 0.0),
            (0.5, INF, 0.0),
            (-2.0, INF, INF),
            (-INF, -3.0, -0.0),
            (-INF, -2.0, 0.0),
            (-INF, -2.5, 0.0),
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, 2.5, INF),
            (INF, -1.0, 0.0),
            (INF, 1.0, INF),
            (NAN, 1.0, NAN),
            (2.0, NAN, NAN),
            (-2.0, 3.0, -8.0),
            (-2.0, 1e300, INF),
            (-2.0, -1e300, 0.0),
            (1.0, 1e300, 1.0),
            (-1.0, 1e300, 1.0),
            (-1.0, 9_007_199_254_740_991.0, -1.0),
            (1.000_000_000_000_000_2, 1e300, INF),
            (0.999_999_999_999_999_9, 1e300, 0.0),
            (2.0, 1023.0, 8.988_465_674_311_58e307),
            (2.0, 1024.0, INF),
            (-2.0, 1025.0, -INF),
            (2.0, -1074.0, 5e-324),
            (2.0, -1076.0, 0.0),
            (-2.0, -1077.0, -0.0),
            (5e-324, -0.5, 4.498_913_794_543_196_4e161),
        ];
        for (x, y, expected) in cases {
            let got = pow_f64(x, y);
            let close = (got - expected).abs() <= expected.abs() * 1e-14;
            assert!(got.to_bits() == f64::to_bits(expected) || close, "{x} ** {y} = {got}");
            let (x, y, expected) = (narrow(x), narrow(y), narrow(expected));
            if y.abs() < 1e6 && expected != 0.0 && expected.is_finite() {
                let got = pow_f32(x, y);
                assert!(
                    (got - expected).abs() <= expected.abs() * 1e-6,
                    "{x} ** {y} = {got} in single precision"
                );
            }
        }
        assert_eq!(pow_f32(-0.0, -3.0).to_bits(), f32::NEG_INFINITY.to_bits());
        assert_eq!(pow_f32(-8.0, 0.25).to_bits(), 0x7fc0_0000);
        assert_eq!(pow_f32(f32::NAN, 0.0).to_bits(), 1.0_f32.to_bits());
    }

    #[test]
    fn representable_powers_are_exact() {
        for base in 1..=50_u32 {
            let mut exact: u64 = 1;
            for n in 0..=40_u32 {
                // A power with more than 53 bits, trailing zeros apart, is rounded.
                if exact >> exact.trailing_zeros() < 1 << 53 {
                    let expected: f64 = exact.to_string().parse().expect("digits");
                    assert_eq!(
                        pow_f64(f64::from(base), f64::from(n)).to_bits(),
                        expected.to_bits(),
                        "{base} ** {n}"
                    );
                    let sign = if n % 2 == 1 { -1.0 } else { 1.0 };
                    assert_eq!(
                        pow_f64(-f64::from(base), f64::from(n)).to_bits(),
                        (sign * expected).to_bits()
                    );
                }
                let Some(next) = exact.checked_mul(u64::from(base)) else { break };
                exact = next;
            }
        }
        for n in -20..=20 {
            assert_eq!(
                pow_f64(0.5, f64::from(n)).to_bits(),
                f64::from_bits(((1023 - n) as u64) << 52).to_bits()
            );
            assert_eq!(pow_f32(2.0, n as f32).to_bits(), ((127 + n) as u32) << 23);
        }
    }
}
