//! Arithmetic as Python's, on integers of 64 bits and on doubles. The reason is told where there is no value.

use std::cmp::Ordering;

use isobar_ground::types::math;

/// Why there is no value.
pub type Reason = &'static str;

const OVERFLOW: Reason = "an integer leaves 64 bits";
const ZERO: Reason = "a divisor is zero";

/// Sum, difference and product of integers.
///
/// # Errors
///
/// Where the result leaves 64 bits.
pub fn checked(result: Option<i64>) -> Result<i64, Reason> {
    result.ok_or(OVERFLOW)
}

/// `a // b`, rounded down.
///
/// # Errors
///
/// For a zero divisor, and where the result leaves 64 bits.
pub fn floor_div(a: i64, b: i64) -> Result<i64, Reason> {
    if b == 0 {
        return Err(ZERO);
    }
    let quotient = a.checked_div(b).ok_or(OVERFLOW)?;
    Ok(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// `a % b`, with the sign of the divisor.
///
/// # Errors
///
/// For a zero divisor.
pub fn modulo(a: i64, b: i64) -> Result<i64, Reason> {
    if b == 0 {
        return Err(ZERO);
    }
    let remainder = a.wrapping_rem(b);
    Ok(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
}

/// `a ** b` for integers.
///
/// # Errors
///
/// For a negative exponent, whose result is no integer, and where the result leaves 64 bits.
pub fn power(a: i64, b: i64) -> Result<i64, Reason> {
    let Ok(exponent) = u64::try_from(b) else { return Err("a negative exponent gives no integer") };
    match a {
        0 | 1 => Ok(if exponent == 0 { 1 } else { a }),
        -1 => Ok(if exponent.is_multiple_of(2) { 1 } else { -1 }),
        _ => {
            let exponent = u32::try_from(exponent).map_err(|_| OVERFLOW)?;
            a.checked_pow(exponent).ok_or(OVERFLOW)
        }
    }
}

/// `a / b` for integers: the double nearest to the quotient, as Python rounds it once.
///
/// # Errors
///
/// For a zero divisor.
#[expect(
    clippy::cast_precision_loss,
    reason = "integers up to 2^53 are exact, and the others are rounded once"
)]
pub fn true_div(a: i64, b: i64) -> Result<f64, Reason> {
    const EXACT: u64 = 1 << 53;
    if b == 0 {
        return Err(ZERO);
    }
    let (n, d) = (a.unsigned_abs(), b.unsigned_abs());
    if n <= EXACT && d <= EXACT {
        return Ok(a as f64 / b as f64);
    }
    // A quotient of 55 bits or more; its last bit tells whether something is left, so that rounding it is exact.
    let bits = |it: u64| u64::BITS - it.leading_zeros();
    let shift = (55 + bits(d)).saturating_sub(bits(n));
    let (n, d) = (u128::from(n) << shift, u128::from(d));
    let quotient = u64::try_from((n / d) | u128::from(n % d != 0)).unwrap_or(u64::MAX);
    let scale = f64::from_bits(u64::from(1023 - shift) << 52);
    let magnitude = quotient as f64 * scale;
    Ok(if (a < 0) == (b < 0) { magnitude } else { -magnitude })
}

/// `a / b` for doubles.
///
/// # Errors
///
/// For a zero divisor.
pub fn float_div(a: f64, b: f64) -> Result<f64, Reason> {
    if is_zero(b) { Err(ZERO) } else { Ok(a / b) }
}

/// `a // b` and `a % b` for doubles, as CPython's `float_divmod` has them.
///
/// # Errors
///
/// For a zero divisor.
pub fn float_divmod(a: f64, b: f64) -> Result<(f64, f64), Reason> {
    if is_zero(b) {
        return Err(ZERO);
    }
    let mut remainder = a % b;
    let mut quotient = (a - remainder) / b;
    if is_zero(remainder) {
        remainder = 0.0_f64.copysign(b);
    } else if (b < 0.0) != (remainder < 0.0) {
        remainder += b;
        quotient -= 1.0;
    }
    let floored = if is_zero(quotient) {
        0.0_f64.copysign(a / b)
    } else {
        let floored = quotient.floor();
        if quotient - floored > 0.5 { floored + 1.0 } else { floored }
    };
    Ok((floored, remainder))
}

/// `a ** b` for doubles.
///
/// # Errors
///
/// Where Python gives a complex number or raises an exception.
pub fn float_power(a: f64, b: f64) -> Result<f64, Reason> {
    if is_zero(a) && b < 0.0 {
        return Err(ZERO);
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && !is_whole(b) {
        return Err("a power of a negative number is complex");
    }
    let result = math::pow_f64(a, b);
    if result.is_infinite() && a.is_finite() && b.is_finite() {
        return Err("a power leaves double precision");
    }
    Ok(result)
}

/// The integer of a double that has no fraction.
///
/// # Errors
///
/// Where it leaves 64 bits, or is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the range is tested before, and 2^63 is exact"
)]
pub fn to_int(whole: f64) -> Result<i64, Reason> {
    if whole.is_nan() {
        return Err("NaN is no integer");
    }
    // 2^63
    let limit = -(i64::MIN as f64);
    if (-limit..limit).contains(&whole) { Ok(whole as i64) } else { Err(OVERFLOW) }
}

