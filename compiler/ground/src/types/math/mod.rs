//! The one definition of the functions whose bits std leaves to the platform.
//!
//! Every back end computes these bits. A transcendental function is one generic function over [`real::Real`].
//! With `f64` it computes, for the interpreter and for constant folding. With a [`record::Recorder`] it
//! becomes a straight-line program that code generators translate ([`formula::Formula`]). Only `+ - * /`,
//! square roots, rounding to integers, comparisons, selects, bit casts and small tables are used. Each of
//! them is exact or correctly rounded everywhere. Operations are fused only where that does not change the
//! result, and the platform's library is never called. There are no branches, so that a compiler can
//! vectorise the callers.
//!
//! In single precision a function is computed in double precision and rounded once.
//! Beside the transcendental functions there are the **exact** ones, whose result IEEE 754 or this
//! module prescribes to the bit: the [primitives](super::primitive). [`builtins`] has a row for each
//! function of the language, which is one or the other.
//!
//! The error of each function is in `docs/math.md`, and `tests/tests/math_accuracy.rs` holds it to that.
//!
//! A NaN result of a transcendental function and of `mod` is always the positive quiet NaN without payload.
//! Machines differ in the NaN that an operation gives.

pub mod real;
pub mod record;
mod double_double;
mod tables;
pub mod exp;
mod log;
mod pow;
pub mod trigonometric;
mod arc;
mod hyperbolic;
mod area;
mod cbrt;
mod erf;
mod gamma;
mod select;
mod int;
pub mod formula;
pub mod builtins;

pub use formula::POWER;
pub use int::{binary_int, pow_int, unary_int};
pub use log::log_to_base;
pub use select::{binary_f32, binary_f64, holds_f32, holds_f64, unary_f32, unary_f64};
pub use tables::TABLES;

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

/// 1.5 * 2^52. Added to a number below 2^51, it leaves the nearest integer in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// ln(2) in two parts; the head has 42 bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;
const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

/// The nearest single, which is infinite beyond the largest.
#[expect(clippy::cast_possible_truncation, reason = "the rounding is what is asked for")]
pub(super) fn narrow(x: f64) -> f32 {
    x as f32
}
