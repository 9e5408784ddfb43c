//! The data of an expression.

use crate::diag::Span;
use crate::space::Axis;
use crate::types::{BinaryOp, DType, Function, UnaryOp, Value};

/// An expression that reads through leaves of type `A` and has the type `T`.
///
/// Where `T` is [`DType`], the operands of an operator have the type that the
/// operator needs: every conversion is a [`ExprKind::Cast`]. The exponent of a
/// power keeps its own type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr<A, T = DType> {
    pub kind: ExprKind<A, T>,
    pub dtype: T,
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind<A, T = DType> {
    Literal(Value),
    Access(A),
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
