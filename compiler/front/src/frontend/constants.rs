//! The values that a name can have while compiling: numbers, types, functions, modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ids::{ClassId, FunctionId};
use crate::diag::{FileId, Span};
use crate::space::{Axis, AxisSet};
use crate::types::{DType, Value};

/// The compile-time value of a name or expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Bool(bool),
    /// A Python integer; takes the type of an integer literal where it is used.
    Int(i64),
    /// A Python float; takes the type of a float literal where it is used.
    Float(f64),
    /// A value with a type of its own, which it keeps: `np.float32(0.1)`, NDSL's constants.
    Typed(Value),
    None,
    Str(Arc<str>),
    Tuple(Arc<[Constant]>),
    List(Arc<[Constant]>),
    /// An array of NumPy: its elements have types of their own, or are arrays.
    Array(Arc<[Constant]>),
    /// Keys and values, in order; a value that is not known is `Unsupported`.
    Dict(Arc<[(Constant, Constant)]>),
    /// An element type: `float`, `np.float32`, `Float`.
    Element(ElementType),
    /// A field type: `Field[IJ, float]`, `FloatField`.
    Field(FieldType),
    /// `IJK`, `IJ`, ...
    Axes(AxisSet),
    /// `I`, `J` or `K` alone.
    Axis(Axis),
    /// A position along an axis: `I[0] + 1`.
    Position(AxisPosition),
    /// A function of the files.
    Function(FunctionId),
    /// A class of the files.
    Class(ClassId),
    /// An object of a class of the files, such as `self`. Nothing but its class is known.
    Object(ClassId),
    /// A member of an enumeration, as its number.
    Member(i64),
    /// An object with attributes.
    Namespace(Arc<BTreeMap<String, Constant>>),
    /// A module of the files.
    Module(FileId),
    /// A module that is not among the files, by its path: `numpy`, `ndsl.constants`.
    Foreign(Arc<[String]>),
    /// A word of the language: `computation`, `PARALLEL`, `Field`, `sqrt`.
    Word(&'static str),
    /// A numeric function of Python or NumPy that the evaluator knows.
    Numeric(&'static str),
    /// Something that cannot be used, with what it was.
    Unsupported(Arc<str>),
}

/// The most values that one holds, at any depth; one that stands in it twice counts twice.
const MOST_PARTS: usize = 1 << 16;
/// How deeply values hold one another.
const DEEPEST: usize = 64;

impl Constant {
    /// Returns the value, or an error where it is too large or deep to be walked in reasonable time.
    ///
    /// Names let a short text write `b = (a, a)`, `c = (b, b)`, ..., which doubles the size each time.
    pub(super) fn bounded(self, span: Span) -> Evaluation {
        fn fits(value: &Constant, depth: usize, left: &mut usize) -> bool {
            if depth == 0 || *left == 0 {
                return false;
            }
            *left -= 1;
            let mut each = |it: &Constant| fits(it, depth - 1, left);
            match value {
                Constant::Tuple(parts) | Constant::List(parts) | Constant::Array(parts) => {
                    parts.iter().all(each)
                }
                Constant::Dict(entries) => entries.iter().all(|(key, value)| each(key) && each(value)),
                Constant::Namespace(members) => members.values().all(each),
                _ => true,
            }
        }
        match fits(&self, DEEPEST, &mut { MOST_PARTS }) {
            true => Ok(self),
            false => Err(Opaque::new("it holds too many values", span)),
        }
    }

    /// The kind of the value, for a message: `a number`, `a function`.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Constant::Bool(_) | Constant::Int(_) | Constant::Float(_) | Constant::Typed(_) => "a number",
            Constant::None => "`None`",
            Constant::Str(_) => "a string",
            Constant::Tuple(_) => "a tuple",
            Constant::List(_) => "a list",
            Constant::Array(_) => "an array",
            Constant::Dict(_) => "a dict",
            Constant::Element(_) | Constant::Field(_) => "a type",
            Constant::Axes(_) => "a set of axes",
            Constant::Axis(_) => "an axis",
            Constant::Position(_) => "a position along an axis",
            Constant::Function(_) => "a function",
            Constant::Class(_) => "a class",
            Constant::Member(_) => "a member of an enumeration",
            Constant::Namespace(_) | Constant::Object(_) => "an object",
            Constant::Module(_) | Constant::Foreign(_) => "a module",
            Constant::Word(_) => "a word of the language",
            Constant::Numeric(_) => "a Python function",
            Constant::Unsupported(_) => "a value that a stencil cannot use",
        }
    }

    /// The elements of a tuple, a list or an array.
    #[must_use]
    pub fn elements(&self) -> Option<&[Constant]> {
        match self {
            Constant::Tuple(parts) | Constant::List(parts) | Constant::Array(parts) => Some(parts),
            _ => None,
        }
    }

    /// Whether what it holds may be another while it stays the same object.
    #[must_use]
    pub fn is_mutable(&self) -> bool {
        match self {
            Constant::List(_) | Constant::Array(_) | Constant::Dict(_) | Constant::Namespace(_) => true,
            Constant::Tuple(parts) => parts.iter().any(Constant::is_mutable),
            _ => false,
        }
    }

    /// Whether it is a number, a text or `None`, which never changes.
    #[must_use]
    pub fn has_no_parts(&self) -> bool {
        matches!(
            self,
            Constant::Bool(_)
                | Constant::Int(_)
                | Constant::Float(_)
                | Constant::Typed(_)
                | Constant::Str(_)
                | Constant::None
        )
    }

    /// The value as a Python integer, where it is an integer of any kind.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Constant::Int(it) | Constant::Member(it) => Some(*it),
            Constant::Typed(it) if it.dtype().is_int() => Some(it.as_i64()),
            _ => None,
        }
    }
}

/// An element type as it is written; what `float` and `int` mean depends on where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementType {
    Fixed(DType),
    /// Python's `float`.
    Float,
    /// Python's `int`.
    Int,
    /// A string, to be looked up in the `dtypes`.
    Named(Arc<str>),
}

/// A field type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldType {
    pub axes: AxisSet,
    pub element: ElementType,
    /// The sizes of the dimensions beyond the axes, each at least 1; empty for most fields.
    pub data_dims: Vec<u32>,
    /// Whether it is a `GlobalTable`, without axes.
    pub is_table: bool,
}

/// `axis[index] + offset`; a negative index counts from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisPosition {
    pub axis: Axis,
    pub index: i64,
    pub offset: i64,
}

/// Why a name or expression has no compile-time value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Follows "because": lower-case, no final dot.
    pub why: String,
    /// The expression that could not be evaluated.
    pub span: Option<Span>,
    /// Whether there is a value that may change at that place.
    pub is_change: bool,
}

impl Opaque {
    /// A reason without a place.
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), span: None, is_change: false }
    }

    /// The expression at a place has no value.
    pub fn new(why: impl Into<String>, span: Span) -> Self {
        Self { why: why.into(), span: Some(span), is_change: false }
    }

    /// The place from which on it may have another value, where that is why it has none.
    #[must_use]
    pub fn change_place(&self) -> Option<Span> {
        self.span.filter(|_| self.is_change)
    }

    /// The value may be another one from a place on.
    pub(super) fn change(why: impl Into<String>, span: Span) -> Self {
        Self { is_change: true, ..Self::new(why, span) }
    }
}

/// A compile-time value, or why there is none.
pub type Evaluation = Result<Constant, Opaque>;
