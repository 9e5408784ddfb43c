//! The one definition of the functions whose bits std leaves to the platform.
//!
//! Every back end computes these bits: the interpreter and constant folding call this module, the
//! C back end pastes its mirror (`backend/c/math/*.h`), which holds the same operations in the same
//! order. Only `+ - * /`, comparisons, selects and bit casts are used, each of them exact or
//! correctly rounded everywhere; no fused operation, no table, no call of the platform's library.
//!
//! There are three kinds of functions:
//!
//! - **ours**: `exp`, `log`, `log10` and `pow`, branch-free, so that a compiler can vectorise them;
//! - **exact**: `abs`, `sqrt`, `floor`, `ceil`, `trunc`, `round`, `min`, `max`, `mod` and C's three, whose result
//!   IEEE 754 or this module prescribes to the bit;
//! - **the tail**: `sin` to `erfc`, from the crate `libm` in its portable form, in double
//!   precision; single precision converts, calls and rounds. See [`TAIL`].
//!
//! Largest errors seen, in units in the last place, each in some 10^7 random points of every range
//! (the hardest of them are among the exact values in `tests/golden/math_reference.txt`):
//!
//! | function | `f64` | `f32` |
//! |---|---|---|
//! | `exp` | 0.66 (0.78 where the result is subnormal) | 0.5001 |
//! | `log` | 0.68 | 0.5001 |
//! | `log10` | 0.501 | 0.5001 |
//! | `pow` | 0.70 (0.77 where the result is subnormal) | 0.5001 |
//!
//! A NaN result of `exp`, `log`, `log10`, `pow`, `mod` and of the tail is always the positive quiet
//! NaN without payload: which NaN a machine makes of an operation is its own choice.

mod double_double;
mod exp;
mod int;
mod log;
mod pow;
mod select;
mod tail;

use super::Function;

pub use exp::{exp_f32, exp_f64};
pub use int::{abs_int, max_int, min_int, mod_c_int, mod_int, pow_int};
pub use log::{log_f32, log_f64, log10_f32, log10_f64};
pub use pow::{pow_f32, pow_f64};
pub use select::{
    max_c_f32, max_c_f64, max_f32, max_f64, min_c_f32, min_c_f64, min_f32, min_f64, mod_c_f32, mod_c_f64,
    mod_f32, mod_f64, round_away_from_zero_f32, round_away_from_zero_f64, round_f32, round_f64,
};
pub use tail::{TAIL, tail_f64};

/// `function` of one argument in double precision.
///
/// Total, so that no caller can make it panic: a predicate answers 1 or 0, and a function of two
/// arguments takes `x` for both.
#[must_use]
pub fn call_f64(function: Function, x: f64) -> f64 {
    match function {
        Function::Abs => x.abs(),
        Function::Sqrt => x.sqrt(),
        Function::Floor => x.floor(),
        Function::Ceil => x.ceil(),
        Function::Trunc => x.trunc(),
        Function::Round => round_f64(x),
        Function::RoundAwayFromZero => round_away_from_zero_f64(x),
        Function::Exp => exp_f64(x),
        Function::Log => log_f64(x),
        Function::Log10 => log10_f64(x),
        Function::Min | Function::Max | Function::MinC | Function::MaxC => x,
        Function::Mod => mod_f64(x, x),
        Function::ModC => mod_c_f64(x, x),
        Function::IsNan => f64::from(u8::from(x.is_nan())),
        Function::IsInf => f64::from(u8::from(x.is_infinite())),
        Function::IsFinite => f64::from(u8::from(x.is_finite())),
        Function::Sin
        | Function::Cos
        | Function::Tan
        | Function::Asin
        | Function::Acos
        | Function::Atan
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh
        | Function::Cbrt
        | Function::Gamma
        | Function::Erf
        | Function::Erfc => tail_f64(function, x),
    }
}

/// `function` of one argument in single precision; like [`call_f64`] total.
#[must_use]
pub fn call_f32(function: Function, x: f32) -> f32 {
    match function {
        Function::Abs => x.abs(),
        Function::Sqrt => x.sqrt(),
        Function::Floor => x.floor(),
        Function::Ceil => x.ceil(),
        Function::Trunc => x.trunc(),
        Function::Round => round_f32(x),
        Function::RoundAwayFromZero => round_away_from_zero_f32(x),
        Function::Exp => exp_f32(x),
        Function::Log => log_f32(x),
        Function::Log10 => log10_f32(x),
        Function::Min | Function::Max | Function::MinC | Function::MaxC => x,
        Function::Mod => mod_f32(x, x),
        Function::ModC => mod_c_f32(x, x),
        Function::IsNan
        | Function::IsInf
        | Function::IsFinite
        | Function::Sin
        | Function::Cos
        | Function::Tan
        | Function::Asin
        | Function::Acos
        | Function::Atan
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh
        | Function::Cbrt
        | Function::Gamma
        | Function::Erf
        | Function::Erfc => narrow(call_f64(function, f64::from(x))),
    }
}

/// 1.5 * 2^52. Added to a number below 2^51, it leaves the nearest integer in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// ln(2) in two parts; the head has 42 bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

/// The nearest single, which is infinite beyond the largest.
#[expect(clippy::cast_possible_truncation, reason = "the rounding is what is asked for")]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Function as F;

    #[test]
    fn every_function_of_one_argument_answers_for_every_kind_of_number() {
        let kinds = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for function in F::ALL {
            for x in kinds {
                let y = call_f64(function, x);
                let single = call_f32(function, narrow(x));
                if x.is_nan() && !function.is_predicate() {
                    assert!(y.is_nan() && single.is_nan(), "{function}(nan)");
                }
            }
        }
    }

    #[test]
    fn predicates_answer_one_or_zero() {
        assert_eq!(call_f64(F::IsNan, f64::NAN).to_bits(), 1.0_f64.to_bits());
        assert_eq!(call_f64(F::IsInf, f64::NEG_INFINITY).to_bits(), 1.0_f64.to_bits());
        assert_eq!(call_f32(F::IsFinite, f32::INFINITY).to_bits(), 0.0_f32.to_bits());
    }
}
