//! Integer arithmetic of the language: total and wrapping.
//!
//! All functions take and give 64 bits. A narrower type embeds in them. `min`, `max` and the remainders of
//! its values are values of it. `abs` and `pow`, truncated to the type, are the results that wrapping in the
//! type would have given.

use crate::types::primitive::{BinaryPrimitive, UnaryPrimitive};

/// A primitive of one integer. Rounding leaves it what it is, and no root is typed with one.
#[must_use]
pub fn unary_int(op: UnaryPrimitive, a: i64) -> i64 {
    match op {
        UnaryPrimitive::Magnitude => abs_int(a),
        UnaryPrimitive::SquareRoot
        | UnaryPrimitive::Floor
        | UnaryPrimitive::Ceiling
        | UnaryPrimitive::Truncation
        | UnaryPrimitive::Nearest
        | UnaryPrimitive::NearestAway => a,
    }
}

/// A primitive of two integers. Without NaN, there is one rule for extrema.
#[must_use]
pub fn binary_int(op: BinaryPrimitive, a: i64, b: i64) -> i64 {
    match op {
        BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => min_int(a, b),
        BinaryPrimitive::Maximum | BinaryPrimitive::Greater => max_int(a, b),
        BinaryPrimitive::FlooredRemainder => mod_int(a, b),
        BinaryPrimitive::TruncatedRemainder => mod_c_int(a, b),
    }
}

/// The smaller of two integers.
fn min_int(a: i64, b: i64) -> i64 {
    a.min(b)
}

/// The larger of two integers.
fn max_int(a: i64, b: i64) -> i64 {
    a.max(b)
}

/// The absolute value; that of the lowest integer wraps to itself.
fn abs_int(a: i64) -> i64 {
    a.wrapping_abs()
}

/// The floored remainder: it has the sign of the divisor, `-5 mod 3 = 1`. Of a division by zero it
/// is 0, as in NumPy.
fn mod_int(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder }
}

/// The truncated remainder, C's `%`: it has the sign of the dividend, `-5 % 3 = -2`. Of a division by
/// zero, which C leaves undefined, it is 0.
fn mod_c_int(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

/// `base ** exponent`, wrapping; `None` for a negative exponent, where it isn't an integer and the
/// language decides what an integer power is.
#[must_use]
pub fn pow_int(base: i64, exponent: i64) -> Option<i64> {
    let mut exponent = u64::try_from(exponent).ok()?;
    let (mut result, mut square) = (1_i64, base);
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        for (a, b, expected) in [(-5, 3, 1), (5, -3, -1), (5, 3, 2), (-5, -3, -2), (6, -3, 0), (-6, 3, 0)] {
            assert_eq!(mod_int(a, b), expected, "{a} mod {b}");
        }
    }

    #[test]
    fn remainders_of_c_have_the_sign_of_the_dividend() {
        for (a, b, expected) in [(-5, 3, -2), (5, -3, 2), (5, 3, 2), (-5, -3, -2), (6, -3, 0), (-6, 3, 0)] {
            assert_eq!(mod_c_int(a, b), expected, "{a} % {b}");
        }
    }

    #[test]
    fn no_operands_panic() {
        assert_eq!(mod_int(7, 0), 0);
        assert_eq!(mod_c_int(7, 0), 0);
        assert_eq!(mod_c_int(i64::MIN, -1), 0);
        assert_eq!(mod_int(i64::MIN, -1), 0);
        assert_eq!(mod_int(i64::MIN, i64::MAX), i64::MAX - 1);
        assert_eq!(abs_int(i64::MIN), i64::MIN);
        assert_eq!(pow_int(3, i64::MAX), Some(-6_148_914_691_236_517_205));
    }

    #[test]
    fn powers_wrap_in_their_type() {
        assert_eq!(pow_int(2, 10), Some(1024));
        assert_eq!(pow_int(-3, 3), Some(-27));
        assert_eq!(pow_int(0, 0), Some(1));
        assert_eq!(pow_int(2, 64), Some(0));
        assert_eq!(pow_int(2, -1), None);
        #[expect(clippy::cast_possible_truncation, reason = "the wrapping of the narrow type")]
        let narrow = pow_int(7, 5).map(|it| it as i8);
        assert_eq!(narrow, Some(7_i8.wrapping_pow(5)));
    }
}
