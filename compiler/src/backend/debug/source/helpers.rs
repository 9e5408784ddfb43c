//! The functions that the text defines for itself: those that it needs, each after what it needs itself.
//!
//! They mirror [`crate::types::math`] operation by operation, so that the bits are the same.

use std::collections::BTreeSet;

use crate::backend::emit::python;

/// A part of the text. The order is one in which they can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Float,
    Float32,
    Integer,
    DoubleDouble,
    Exp,
    Log,
    Pow,
    Platform,
}

impl Helper {
    fn texts(self) -> &'static [&'static str] {
        match self {
            Helper::Float => &[include_str!("helpers/float.py")],
            Helper::Float32 => &[include_str!("helpers/float32.py")],
            Helper::Integer => &[include_str!("helpers/integer.py")],
            Helper::DoubleDouble => &[include_str!("helpers/double_double.py"), python::DOUBLE_DOUBLE],
            Helper::Exp => &[include_str!("helpers/exp.py")],
            Helper::Log => &[include_str!("helpers/log.py"), python::LOG],
            Helper::Pow => &[include_str!("helpers/pow.py")],
            Helper::Platform => &[include_str!("helpers/platform.py")],
        }
    }

    fn needs(self) -> &'static [Helper] {
        match self {
            Helper::Float | Helper::Float32 | Helper::Integer | Helper::DoubleDouble | Helper::Platform => {
                &[]
            }
            Helper::Exp | Helper::Log => &[Helper::DoubleDouble, Helper::Float32],
            Helper::Pow => &[Helper::DoubleDouble, Helper::Float32, Helper::Float, Helper::Exp, Helper::Log],
        }
    }
}

/// What every text has.
pub(super) const FIELDS: &str = include_str!("helpers/fields.py");

/// What the text imports.
pub(super) const IMPORTS: [&str; 4] = [
    "import builtins",
    "import math",
    "import struct",
    "from math import copysign, inf, isfinite, isinf, isnan, nan",
];

/// The names that the helpers and the text around them take.
pub(super) const NAMES: &[&str] = &[
    "builtins",
    "math",
    "struct",
    "copysign",
    "inf",
    "isfinite",
    "isinf",
    "isnan",
    "nan",
    "Field",
    "Temporary",
    "copied",
    "I",
    "J",
    "K",
    "i",
    "j",
    "k",
    "domain",
    "origin",
    "range",
    "reversed",
    "abs",
    "int",
    "float",
    "bool",
    "divide",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "rounded",
    "round_away_from_zero",
    "minimum",
    "maximum",
    "minimum_c",
    "maximum_c",
    "min",
    "max",
    "mod_c",
    "mod",
    "float32",
    "wrapped",
    "int8",
    "int16",
    "int32",
    "int64",
    "integer",
    "integer_mod",
    "integer_mod_c",
    "integer_pow",
    "SHIFT",
    "LN_2_HIGH",
    "LN_2_LOW",
    "bits",
    "head",
    "of_bits",
    "exp",
    "exp_float32",
    "log",
    "log_float32",
    "log10",
    "log10_float32",
    "pow",
    "pow_float32",
    "platform",
];

/// The texts of these and of what they need.
pub(super) fn texts(used: &BTreeSet<Helper>) -> impl Iterator<Item = &'static str> {
    let needed = used.iter().flat_map(|it| it.needs());
    let all: BTreeSet<Helper> = used.iter().chain(needed).copied().collect();
    all.into_iter().flat_map(Helper::texts).copied()
}
