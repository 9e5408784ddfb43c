//! The one definition of the functions whose bits std leaves to the platform.
//!
//! Every back end computes these bits. A transcendental function is one generic function over
//! [`real::Real`]: with `f64` it computes, for the interpreter and for constant folding; with a
//! [`record::Recorder`] it becomes a straight-line program that code generators translate
//! ([`definition`], [`power_definition`]). Only `+ - * /`, square roots, rounding to integers,
//! comparisons, selects, bit casts and small tables are used, each exact or correctly rounded
//! everywhere; nothing is fused but where that cannot be seen, and the platform's library is never
//! called. There are no branches, so that a compiler can vectorise whatever calls them.
//!
//! In single precision a function is computed in double precision and rounded once.
//! Beside the transcendental functions there are the **exact** ones, whose result IEEE 754 or this
//! module prescribes to the bit: `abs`, `sqrt`, `floor`, `ceil`, `trunc`, `round`, `min`, `max`,
//! `mod` and C's three.
//!
//! What each errs by is in `docs/math.md`, and held by `tests/tests/math_accuracy.rs`.
//!
//! A NaN result of a transcendental function and of `mod` is always the positive quiet NaN without
//! payload: which NaN a machine makes of an operation is its own choice.

pub mod real;
pub mod record;
mod double_double;
mod tables;
mod exp;
mod log;
mod pow;
mod select;
mod int;
mod tail;
mod definitions;

use super::Function;

pub use definitions::{definition, power_definition};
pub use int::{abs_int, max_int, min_int, mod_c_int, mod_int, pow_int};
pub use select::{
    max_c_f32, max_c_f64, max_f32, max_f64, min_c_f32, min_c_f64, min_f32, min_f64, mod_c_f32, mod_c_f64,
    mod_f32, mod_f64, round_away_from_zero_f32, round_away_from_zero_f64, round_f32, round_f64,
};
pub use tail::{TAIL, tail_f64};

/// The functions in both precisions, from their definitions.
macro_rules! computed {
    ($($double:ident, $single:ident: $in_double:path, $in_single:path;)*) => {
        $(
            #[doc = concat!("[`", stringify!($in_double), "`] in double precision.")]
            #[must_use]
            #[inline]
            pub fn $double(x: f64) -> f64 {
                $in_double(x)
            }

            #[doc = concat!("[`", stringify!($in_single), "`] in single precision, rounded once.")]
            #[must_use]
            #[inline]
            pub fn $single(x: f32) -> f32 {
                narrow($in_single(f64::from(x)))
            }
        )*
    };
}

computed! {
    exp_f64, exp_f32: exp::exp, exp::exp_single;
    log_f64, log_f32: log::log, log::log_single;
    log10_f64, log10_f32: log::log10, log::log10_single;
}

/// `x ** y` in double precision.
#[must_use]
#[inline]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    pow::pow(x, y)
}

/// `x ** y` in single precision, rounded once.
#[must_use]
#[inline]
pub fn pow_f32(x: f32, y: f32) -> f32 {
    narrow(pow::pow_single(f64::from(x), f64::from(y)))
}

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
