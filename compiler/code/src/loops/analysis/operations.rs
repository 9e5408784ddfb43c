//! The length of a program, which costs time in the compiler of the generated code.

use super::super::nodes::{Program, Read};
use crate::expr::{Expr, ExprKind};

/// Operations of the formula of a transcendental function, approximately.
const OF_FUNCTION: usize = 30;

/// Counts the operations of all statements, with those of the formulas of functions.
#[must_use]
pub fn n_operations(program: &Program) -> usize {
    let mut n = 0;
    program.each_expr(&mut |expr| expr.walk(&mut |it| n += of(it)));
    n
}

/// Counts the operations of an expression without those of its operands.
fn of(expr: &Expr<Read>) -> usize {
    match expr.kind {
        _ if expr.is_transcendental() => OF_FUNCTION,
        ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Call(..) | ExprKind::Ternary { .. } => 1,
        ExprKind::Literal(_)
        | ExprKind::Access(_)
        | ExprKind::Element(..)
        | ExprKind::Position(_)
        | ExprKind::Cast(..) => 0,
    }
}
