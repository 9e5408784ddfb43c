//! How much it takes to compute an expression, beside what it reads.

use super::super::nodes::{Access, Expr, Stencil};
use crate::expr::ExprKind;
use crate::space::Axis;
use crate::types::BinaryOp;

/// About as many additions; what it reads is not counted.
#[must_use]
pub fn weight(expr: &Expr) -> u32 {
    let mut all = 0_u32;
    expr.walk(&mut |it| all = all.saturating_add(own_weight(it)));
    all
}

/// The weight at each point of a plane. Sums and products that are the same at all of its points weigh
/// nothing.
///
/// Longer operations weigh the same as elsewhere, since rows may be short and a thread may have a single
/// point.
#[must_use]
pub fn weight_at_points(stencil: &Stencil, expr: &Expr) -> u32 {
    if is_level(stencil, expr) {
        return Some(weight(expr)).filter(|&it| it >= DIVISION).unwrap_or(0);
    }
    expr.operands().fold(own_weight(expr), |all, it| all.saturating_add(weight_at_points(stencil, it)))
}

/// Whether an expression depends on the level alone.
fn is_level(stencil: &Stencil, expr: &Expr) -> bool {
    let mut is_level = true;
    expr.walk(&mut |it| match &it.kind {
        ExprKind::Access(access) => is_level &= reads_level(stencil, access),
        ExprKind::Element(..) => is_level = false,
        ExprKind::Position(axis) => is_level &= *axis == Axis::K,
        _ => {}
    });
    is_level
}

/// Whether what is read is the same at all points of a plane.
#[must_use]
pub fn reads_level(stencil: &Stencil, access: &Access) -> bool {
    match access {
        Access::Scalar(_) => true,
        Access::Local(_) => false,
        Access::Field { field, .. } => {
            let axes = stencil.fields[*field].axes;
            !axes.has(Axis::I) && !axes.has(Axis::J)
        }
    }
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
        ExprKind::Call(it, _) if it.divides() => DIVISION,
        ExprKind::Call(it, _) if it.is_transcendental() => ELEMENTARY_FUNCTION,
        ExprKind::Call(..) => 1,
    }
}

/// A division takes as long as many additions on all machines.
pub const DIVISION: u32 = 8;

/// So does what is a polynomial of high degree.
pub const ELEMENTARY_FUNCTION: u32 = 24;
