//! The data of an expression.

use serde::{Deserialize, Serialize};

use crate::diag::Span;
use crate::space::Axis;
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

/// An expression that reads through leaves of type `A` and has the type `T`.
///
/// Where `T` is [`DType`], the operands of an operator have the type that the
/// operator needs: every conversion is a [`ExprKind::Cast`]. The exponent of a
/// power keeps its own type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr<A, T = DType> {
    pub kind: ExprKind<A, T>,
    pub dtype: T,
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprKind<A, T = DType> {
    Literal(Value),
    Access(A),
    /// One element of what the leaf names, where the leaf alone does not tell which. The leaf has no offset along K.
    Element(A, Box<Index<A, T>>),
    /// The position along an axis, 0 at the start of the compute domain. The language writes `K` alone.
    Position(Axis),
    Unary(UnaryOp, Box<Expr<A, T>>),
    Binary(BinaryOp, Box<Expr<A, T>>, Box<Expr<A, T>>),
    /// `then if condition else otherwise`; both arms may be evaluated.
    Ternary {
        condition: Box<Expr<A, T>>,
        then: Box<Expr<A, T>>,
        otherwise: Box<Expr<A, T>>,
    },
    Call(Function, Vec<Expr<A, T>>),
    /// The operand converted to this type.
    Cast(DType, Box<Expr<A, T>>),
}

/// Which element of a field is meant, as far as it takes more to tell than a constant offset.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Index<A, T = DType> {
    pub vertical: Vertical<A, T>,
    /// An integer for each data dimension of the field, counted from 0.
    pub data: Vec<Expr<A, T>>,
}

/// Which level of a column is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Vertical<A, T = DType> {
    /// So many levels above the point.
    Offset(i32),
    /// As many levels above the point as an integer says at run time; never a literal.
    Above(Expr<A, T>),
    /// The level of that number, 0 at the start of the compute domain.
    At(Expr<A, T>),
}

impl<A> Expr<A> {
    /// The base of a float's `x ** 2`, which is defined as `x * x`.
    #[must_use]
    pub fn squared(&self) -> Option<&Self> {
        let ExprKind::Binary(BinaryOp::Pow, base, exponent) = &self.kind else { return None };
        let two = match exponent.kind {
            ExprKind::Literal(Value::Float32(it)) => it.to_bits() == 2.0_f32.to_bits(),
            ExprKind::Literal(Value::Float64(it)) => it.to_bits() == 2.0_f64.to_bits(),
            ExprKind::Literal(it) => it.dtype().is_int() && it.as_i64() == 2,
            _ => false,
        };
        (two && base.dtype.is_float()).then_some(base)
    }

    /// Whether it is a transcendental function, or a power that is computed as one.
    #[must_use]
    pub fn is_transcendental(&self) -> bool {
        match &self.kind {
            ExprKind::Binary(BinaryOp::Pow, base, _) => base.dtype.is_float() && self.squared().is_none(),
            ExprKind::Call(function, _) => function.is_transcendental(),
            _ => false,
        }
    }
}

impl<A, T> Index<A, T> {
    /// The point itself.
    pub const HERE: Self = Self { vertical: Vertical::Offset(0), data: Vec::new() };

    /// Whether the point itself is meant, of a field without data dimensions.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.data.is_empty() && self.level_offset() == Some(0)
    }

    /// The element of the data dimensions, where literals tell it; empty where there are none.
    #[must_use]
    pub fn literal_data(&self) -> Option<Vec<i64>> {
        let literal = |expr: &Expr<A, T>| match expr.kind {
            ExprKind::Literal(value) => Some(value.as_i64()),
            _ => None,
        };
        self.data.iter().map(literal).collect()
    }

    /// How many levels above the point it lies, where that is known.
    #[must_use]
    pub fn level_offset(&self) -> Option<i32> {
        match self.vertical {
            Vertical::Offset(by) => Some(by),
            Vertical::Above(_) | Vertical::At(_) => None,
        }
    }
}
