//! The primitives of floats, whose result is prescribed to the bit: extrema, remainders, rounding.

use crate::types::primitive::{BinaryPrimitive, Predicate, UnaryPrimitive};

/// One definition for both precisions: the operations are the same.
macro_rules! exact_functions {
    (
        $float:ty, $min:ident, $max:ident, $modulo:ident, $min_c:ident, $max_c:ident, $modulo_c:ident, $round:ident,
        $round_away_from_zero:ident, $unary:ident, $binary:ident, $holds:ident
    ) => {
        /// A primitive of one number.
        #[must_use]
        #[inline]
        pub fn $unary(op: UnaryPrimitive, x: $float) -> $float {
            match op {
                UnaryPrimitive::Magnitude => x.abs(),
                UnaryPrimitive::SquareRoot => x.sqrt(),
                UnaryPrimitive::Floor => x.floor(),
                UnaryPrimitive::Ceiling => x.ceil(),
                UnaryPrimitive::Truncation => x.trunc(),
                UnaryPrimitive::Nearest => $round(x),
                UnaryPrimitive::NearestAway => $round_away_from_zero(x),
            }
        }

        /// A primitive of two numbers.
        #[must_use]
        #[inline]
        pub fn $binary(op: BinaryPrimitive, a: $float, b: $float) -> $float {
            match op {
                BinaryPrimitive::Minimum => $min(a, b),
                BinaryPrimitive::Maximum => $max(a, b),
                BinaryPrimitive::FlooredRemainder => $modulo(a, b),
                BinaryPrimitive::Lesser => $min_c(a, b),
                BinaryPrimitive::Greater => $max_c(a, b),
                BinaryPrimitive::TruncatedRemainder => $modulo_c(a, b),
            }
        }

        /// The answer about a number.
        #[must_use]
        #[inline]
        pub fn $holds(question: Predicate, x: $float) -> bool {
            match question {
                Predicate::Nan => x.is_nan(),
                Predicate::Infinite => x.is_infinite(),
                Predicate::Finite => x.is_finite(),
            }
        }

        /// The smaller of two numbers; NaN if either is. Of equals, so of zeros, the first.
        #[inline]
        fn $min(a: $float, b: $float) -> $float {
            let smaller = if b < a { b } else { a };
            if b.is_nan() { b } else { smaller }
        }

        /// The larger of two numbers; NaN if either is. Of equals, so of zeros, the first.
        #[inline]
        fn $max(a: $float, b: $float) -> $float {
            let larger = if a < b { b } else { a };
            if b.is_nan() { b } else { larger }
        }

        /// The floored remainder, with the sign of the divisor: Python's and NumPy's `%`.
        ///
        /// The truncated remainder is exact; where the signs differ, one addition rounds. A zero
        /// has the divisor's sign too. NaN of a zero divisor or an infinite dividend; an infinite
        /// divisor gives the dividend, or itself where the signs differ.
        #[inline]
        fn $modulo(a: $float, b: $float) -> $float {
            let truncated = a % b;
            let floored = if (truncated < 0.0) == (b < 0.0) { truncated } else { truncated + b };
            let y = if truncated == 0.0 { (0.0 as $float).copysign(b) } else { floored };
            if truncated.is_nan() { <$float>::NAN } else { y }
        }

        /// C++'s `std::min`: the first unless the second is smaller, so the first where either is NaN.
        #[inline]
        fn $min_c(a: $float, b: $float) -> $float {
            if b < a { b } else { a }
        }

        /// C++'s `std::max`: the first unless the second is larger, so the first where either is NaN.
        #[inline]
        fn $max_c(a: $float, b: $float) -> $float {
            if a < b { b } else { a }
        }

        /// The truncated remainder, with the sign of the dividend, of zeros too: C's `fmod`. Exact.
        #[inline]
        fn $modulo_c(a: $float, b: $float) -> $float {
            let truncated = a % b;
            if truncated.is_nan() { <$float>::NAN } else { truncated }
        }

        /// To the nearest integer, ties to the even one; keeps the sign, of zeros too.
        #[inline]
        fn $round(x: $float) -> $float {
            x.round_ties_even()
        }

        /// To the nearest integer, ties away from zero; keeps the sign, of zeros too.
        ///
        /// Not `floor(|x| + 0.5)`, whose sum rounds: the largest number below one half is nearer to 0.
        #[inline]
        fn $round_away_from_zero(x: $float) -> $float {
            let toward_zero = x.trunc();
            let away = toward_zero + (1.0 as $float).copysign(x);
            if (x - toward_zero).abs() >= 0.5 { away } else { toward_zero }
        }
    };
}

