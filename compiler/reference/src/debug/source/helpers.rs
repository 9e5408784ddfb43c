//! The functions that the text defines for itself: those that it needs, each after what it needs itself.
//!
//! The transcendental ones are printed from their definitions in [`crate::types::math`], so that the bits are the same.

use std::collections::BTreeSet;

use crate::python::formula::{Style, function, name, primitive, table as table_text};
use crate::types::math::POWER;
use crate::types::math::record::{Definition, Op};
use crate::types::{BinaryPrimitive, DType, Function, Primitive};

/// A part of the text. The order is one in which they can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Float,
    Float32,
    Integer,
    Bits,
    /// A function that is a formula, of floats of a type.
    Function(Function, DType),
    /// `**` of floats of a type.
    Pow(DType),
}

impl Helper {
    fn definition(self) -> Option<&'static Definition> {
        match self {
            Helper::Function(function, dtype) => function.definition(dtype),
            Helper::Pow(dtype) => POWER.definition(dtype),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Helper::Float => include_str!("helpers/float.py").to_owned(),
            Helper::Float32 => include_str!("helpers/float32.py").to_owned(),
            Helper::Integer => include_str!("helpers/integer.py").to_owned(),
            Helper::Bits => include_str!("helpers/bits.py").to_owned(),
            Helper::Function(..) | Helper::Pow(_) => self
                .definition()
                .map(|it| function(it, &name(it.name, it.dtype), Style::Plain))
                .unwrap_or_default(),
        }
    }

    fn needs(self) -> Vec<Helper> {
        let Some(definition) = self.definition() else { return Vec::new() };
        let mut needs = vec![Helper::Bits];
        for (_, step) in definition.steps.iter() {
            match step.op {
                Op::Div(..) | Op::Sqrt(_) | Op::Floor(_) | Op::Nearest(_) => needs.push(Helper::Float),
                Op::Narrow(_) => needs.push(Helper::Float32),
                _ => {}
            }
        }
        needs
    }
}

/// The helpers that every text has.
pub(super) const FIELDS: &str = include_str!("helpers/fields.py");

/// The imports of the text.
pub(super) const IMPORTS: [&str; 4] = [
    "import builtins",
    "import math",
    "import struct",
    "from math import copysign, inf, isfinite, isinf, isnan, nan",
];

/// The names that the helpers but the definitions, and the text around them, take, beside those of primitives.
const NAMES: &[&str] = &[
    "builtins",
    "math",
    "struct",
    "copysign",
    "inf",
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
    "int",
    "float",
    "bool",
    "divide",
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
    "WRAP",
];

/// The names that the helpers but the definitions, and the text around them, take.
pub(super) fn names() -> Vec<&'static str> {
    // Those of Python itself are for integers.
    let of_integers = [BinaryPrimitive::Minimum, BinaryPrimitive::Maximum].map(BinaryPrimitive::name);
    NAMES.iter().copied().chain(of_integers).chain(Primitive::all().map(primitive)).collect()
}

/// The texts of these and of what they need, tables in front of the functions that look something up.
pub(super) fn texts(used: &BTreeSet<Helper>) -> Vec<String> {
    let mut all = used.clone();
    all.extend(used.iter().flat_map(|it| it.needs()));
    let mut tables = Vec::new();
    for table in all.iter().filter_map(|it| it.definition()).flat_map(Definition::tables) {
        let text = table_text(table, Style::Plain);
        if !tables.contains(&text) {
            tables.push(text);
        }
    }
    let (functions, others): (Vec<Helper>, Vec<Helper>) =
        all.into_iter().partition(|it| it.definition().is_some());
    let others = others.into_iter().map(Helper::text);
    others.chain(tables).chain(functions.into_iter().map(Helper::text)).collect()
}