/// How an integer compares with a double, without rounding it.
#[must_use]
pub fn compare(a: i64, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    match to_int(b.trunc()) {
        Err(_) => Some(if b < 0.0 { Ordering::Greater } else { Ordering::Less }),
        Ok(whole) => Some(a.cmp(&whole).then_with(|| {
            let fraction = b - b.trunc();
            0.0_f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
        })),
    }
}

/// Exactly zero, of either sign.
fn is_zero(x: f64) -> bool {
    x == 0.0
}

#[expect(clippy::float_cmp, reason = "exactly a whole number")]
fn is_whole(x: f64) -> bool {
    x == x.trunc()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_divide_as_in_python() {
        for (a, b, quotient, remainder) in
            [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -3, -2, 0)]
        {
            assert_eq!((floor_div(a, b), modulo(a, b)), (Ok(quotient), Ok(remainder)), "{a} {b}");
        }
        assert_eq!(floor_div(i64::MIN, -1), Err(OVERFLOW));
        assert_eq!(modulo(i64::MIN, -1), Ok(0));
        assert_eq!(floor_div(1, 0), Err(ZERO));
        assert_eq!(power(-1, i64::MAX), Ok(-1));
        assert_eq!(power(2, 63), Err(OVERFLOW));
        assert_eq!(power(-2, 63), Ok(i64::MIN));
        assert_eq!(power(0, 0), Ok(1));
    }

    #[test]
    fn a_quotient_of_large_integers_is_rounded_once() {
        // Of CPython 3: the first operand and the quotient would each be rounded otherwise.
        let max = i64::MAX;
        for (a, b, expected) in [
            (max, 1, 9.223_372_036_854_776e18),
            (max, max - 1, 1.0),
            (9_007_199_254_740_993, 1, 9_007_199_254_740_992.0),
            (9_007_199_254_740_995, 1, 9_007_199_254_740_996.0),
            (i64::MIN, 3, -3.074_457_345_618_258_6e18),
            (1, max, 1.084_202_172_485_504_4e-19),
            (-6, 4, -1.5),
        ] {
            let expected: f64 = expected;
            assert_eq!(true_div(a, b).map(f64::to_bits), Ok(expected.to_bits()), "{a} / {b}");
        }
    }

    #[test]
    fn doubles_divide_as_in_python() {
        let bits = |it: Result<(f64, f64), Reason>| it.map(|(a, b)| (a.to_bits(), b.to_bits()));
        for (a, b, quotient, remainder) in [
            (7.5, 2.0, 3.0, 1.5),
            (-7.5, 2.0, -4.0, 0.5),
            (7.5, -2.0, -4.0, -0.5),
            (1.0, 0.1, 9.0, 0.099_999_999_999_999_95),
            (-0.0, 2.0, -0.0, 0.0),
            (4.0, -2.0, -2.0, -0.0),
            (5.0, f64::INFINITY, 0.0, 5.0),
            (-5.0, f64::INFINITY, -1.0, f64::INFINITY),
        ] {
            assert_eq!(bits(float_divmod(a, b)), bits(Ok((quotient, remainder))), "{a} {b}");
        }
        assert_eq!(float_divmod(1.0, -0.0), Err(ZERO));
        assert!(float_power(-8.0, 1.0 / 3.0).is_err() && float_power(10.0, 400.0).is_err());
    }

    #[test]
    fn an_integer_compares_with_a_double_without_rounding() {
        let large = 9_007_199_254_740_993;
        assert_eq!(compare(large, 9_007_199_254_740_992.0), Some(Ordering::Greater));
        assert_eq!(compare(i64::MAX, 9.3e18), Some(Ordering::Less));
        assert_eq!(compare(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(compare(1, 1.5), Some(Ordering::Less));
        assert_eq!(compare(0, -0.0), Some(Ordering::Equal));
        assert_eq!(compare(0, f64::NAN), None);
        assert_eq!(compare(0, f64::NEG_INFINITY), Some(Ordering::Greater));
    }
}
