//! The functions that the text defines for itself: those that it needs, each after what it needs itself.
//!
//! They mirror [`crate::types::math`] operation by operation, so that the bits are the same.

use std::collections::BTreeSet;

use crate::backend::emit::python;

/// A part of the text. The order is one in which they can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Select,
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
            Helper::Select => &[include_str!("helpers/select.py")],
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
            Helper::Select | Helper::Integer | Helper::DoubleDouble | Helper::Platform => &[],
            Helper::Exp | Helper::Log => &[Helper::DoubleDouble],
            Helper::Pow => &[Helper::DoubleDouble, Helper::Exp, Helper::Log],
        }
    }
}

/// What every text has.
pub(super) const FIELDS: &str = include_str!("helpers/fields.py");

/// The names that the helpers and the text around them take.
pub(super) const NAMES: &[&str] = &[
    "np",
    "math",
    "Along",
    "Field",
    "I",
    "J",
    "K",
    "i",
    "j",
    "k",
    "ri",
    "rj",
    "domain",
    "origin",
    "minimum",
    "maximum",
    "minimum_c",
    "maximum_c",
    "mod",
    "round_away_from_zero",
    "integer",
    "integer_mod",
    "integer_mod_c",
    "integer_pow",
    "SHIFT",
    "LN_2_HIGH",
    "LN_2_LOW",
    "bits",
    "head",
    "exp",
    "exp_float32",
    "log",
    "log_float32",
    "log10",
    "log10_float32",
    "pow",
    "pow_float32",
    "platform",
    "pointwise",
];

/// The texts of these and of what they need.
pub(super) fn texts(used: &BTreeSet<Helper>) -> impl Iterator<Item = &'static str> {
    let needed = used.iter().flat_map(|it| it.needs());
    let all: BTreeSet<Helper> = used.iter().chain(needed).copied().collect();
    all.into_iter().flat_map(Helper::texts).copied()
}
