//! Names of functions for operations that are not operators.

use super::prelude::is_defined;
use super::{Doubles, WgslOptions};
use crate::types::math::POWER;
use crate::types::math::builtins::Meaning;
use crate::types::math::formula::Formula;
use crate::types::{BinaryPrimitive, DType, Function, Predicate, Primitive, UnaryPrimitive};

/// A function of mathematics that is printed from its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    Function(Function),
    /// `**`
    Power,
}

impl Callee {
    pub(super) fn formula(self) -> Option<&'static Formula> {
        match self {
            Callee::Function(function) => match function.row().meaning {
                Meaning::Formula(formula) => Some(formula),
                Meaning::Primitive(_) => None,
            },
            Callee::Power => Some(&POWER),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Callee::Function(function) => function.name(),
            Callee::Power => POWER.name,
        }
    }
}

/// The suffix of function names for a type. Narrow integers are words.
pub(super) fn suffix(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::Int8 | DType::Int16 | DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
    }
}

/// The name of a printed function.
pub(super) fn name_of_formula(callee: Callee, dtype: DType) -> String {
    format!("{}_{}", callee.name(), suffix(dtype))
}

/// The function of `shaders/` for a callee where the interpreter's bits are not needed; none if there is
/// none.
pub(super) fn fast(callee: Callee, options: &WgslOptions) -> Option<String> {
    let name = format!("fast_{}", callee.name());
    (options.doubles == Doubles::Singles && is_defined(&name, options.doubles)).then_some(name)
}

/// The function for a primitive of floats and integers of a type; none where an integer is its own result.
pub(super) fn primitive(op: Primitive, dtype: DType, options: &WgslOptions) -> Option<String> {
    let is_pair = options.is_pair(dtype);
    let ours = |of: &str| Some(format!("{of}_{}", suffix(dtype)));
    // A function of the language; pairs have one of ours.
    let theirs = |of: &'static str| if is_pair { ours(of) } else { Some(of.to_owned()) };
    match op {
        Primitive::Unary(UnaryPrimitive::Magnitude) if dtype.is_float() => theirs(op.name()),
        Primitive::Unary(UnaryPrimitive::Magnitude) => ours(op.name()),
        Primitive::Unary(_) | Primitive::Predicate(_) if !dtype.is_float() => None,
        Primitive::Unary(UnaryPrimitive::SquareRoot) if options.divides => ours(op.name()),
        Primitive::Unary(UnaryPrimitive::NearestAway) => ours(op.name()),
        Primitive::Unary(
            UnaryPrimitive::SquareRoot
            | UnaryPrimitive::Floor
            | UnaryPrimitive::Ceiling
            | UnaryPrimitive::Truncation
            | UnaryPrimitive::Nearest,
        ) => theirs(op.name()),
        Primitive::Predicate(question) => ours(match question {
            Predicate::Nan => "is_nan",
            Predicate::Infinite => "is_infinite",
            Predicate::Finite => "is_finite",
        }),
        Primitive::Binary(binary) if !dtype.is_float() => ours(match binary {
            // Without NaN, both rules are one.
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => BinaryPrimitive::Minimum.name(),
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => BinaryPrimitive::Maximum.name(),
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => binary.name(),
        }),
        // Whose result is never another NaN.
        Primitive::Binary(BinaryPrimitive::TruncatedRemainder) => ours("fmod"),
        Primitive::Binary(binary) => ours(binary.name()),
    }
}
