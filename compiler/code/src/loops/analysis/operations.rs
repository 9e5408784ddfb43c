//! The length of a program, which costs time in the compiler of the generated code.

use super::super::nodes::{Item, Program, Read};
use super::super::visit::walk;
use crate::expr::{Expr, ExprKind};
use crate::types::BinaryOp;
use crate::types::math::POWER;
use crate::types::math::record::Definition;

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

/// The formulas that items call, each as often as they do.
#[must_use]
pub fn definitions(items: &[Item]) -> Vec<&'static Definition> {
    let mut found = Vec::new();
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.walk(&mut |it| {
                found.extend(match &it.kind {
                    ExprKind::Call(function, arguments) => {
                        arguments.first().and_then(|it| function.definition(it.dtype))
                    }
                    ExprKind::Binary(..) if it.squared().is_some() => None,
                    ExprKind::Binary(BinaryOp::Pow, left, _) => POWER.definition(left.dtype),
                    _ => None,
                });
            });
        });
    });
    found
}
