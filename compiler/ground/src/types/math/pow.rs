//! Powers of floats.
//!
//! |x|^y = exp(y log |x|), the logarithm and the product as sums of two doubles, as in W. J. Cody
//! and W. Waite, "Software Manual for the Elementary Functions", 1980, chapter 7. A power that is
//! representable is exact, such as 3.0 ** 4.0 or 0.5 ** -3.0. A square is the product, so that code
//! generators may write a product where the exponent is 2. The special cases are those of C99, annex
//! F.9.4.4.

use super::double_double::two_product;
use super::exp::{exp_of_sum, exp_to_single};
use super::log::{log_double, log_to_single};
use super::real::Real;

/// `x ** y`
#[inline]
pub(super) fn pow<T: Real>(x: T, y: T) -> T {
    let size = x.abs().named("size");
    let log = log_double(size);
    let high = at_the_ends(size, log.high.named("log_high"));
    // A product beyond the range of `product_error` decides alone.
    let exponent = two_product(y, high);
    let low = exponent.low + y * log.low;
    let power = exp_of_sum(exponent.high.named("exponent"), Some(low.named("exponent_low")));
    special_cases(x, y, size, power)
}

/// `x ** y` of singles, before it is rounded.
#[inline]
pub(super) fn pow_single<T: Real>(x: T, y: T) -> T {
    let size = x.abs().named("size");
    let power = exp_to_single(y * at_the_ends(size, log_to_single(size)));
    special_cases(x, y, size, power)
}

const TWO_53: f64 = 9_007_199_254_740_992.0;

/// The logarithm of 0 and of infinity.
#[inline]
fn at_the_ends<T: Real>(size: T, log: T) -> T {
    let log = T::choose(size.below(f64::INFINITY), log, size);
    log.but(size.is(0.0), f64::NEG_INFINITY).named("log")
}

/// `x ** y`, given `|x| ** y` where that is a number.
#[inline]
fn special_cases<T: Real>(x: T, y: T, size: T, power: T) -> T {
    // Of an odd y, and no other, the half is an integer and a half. From 2^53 on, floats are even
    // integers, and so are the infinities here.
    let half = y * 0.5;
    let is_odd = (half - half.floor()).is(0.5);
    let is_integer = y.floor().equals(y);
    let one = x.constant(1.0);
    let power = power * T::choose(is_odd, one.signed_as(x), one);
    let power = T::choose(y.is(2.0), (x * x).named("square"), power);

    let is_nan = x.is_nan() | y.is_nan() | (x.below(0.0) & size.below(f64::INFINITY) & !is_integer);
    // So is -1 to a power that is surely even, infinite ones too.
    let is_one = x.is(1.0) | y.is(0.0) | (x.is(-1.0) & y.abs().above(TWO_53));
    power.but(is_nan, f64::NAN).but(is_one, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::{narrow, pow_f32, pow_f64};

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
            (-3.0, 2.0, 9.0),
            (-INF, 2.0, INF),
            (1e200, 2.0, INF),
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
    fn a_square_is_the_product() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..10_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let x = f64::from_bits(state);
            if !x.is_nan() {
                assert_eq!(pow_f64(x, 2.0).to_bits(), (x * x).to_bits(), "{x}");
                let x = narrow(x);
                assert_eq!(pow_f32(x, 2.0).to_bits(), (x * x).to_bits(), "{x}");
            }
        }
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
