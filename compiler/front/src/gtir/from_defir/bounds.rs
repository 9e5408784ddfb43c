//! Intervals whose bounds are known at run time: all levels are visited, and each statement asks whether it runs.

use crate::defir::nodes as def;
use crate::diag::Span;
use crate::diag::catalog::computations as catalog;
use crate::entity::Handle;
use crate::expr::{ExprKind, Vertical};
use crate::space::{Axis, Offset};
use crate::types::{BinaryOp, DType, Value};

use super::super::nodes::{Access, Expr, Field, Index, Stmt, StmtKind};
use super::{Lowering, converted};

impl Lowering<'_> {
    /// The condition that a level lies within the bounds of a computation that are found at run time. `None`
    /// where there are no such bounds, or they have a fault.
    pub(super) fn run_time_bounds(&mut self, computation: &def::Computation) -> Option<Expr> {
        let mut bound = |level: &Option<def::Expr>, op: BinaryOp| {
            let written = level.as_ref()?;
            let level = self.expr(written)?;
            if level.dtype == DType::Bool {
                let mut name = String::new();
                written.accesses(&mut |leaf| {
                    name = match *leaf {
                        def::Access::Field { field, .. } => self.source.fields[field].name.clone(),
                        def::Access::Scalar(scalar) => self.source.scalars[scalar].name.clone(),
                    }
                });
                self.refuse(catalog::interval_bound_type(&name, level.dtype, written.span));
                return None;
            }
            let span = level.span;
            // A number with a fraction is cut off, as everywhere.
            Some(joined(op, position(span), converted(level, DType::Int64), span))
        };
        let from = bound(&computation.from, BinaryOp::Ge);
        let to = bound(&computation.to, BinaryOp::Lt);
        match (from, to) {
            (Some(from), Some(to)) => {
                let span = from.span.to(to.span);
                Some(joined(BinaryOp::And, from, to, span))
            }
            (from, to) => from.or(to),
        }
    }
}

/// The statement, where a condition holds.
pub(super) fn guarded(stmt: Stmt, condition: &Expr) -> Stmt {
    let origin = stmt.origin.clone();
    let kind = StmtKind::If { condition: condition.clone(), then: vec![stmt], otherwise: Vec::new() };
    Stmt { kind, origin }
}

/// Whether a field may be read or written so many levels above, where it has no such level.
pub(super) type MayLeave<'a> = dyn FnMut(Handle<Field>, i32) -> bool + 'a;

/// Offsets along K that `may_leave` the domain become levels that are found at run time: whether
/// they exist depends on the bounds.
pub(super) fn find_levels_at_run_time(stmt: &mut Stmt, may_leave: &mut MayLeave) {
    match &mut stmt.kind {
        StmtKind::Assign { target, index, target_span, value } => {
            in_index(*target, index, *target_span, may_leave);
            in_expr(value, may_leave);
        }
        StmtKind::If { condition, then, otherwise } => {
            in_expr(condition, may_leave);
            then.iter_mut().chain(otherwise).for_each(|it| find_levels_at_run_time(it, may_leave));
        }
        StmtKind::While { condition, body } => {
            in_expr(condition, may_leave);
            body.iter_mut().for_each(|it| find_levels_at_run_time(it, may_leave));
        }
        StmtKind::Region { body, .. } => {
            body.iter_mut().for_each(|it| find_levels_at_run_time(it, may_leave));
        }
    }
}

fn in_expr(expr: &mut Expr, may_leave: &mut MayLeave) {
    let span = expr.span;
    match &mut expr.kind {
        ExprKind::Access(Access::Field { field, offset }) if may_leave(*field, offset.k) => {
            let leaf = Access::Field { field: *field, offset: Offset { k: 0, ..*offset } };
            let index = Index { vertical: Vertical::At(level(offset.k, span)), data: Vec::new() };
            expr.kind = ExprKind::Element(leaf, Box::new(index));
        }
        ExprKind::Element(Access::Field { field, .. }, index) => in_index(*field, index, span, may_leave),
        _ => expr.operands_mut().into_iter().for_each(|it| in_expr(it, may_leave)),
    }
}

fn in_index(field: Handle<Field>, index: &mut Index, span: Span, may_leave: &mut MayLeave) {
    if let Vertical::Offset(by) = index.vertical
        && may_leave(field, by)
    {
        index.vertical = Vertical::At(level(by, span));
    }
    index.exprs_mut().for_each(|it| in_expr(it, may_leave));
}

/// The level so many above the one at hand.
fn level(by: i32, span: Span) -> Expr {
    let by = Expr { kind: ExprKind::Literal(Value::Int64(by.into())), dtype: DType::Int64, span };
    Expr {
        kind: ExprKind::Binary(BinaryOp::Add, Box::new(position(span)), Box::new(by)),
        dtype: DType::Int64,
        span,
    }
}

fn position(span: Span) -> Expr {
    Expr { kind: ExprKind::Position(Axis::K), dtype: DType::Int64, span }
}

fn joined(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), dtype: DType::Bool, span }
}
