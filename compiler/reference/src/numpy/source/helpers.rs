//! The functions that the text defines for itself: those that it needs, each after what it needs itself.
//!
//! The transcendental ones are printed from their definitions in [`crate::types::math`], so that the bits are the same.

use std::collections::BTreeSet;

use crate::python::formula::{Style, function, name, primitive, table as table_text};
use crate::types::math::POWER;
use crate::types::math::record::Definition;
use crate::types::{BinaryPrimitive, DType, Function, Primitive, UnaryPrimitive};

/// A part of the text. The order is one in which they can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Select,
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
            Helper::Select => include_str!("helpers/select.py").to_owned(),
            Helper::Integer => include_str!("helpers/integer.py").to_owned(),
            Helper::Bits => include_str!("helpers/bits.py").to_owned(),
            Helper::Function(..) | Helper::Pow(_) => self
                .definition()
                .map(|it| function(it, &name(it.name, it.dtype), Style::Arrays))
                .unwrap_or_default(),
        }
    }
}

/// The helpers that every text has.
pub(super) const FIELDS: &str = include_str!("helpers/fields.py");

/// The names that the helpers but the definitions, and the text around them, take, beside those of primitives.
const NAMES: &[&str] = &[
    "np",
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
    "integer",
    "integer_mod",
    "integer_mod_c",
    "integer_pow",
];

/// The names that the helpers but the definitions, and the text around them, take.
pub(super) fn names() -> Vec<&'static str> {
    let own = Primitive::all().filter(|it| of_numpy(*it).is_none()).map(primitive);
    NAMES.iter().copied().chain(own).collect()
}

/// NumPy's name of a primitive of floats; the text defines the primitives that NumPy lacks.
pub(super) fn of_numpy(op: Primitive) -> Option<&'static str> {
    match op {
        Primitive::Unary(UnaryPrimitive::Nearest) => Some("rint"),
        Primitive::Binary(BinaryPrimitive::TruncatedRemainder) => Some("fmod"),
        Primitive::Unary(
            UnaryPrimitive::Magnitude
            | UnaryPrimitive::SquareRoot
            | UnaryPrimitive::Floor
            | UnaryPrimitive::Ceiling
            | UnaryPrimitive::Truncation,
        )
        | Primitive::Predicate(_) => Some(op.name()),
        Primitive::Unary(UnaryPrimitive::NearestAway)
        | Primitive::Binary(
            BinaryPrimitive::Minimum
            | BinaryPrimitive::Maximum
            | BinaryPrimitive::FlooredRemainder
            | BinaryPrimitive::Lesser
            | BinaryPrimitive::Greater,
        ) => None,
    }
}

/// The texts of these and of what they need, tables in front of the functions that look something up.
pub(super) fn texts(used: &BTreeSet<Helper>) -> Vec<String> {
    let mut all = used.clone();
    all.extend(used.iter().filter(|it| it.definition().is_some()).map(|_| Helper::Bits));
    let mut tables = Vec::new();
    for table in all.iter().filter_map(|it| it.definition()).flat_map(Definition::tables) {
        let text = table_text(table, Style::Arrays);
        if !tables.contains(&text) {
            tables.push(text);
        }
    }
    let (functions, others): (Vec<Helper>, Vec<Helper>) =
        all.into_iter().partition(|it| it.definition().is_some());
    let others = others.into_iter().map(Helper::text);
    others.chain(tables).chain(functions.into_iter().map(Helper::text)).collect()
}
