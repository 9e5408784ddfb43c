//! How long a program is for whoever compiles it.

use super::super::nodes::{Program, Read};
use crate::expr::{Expr, ExprKind};

/// What the formula of a transcendental function has, about.
const OF_FUNCTION: usize = 30;

/// The operations of all statements, with those of the formulas of functions.
#[must_use]
pub fn n_operations(program: &Program) -> usize {
    let mut n = 0;
    program.each_expr(&mut |expr| expr.walk(&mut |it| n += of(it)));
    n
}

/// Those of an expression without its operands.
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
