//! The functions that models call less often: from `libm`, in its portable form.
//!
//! The crate is a port of musl's library and has only operations that are exact or correctly
//! rounded (its `fma` too, computed with integers), so its bits are the same on every target. The
//! workspace turns its machine-specific parts off all the same.

use crate::types::Function;

/// The functions of the tail in the order in which a table of pointers holds them: generated C
/// calls them through one (`struct isobar_math`), which whoever loads the code fills from
/// [`tail_f64`]. Adding a function means adding it at the end, here and in `math/tail.h`.
pub const TAIL: [Function; 16] = [
    Function::Sin,
    Function::Cos,
    Function::Tan,
    Function::Asin,
    Function::Acos,
    Function::Atan,
    Function::Sinh,
    Function::Cosh,
    Function::Tanh,
    Function::Asinh,
    Function::Acosh,
    Function::Atanh,
    Function::Cbrt,
    Function::Gamma,
    Function::Erf,
    Function::Erfc,
];

/// A function of [`TAIL`] in double precision; NaN for any other.
#[must_use]
pub fn tail_f64(function: Function, x: f64) -> f64 {
    let y = match function {
        Function::Sin => libm::sin(x),
        Function::Cos => libm::cos(x),
        Function::Tan => libm::tan(x),
        Function::Asin => libm::asin(x),
        Function::Acos => libm::acos(x),
        Function::Atan => libm::atan(x),
        Function::Sinh => libm::sinh(x),
        Function::Cosh => libm::cosh(x),
        Function::Tanh => libm::tanh(x),
        Function::Asinh => libm::asinh(x),
        Function::Acosh => libm::acosh(x),
        Function::Atanh => libm::atanh(x),
        Function::Cbrt => libm::cbrt(x),
        Function::Gamma => libm::tgamma(x),
        Function::Erf => libm::erf(x),
        Function::Erfc => libm::erfc(x),
        _ => f64::NAN,
    };
    if y.is_nan() { f64::NAN } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_what_is_transcendental_and_not_ours() {
        for function in Function::ALL {
            let ours = matches!(function, Function::Exp | Function::Log | Function::Log10);
            assert_eq!(TAIL.contains(&function), function.is_transcendental() && !ours, "{function}");
        }
    }

    #[test]
    fn nan_is_the_plain_one() {
        for function in TAIL {
            assert_eq!(tail_f64(function, -f64::NAN).to_bits(), 0x7ff8_0000_0000_0000, "{function}");
        }
        assert_eq!(tail_f64(Function::Acosh, 0.5).to_bits(), 0x7ff8_0000_0000_0000);
    }
}
