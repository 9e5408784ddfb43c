//! Common parts of texts in Python: how tightly operators bind, numbers, and reserved words.

pub mod formula;

use std::collections::BTreeSet;
use std::fmt;

use crate::entity::Namer;
use crate::space::{Bound, Level};
use crate::types::{BinaryOp, DType, Value};

/// How tightly operators bind.
pub const TERNARY: u8 = 1;
pub const OR: u8 = 2;
pub const AND: u8 = 3;
pub const NOT: u8 = 4;
pub const COMPARISON: u8 = 5;
pub const BIT_OR: u8 = 6;
pub const BIT_AND: u8 = 7;
pub const SUM: u8 = 8;
pub const PRODUCT: u8 = 9;
pub const SIGN: u8 = 10;
pub const ATOM: u8 = 20;

/// Python's keywords.
pub const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// An expression as text, with how tightly its outermost operator binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub binding: u8,
}

impl Text {
    /// A text that needs no parentheses anywhere.
    pub fn atom(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), binding: ATOM }
    }

    pub fn new(text: impl fmt::Display, binding: u8) -> Self {
        Self { text: text.to_string(), binding }
    }

    /// In parentheses where it binds less tightly than `needed`.
    #[must_use]
    pub fn within(self, needed: u8) -> String {
        if self.binding < needed { format!("({})", self.text) } else { self.text }
    }

    /// `left op right`, for an operator that binds to the left or not at all.
    #[must_use]
    pub fn infix(left: Self, op: &str, right: Self, binding: u8) -> Self {
        let left_needs = if binding == COMPARISON { binding + 1 } else { binding };
        Self::new(format_args!("{} {op} {}", left.within(left_needs), right.within(binding + 1)), binding)
    }
}

/// How tightly an operator of the language binds where Python spells it alike.
#[must_use]
pub fn binding(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => OR,
        BinaryOp::And => AND,
        it if it.is_comparison() => COMPARISON,
        BinaryOp::Add | BinaryOp::Sub => SUM,
        _ => PRODUCT,
    }
}

/// A number in digits that read back to the same bits. NaN and infinity are written with the dialect's names
/// for them.
#[must_use]
pub fn number(value: Value, [nan, infinity]: [&str; 2]) -> Text {
    let digits = match value {
        Value::Bool(it) => return Text::atom(if it { "True" } else { "False" }),
        Value::Float32(it) if it.is_finite() => format!("{it:?}"),
        Value::Float64(it) if it.is_finite() => format!("{it:?}"),
        it if it.dtype().is_float() => {
            let it = it.as_f64();
            if it.is_nan() {
                nan.to_owned()
            } else if it > 0.0 {
                infinity.to_owned()
            } else {
                format!("-{infinity}")
            }
        }
        it => it.as_i64().to_string(),
    };
    let binding = if digits.starts_with('-') { SIGN } else { ATOM };
    Text { text: digits, binding }
}

/// Whether Python's own numbers are of this type.
#[must_use]
pub fn is_native(dtype: DType) -> bool {
    matches!(dtype, DType::Bool | DType::Int64 | DType::Float64)
}

/// `i + 1` beside a name; the name alone for 0.
#[must_use]
pub fn beside(name: &str, by: i64) -> String {
    match by {
        0 => name.to_owned(),
        by if by < 0 => format!("{name} - {}", by.unsigned_abs()),
        by => format!("{name} + {by}"),
    }
}

/// A position relative to one end of an axis of so many points.
#[must_use]
pub fn bound(bound: Bound, size: &str) -> String {
    match bound.level {
        Level::Start => bound.offset.to_string(),
        Level::End => beside(size, bound.offset.into()),
    }
}

/// Hands out names, each once: what a stencil calls something stays as it is wherever that can be.
#[derive(Clone, Debug)]
pub struct PythonNames {
    taken: BTreeSet<String>,
}

impl PythonNames {
    /// Names that are none of these, none of a definition, and no keywords.
    #[must_use]
    pub fn new(reserved: &[&str]) -> Self {
        let all = reserved.iter().chain(&KEYWORDS);
        Self { taken: all.map(|&it| it.to_owned()).chain(formula::names()).collect() }
    }

    /// A name that resembles `wanted`, with underscores behind it where that is taken.
    pub fn name(&mut self, wanted: &str) -> String {
        let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let is_plain = wanted.chars().all(is_letter) && !wanted.starts_with(|it: char| it.is_ascii_digit());
        let mut name =
            if is_plain && !wanted.is_empty() { wanted.to_owned() } else { Namer::default().name(wanted) };
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}
