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
mod trigonometric;
mod arc;
mod hyperbolic;
mod area;
mod cbrt;
mod erf;
mod gamma;
mod select;
mod int;
mod definitions;

use super::Function;

pub use definitions::{definition, power_definition};
pub use int::{abs_int, max_int, min_int, mod_c_int, mod_int, pow_int};
pub use log::log_to_base;
pub use select::{
    max_c_f32, max_c_f64, max_f32, max_f64, min_c_f32, min_c_f64, min_f32, min_f64, mod_c_f32, mod_c_f64,
    mod_f32, mod_f64, round_away_from_zero_f32, round_away_from_zero_f64, round_f32, round_f64,
};

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
        Function::Sin => trigonometric::sin(x),
        Function::Cos => trigonometric::cos(x),
        Function::Tan => trigonometric::tan(x),
        Function::Asin => arc::asin(x),
        Function::Acos => arc::acos(x),
        Function::Atan => arc::atan(x),
        Function::Sinh => hyperbolic::sinh(x),
        Function::Cosh => hyperbolic::cosh(x),
        Function::Tanh => hyperbolic::tanh(x),
        Function::Asinh => area::asinh(x),
        Function::Acosh => area::acosh(x),
        Function::Atanh => area::atanh(x),
        Function::Cbrt => cbrt::cbrt(x),
        Function::Gamma => gamma::gamma(x),
        Function::Erf => erf::erf(x),
        Function::Erfc => erf::erfc(x),
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

    /// C99, annex F.9, and what is representable.
    #[test]
    fn special_values_are_those_of_c99() {
        const INF: f64 = f64::INFINITY;
        const NAN: f64 = f64::NAN;
        use std::f64::consts::{FRAC_PI_2, PI};
        let odd = [
            (F::Sin, 0.0, 0.0),
            (F::Tan, 0.0, 0.0),
            (F::Asin, 0.0, 0.0),
            (F::Asin, 1.0, FRAC_PI_2),
            (F::Atan, 0.0, 0.0),
            (F::Atan, INF, FRAC_PI_2),
            (F::Sinh, 0.0, 0.0),
            (F::Sinh, INF, INF),
            (F::Sinh, 711.0, INF),
            (F::Tanh, 0.0, 0.0),
            (F::Tanh, INF, 1.0),
            (F::Tanh, 20.0, 1.0),
            (F::Asinh, 0.0, 0.0),
            (F::Asinh, INF, INF),
            (F::Atanh, 0.0, 0.0),
            (F::Atanh, 1.0, INF),
            (F::Cbrt, 0.0, 0.0),
            (F::Cbrt, 27.0, 3.0),
            (F::Cbrt, 1e-300, 1e-100),
            (F::Cbrt, INF, INF),
            (F::Erf, 0.0, 0.0),
            (F::Erf, INF, 1.0),
            (F::Erf, 7.0, 1.0),
        ];
        let others = [
            (F::Sin, INF, NAN),
            (F::Sin, -INF, NAN),
            (F::Cos, INF, NAN),
            (F::Tan, INF, NAN),
            (F::Cos, 0.0, 1.0),
            (F::Cos, -0.0, 1.0),
            (F::Asin, 1.000_000_000_000_000_2, NAN),
            (F::Asin, INF, NAN),
            (F::Acos, 1.0, 0.0),
            (F::Acos, -1.0, PI),
            (F::Acos, 0.0, FRAC_PI_2),
            (F::Acos, -1.000_000_000_000_000_2, NAN),
            (F::Cosh, 0.0, 1.0),
            (F::Cosh, INF, INF),
            (F::Cosh, -INF, INF),
            (F::Cosh, -711.0, INF),
            (F::Acosh, 1.0, 0.0),
            (F::Acosh, 0.999_999_999_999_999_9, NAN),
            (F::Acosh, -INF, NAN),
            (F::Acosh, INF, INF),
            (F::Atanh, 1.000_000_000_000_000_2, NAN),
            (F::Atanh, -INF, NAN),
            (F::Gamma, 0.0, INF),
            (F::Gamma, -0.0, -INF),
            (F::Gamma, 1.0, 1.0),
            (F::Gamma, 2.0, 1.0),
            (F::Gamma, 5.0, 24.0),
            (F::Gamma, 19.0, 6_402_373_705_728_000.0),
            (F::Gamma, -1.0, NAN),
            (F::Gamma, -1e300, NAN),
            (F::Gamma, -INF, NAN),
            (F::Gamma, INF, INF),
            (F::Gamma, 172.0, INF),
            (F::Gamma, -184.5, -0.0),
            (F::Gamma, -185.5, 0.0),
            (F::Gamma, 5e-324, INF),
            (F::Erfc, 0.0, 1.0),
            (F::Erfc, INF, 0.0),
            (F::Erfc, -INF, 2.0),
            (F::Erfc, 28.0, 0.0),
            (F::Erfc, -7.0, 2.0),
        ];
        let mirrored = odd.iter().flat_map(|&(f, x, y)| [(f, x, y), (f, -x, -y)]);
        for (function, x, expected) in mirrored.chain(others) {
            let y = call_f64(function, x);
            assert_eq!(y.to_bits(), expected.to_bits(), "{function}({x}) = {y}");
        }
        for function in F::ALL.into_iter().filter(|it| it.is_transcendental()) {
            for nan in [f64::NAN, -f64::NAN, f64::from_bits(0xfff0_0000_0000_0001)] {
                assert_eq!(call_f64(function, nan).to_bits(), f64::NAN.to_bits(), "{function}");
                assert_eq!(call_f32(function, narrow(nan)).to_bits(), 0x7fc0_0000, "{function}");
            }
        }
    }
}
