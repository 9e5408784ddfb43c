//! `field[...]`: which point is read.

use super::Builder;
use super::scope::Local;
use crate::defir::nodes::{Access, Expr, Field, Stmt};
use crate::diag::Span;
use crate::diag::catalog::{compile_time, expressions as catalog, statements};
use crate::entity::Handle;
use crate::expr::ExprKind as IrKind;
use crate::frontend::constants::Constant;
use crate::frontend::syntax::{self as tree, ExprKind, Operator};
use crate::space::{Axis, Offset};

/// The farthest that an offset may reach: sums over all statements of a stencil stay far from overflow.
const MAX_OFFSET: i64 = 1 << 15;

impl<'p> Builder<'_, 'p> {
    pub(super) fn subscript(
        &mut self,
        value: &'p tree::Expr,
        index: &'p tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Expr> {
        match &value.kind {
            ExprKind::Missing => None,
            ExprKind::Name(name) => match self.local(name) {
                Some(&Local::Field(field)) => {
                    let offset = self.offset(field, index)?;
                    Some(self.access(field, offset, span))
                }
                Some(Local::Scalar(_)) => {
                    self.report(catalog::subscript_of_value(&format!("the scalar `{name}`"), span));
                    None
                }
                _ => self.constant_subscript(name, value, index, span),
            },
            ExprKind::Subscript(inner, _) if inner.as_name().is_some_and(|it| self.is_field(it)) => {
                self.report(compile_time::not_supported("data dimensions", span));
                None
            }
            ExprKind::Attribute(_, name) if name.name == "A" => {
                self.report(compile_time::not_supported(".A[...]", span));
                None
            }
            // The result of a function is a temporary, which has points beside it.
            ExprKind::Call { function, .. } if self.called_function(function).is_some() => {
                let result = self.expr(value, out)?;
                let IrKind::Access(Access::Field { field, .. }) = result.kind else { return None };
                let offset = self.offset(field, index)?;
                Some(self.access(field, offset, span))
            }
            _ => match self.evaluate_with_subscripts(value, index, span) {
                Some(value) => self.constant(value, "this element", span),
                None => {
                    self.report(catalog::subscript_of_value("an expression", span));
                    None
                }
            },
        }
    }

    fn is_field(&self, name: &str) -> bool {
        matches!(self.local(name), Some(Local::Field(_)))
    }

    /// An element of a constant tuple.
    fn constant_subscript(
        &mut self,
        name: &str,
        value: &'p tree::Expr,
        index: &'p tree::Expr,
        span: Span,
    ) -> Option<Expr> {
        if let Some(element) = self.evaluate_with_subscripts(value, index, span) {
            return self.constant(element, name, span);
        }
        // An unknown name is the first thing to say.
        match self.evaluate(value, false) {
            Ok(constant) => {
                let what = format!("`{name}` is {}, it", constant.describe());
                self.report(catalog::subscript_of_value(&what, span));
            }
            Err(_) => {
                self.name(name, value.span);
            }
        }
        None
    }

    fn evaluate_with_subscripts(
        &self,
        value: &tree::Expr,
        index: &tree::Expr,
        span: Span,
    ) -> Option<Constant> {
        let Ok(Constant::Tuple(parts)) = self.evaluate(value, true) else { return None };
        let position = self.evaluate(index, false).ok()?.as_int()?;
        let length = i64::try_from(parts.len()).ok()?;
        let position = usize::try_from(if position < 0 { position + length } else { position }).ok()?;
        let _ = span;
        parts.get(position).cloned()
    }

    /// A read of a field, after the check that regions need.
    pub(super) fn access(&mut self, field: Handle<Field>, offset: Offset, span: Span) -> Expr {
        if self.is_in_region
            && offset.is_horizontal()
            && let Some(&written) = self.written_outside.get(&field)
        {
            let name = self.stencil.fields[field].name.clone();
            self.report(statements::region_reads_at_offset(&name, offset, span, written));
        }
        Expr { kind: IrKind::Access(Access::Field { field, offset }), dtype: (), span }
    }

    /// The offset that an index gives; what is wrong with it is reported.
    pub(super) fn offset(&mut self, field: Handle<Field>, index: &'p tree::Expr) -> Option<Offset> {
        let Field { name, axes, .. } = &self.stencil.fields[field];
        let (name, axes) = (name.clone(), *axes);
        let parts = index.parts();
        if let [only] = parts
            && matches!(only.kind, ExprKind::Ellipsis)
        {
            return Some(Offset::CENTRE);
        }
        if let Some(slice) = parts.iter().find(|it| matches!(it.kind, ExprKind::Slice { .. })) {
            self.report(catalog::slice_in_index(slice.span));
            return None;
        }
        if parts.iter().any(|it| matches!(it.kind, ExprKind::Missing)) {
            return None;
        }
        let shifts: Vec<Option<(Axis, i64)>> = parts.iter().map(|it| self.axis_shift(it)).collect();
        let mut offsets = [0_i64; 3];
        if shifts.iter().any(Option::is_some) {
            let mut last = None;
            for (part, shift) in parts.iter().zip(shifts) {
                let Some((axis, by)) = shift else {
                    self.report(catalog::bad_offset(
                        "axes and plain integers are mixed in one index",
                        part.span,
                    ));
                    return None;
                };
                let why = if last == Some(axis) {
                    Some(format!("the axis {axis} is given twice"))
                } else if last.is_some_and(|it| it > axis) {
                    Some(format!("the axis {axis} is out of order"))
                } else if !axes.has(axis) {
                    Some(format!("`{name}` has no axis {axis}"))
                } else {
                    None
                };
                if let Some(why) = why {
                    self.report(catalog::bad_offset(&why, part.span));
                    return None;
                }
                last = Some(axis);
                offsets[axis.index()] = by;
            }
        } else {
            if parts.len() != axes.len() {
                self.report(catalog::offset_count(&name, axes, parts.len(), index.span));
                return None;
            }
            for (axis, part) in axes.iter().zip(parts) {
                offsets[axis.index()] = self.constant_offset(part, axis)?;
            }
        }
        let mut short = [0_i32; 3];
        for (short, long) in short.iter_mut().zip(offsets) {
            match i32::try_from(long).ok().filter(|_| long.abs() <= MAX_OFFSET) {
                Some(it) => *short = it,
                None => {
                    self.report(catalog::offset_too_large(long, MAX_OFFSET, index.span));
                    return None;
                }
            }
        }
        let [i, j, k] = short;
        Some(Offset::new(i, j, k))
    }

    fn constant_offset(&mut self, part: &'p tree::Expr, axis: Axis) -> Option<i64> {
        match self.evaluate(part, true) {
            Ok(value) => {
                let offset = value.as_int();
                if offset.is_none() {
                    let why = format!("the offset along {axis} is {} and not an integer", describe(&value));
                    self.report(catalog::bad_offset(&why, part.span));
                }
                offset
            }
            Err(_) if self.is_missing_external(part) => None,
            Err(_) if axis == Axis::K => {
                self.report(compile_time::not_supported("variable offset along K", part.span));
                None
            }
            Err(opaque) => {
                let why =
                    format!("the offset along {axis} is not known while compiling, because {}", opaque.why);
                self.report(catalog::bad_offset(&why, part.span));
                None
            }
        }
    }

    /// `I`, `J + 1`, `K - n`: an axis and how far along it. `None` for anything else.
    fn axis_shift(&self, expr: &tree::Expr) -> Option<(Axis, i64)> {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Attribute(..) => match self.evaluate(expr, false) {
                Ok(Constant::Axis(axis)) => Some((axis, 0)),
                _ => None,
            },
            ExprKind::Binary(op @ (Operator::Add | Operator::Sub), left, right) => {
                let integer = |it: &tree::Expr| self.evaluate(it, false).ok()?.as_int();
                if let Some((axis, by)) = self.axis_shift(left) {
                    let shift = integer(right)?;
                    let shift = if *op == Operator::Add { Some(shift) } else { shift.checked_neg() };
                    return Some((axis, by.saturating_add(shift?)));
                }
                if *op == Operator::Add {
                    let (axis, by) = self.axis_shift(right)?;
                    return Some((axis, by.saturating_add(integer(left)?)));
                }
                None
            }
            _ => None,
        }
    }
}

/// A constant for a message, where all numbers but integers are wrong.
fn describe(value: &Constant) -> &'static str {
    match value {
        Constant::Float(_) | Constant::Typed(_) => "a float",
        Constant::Bool(_) => "a boolean",
        other => other.describe(),
    }
}
