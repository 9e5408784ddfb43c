//! How much it takes to compute an expression, beside what it reads.

use super::super::nodes::Expr;
use crate::expr::ExprKind;
use crate::types::{BinaryOp, Function};

/// About as many additions; what it reads is not counted.
#[must_use]
pub fn weight(expr: &Expr) -> u32 {
    let mut all = 0_u32;
    expr.walk(&mut |it| all = all.saturating_add(own_weight(it)));
    all
}

/// The weight of the outermost operation alone.
#[must_use]
pub fn own_weight(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Access(_)
        | ExprKind::Element(..)
        | ExprKind::Position(_)
        | ExprKind::Unary(..)
        | ExprKind::Cast(..) => 0,
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Mod, ..) => DIVISION,
        ExprKind::Binary(BinaryOp::Pow, ..) if expr.squared().is_some() => 1,
        ExprKind::Binary(BinaryOp::Pow, ..) => ELEMENTARY_FUNCTION,
        ExprKind::Binary(..) | ExprKind::Ternary { .. } => 1,
        ExprKind::Call(Function::Sqrt | Function::Mod | Function::ModC, _) => DIVISION,
        ExprKind::Call(it, _) if it.is_transcendental() => ELEMENTARY_FUNCTION,
        ExprKind::Call(..) => 1,
    }
}

/// A division takes as long as many additions on all machines.
pub const DIVISION: u32 = 8;

/// So does what is a polynomial of high degree.
pub const ELEMENTARY_FUNCTION: u32 = 24;