exact_functions!(
    f64,
    min_f64,
    max_f64,
    mod_f64,
    min_c_f64,
    max_c_f64,
    mod_c_f64,
    round_f64,
    round_away_from_zero_f64,
    unary_f64,
    binary_f64,
    holds_f64
);
exact_functions!(
    f32,
    min_f32,
    max_f32,
    mod_f32,
    min_c_f32,
    max_c_f32,
    mod_c_f32,
    round_f32,
    round_away_from_zero_f32,
    unary_f32,
    binary_f32,
    holds_f32
);

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[track_caller]
    fn same(got: f64, expected: f64) {
        assert!(
            got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()),
            "{got} for {expected}"
        );
    }

    #[test]
    fn extrema_hand_on_nan_from_either_side() {
        for f in [min_f64, max_f64] {
            same(f(NAN, 1.0), NAN);
            same(f(1.0, NAN), NAN);
            same(f(NAN, NAN), NAN);
        }
        same(min_f64(1.0, -INF), -INF);
        same(max_f64(1.0, INF), INF);
    }

    #[test]
    fn of_two_zeros_the_first_is_the_extremum() {
        for f in [min_f64, max_f64] {
            same(f(0.0, -0.0), 0.0);
            same(f(-0.0, 0.0), -0.0);
        }
    }

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        let cases = [
            (-5.0, 3.0, 1.0),
            (5.0, -3.0, -1.0),
            (5.5, 2.0, 1.5),
            (-6.0, 3.0, 0.0),
            (6.0, -3.0, -0.0),
            (-0.0, 3.0, 0.0),
            (1.0, INF, 1.0),
            (-1.0, INF, INF),
            (1.0, -INF, -INF),
            (INF, 1.0, NAN),
            (1.0, 0.0, NAN),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (-1e-20, 3.0, 3.0),
        ];
        for (a, b, expected) in cases {
            same(mod_f64(a, b), expected);
        }
    }

    #[test]
    fn extrema_of_c_are_the_first_operand_where_one_is_nan() {
        for f in [min_c_f64, max_c_f64] {
            same(f(NAN, 1.0), NAN);
            same(f(1.0, NAN), 1.0);
            same(f(0.0, -0.0), 0.0);
            same(f(-0.0, 0.0), -0.0);
        }
        same(min_c_f64(1.0, -INF), -INF);
        same(max_c_f64(1.0, INF), INF);
    }

    #[test]
    fn remainders_of_c_have_the_sign_of_the_dividend() {
        let cases = [
            (-5.0, 3.0, -2.0),
            (5.0, -3.0, 2.0),
            (-5.5, 2.0, -1.5),
            (-6.0, 3.0, -0.0),
            (6.0, -3.0, 0.0),
            (-1.0, INF, -1.0),
            (INF, 1.0, NAN),
            (1.0, 0.0, NAN),
            (-1e-20, 3.0, -1e-20),
        ];
        for (a, b, expected) in cases {
            same(mod_c_f64(a, b), expected);
        }
    }

    #[test]
    fn ties_go_to_the_even_integer() {
        for (x, y) in
            [(-2.5, -2.0), (-0.5, -0.0), (0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.0, -0.0), (1e300, 1e300)]
        {
            same(round_f64(x), y);
        }
    }

    #[test]
    fn ties_go_away_from_zero_and_nothing_else_does() {
        let cases = [
            (-2.5, -3.0),
            (-0.5, -1.0),
            (0.5, 1.0),
            (2.5, 3.0),
            (0.499_999_999_999_999_94, 0.0),
            (-0.499_999_999_999_999_94, -0.0),
            (4_503_599_627_370_495.5, 4_503_599_627_370_496.0),
            (4_503_599_627_370_497.0, 4_503_599_627_370_497.0),
            (-0.0, -0.0),
            (INF, INF),
            (-INF, -INF),
            (NAN, NAN),
        ];
        for (x, y) in cases {
            same(round_away_from_zero_f64(x), y);
        }
        assert_eq!(round_away_from_zero_f32(0.499_999_97).to_bits(), 0);
    }
}
