//! `field[...]`, `field[...][n]`, `field.A[n]`, `field.at(K=n)`: which element is read.

use super::Builder;
use super::computation::Call;
use super::scope::{ExpectedKind, Local};
use crate::defir::nodes::{Access, Expr, Field, Index, Stmt};
use crate::diag::Span;
use crate::diag::catalog::{data, expressions as catalog, names};
use crate::entity::Handle;
use crate::expr::{ExprKind as IrKind, Vertical};
use crate::frontend::constants::Constant;
use crate::frontend::syntax::{self as tree, ExprKind, Operator};
use crate::space::{Axis, Offset};
use crate::types::DType;

/// The farthest that an offset may reach: sums over all statements of a stencil stay far from overflow.
const MAX_OFFSET: i64 = 1 << 15;

/// How far an index points along one axis.
enum Shift {
    Constant(i64),
    RunTime(Expr),
}

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
                    let (offset, index) = self.pointed(field, index, out)?;
                    if self.stencil.fields[field].data_dims.is_empty() {
                        Some(self.read_at(field, offset, index, span))
                    } else {
                        self.element_of(field, offset, index, span)
                    }
                }
                Some(Local::Faulty) => None,
                Some(Local::Scalar(_)) => {
                    self.report(catalog::subscript_of_value(&format!("the scalar `{name}`"), span));
                    None
                }
                _ => self.constant_subscript(name, value, index, span),
            },
            _ if self.is_of_faulty(value) => None,
            ExprKind::Subscript(inner, at) if let Some(field) = self.field_named(inner) => {
                let (offset, mut place) = self.pointed(field, at, out)?;
                place.data = self.data_index(field, index, "[...][...]", span, out)?;
                Some(self.read_at(field, offset, place, span))
            }
            ExprKind::Attribute(inner, name)
                if name.name == "A"
                    && let Some(field) = self.field_named(inner) =>
            {
                let data = self.data_index(field, index, ".A[...]", span, out)?;
                Some(self.read_at(field, Offset::CENTRE, Index { data, ..Index::HERE }, span))
            }
            // The result of a function is a temporary, which has points beside it.
            ExprKind::Call { function, .. } if self.called_function(function).is_some() => {
                let result = self.expr(value, out)?;
                let IrKind::Access(Access::Field { field, .. }) = result.kind else { return None };
                let (offset, index) = self.pointed(field, index, out)?;
                Some(self.read_at(field, offset, index, span))
            }
            ExprKind::Attribute(inner, name) if self.field_named(inner).is_some() => {
                let field = inner.as_name().unwrap_or_default();
                self.report(catalog::attribute_of_field(field, &name.name, value.span));
                None
            }
            // It says itself what it is.
            ExprKind::Other(..) => self.expr(value, out),
            _ => match self.evaluate_with_subscripts(value, index, span) {
                Some(value) => self.constant(value, "this element", span),
                None => {
                    let mut base = value;
                    while let ExprKind::Subscript(inner, _) = &base.kind {
                        base = inner;
                    }
                    let (whole, named) = (self.names.text(span), self.names.text(base.span));
                    self.report(match self.evaluate(base, false) {
                        Ok(constant) => {
                            let what = format!("`{named}` is {}", constant.describe());
                            catalog::subscript_of_constant(&what, whole, span)
                        }
                        Err(_) => catalog::subscript_of_value("an expression", span),
                    });
                    None
                }
            },
        }
    }

    /// Whether it is an element or an attribute of a parameter without a type, which is told of already.
    fn is_of_faulty(&self, expr: &tree::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.is_faulty(name),
            ExprKind::Subscript(inner, _) | ExprKind::Attribute(inner, _) => self.is_of_faulty(inner),
            _ => false,
        }
    }

    pub(super) fn is_faulty(&self, name: &str) -> bool {
        matches!(self.local(name), Some(Local::Faulty))
    }

    pub(super) fn field_named(&self, expr: &tree::Expr) -> Option<Handle<Field>> {
        match self.local(expr.as_name()?)? {
            Local::Field(field) => Some(*field),
            _ => None,
        }
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
                let what = format!("`{name}` is {}", constant.describe());
                self.report(catalog::subscript_of_constant(&what, self.names.text(span), span));
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
        let whole = self.evaluate(value, true).ok()?;
        let parts = whole.elements()?;
        let position = self.evaluate(index, false).ok()?.as_int()?;
        let length = i64::try_from(parts.len()).ok()?;
        let position = usize::try_from(if position < 0 { position + length } else { position }).ok()?;
        let _ = span;
        parts.get(position).cloned()
    }

    /// `field.at(K=level, ddim=[n])`
    pub(super) fn at(&mut self, field: Handle<Field>, call: Call<'p>, out: &mut Vec<Stmt>) -> Option<Expr> {
        let Field { name, axes, data_dims, .. } = &self.stencil.fields[field];
        let (name, axes, sizes) = (name.clone(), *axes, data_dims.clone());
        let bad = |this: &mut Self, why: &str, span| this.report(data::bad_at(&name, why, span));
        if let Some(argument) = call.args.first() {
            bad(self, "`.at(...)` takes its level as `K=level`", argument.span);
            return None;
        }
        if !axes.has(Axis::K) {
            self.report(data::at_without_levels(&name, axes, &sizes, call.span));
            return None;
        }
        let (mut level, mut element) = (None, None);
        for keyword in call.keywords {
            match keyword.name.as_ref().map(|it| it.name.as_str()) {
                Some("K") => level = Some(&keyword.value),
                Some("ddim") => element = Some(&keyword.value),
                _ => {
                    bad(self, "`.at(...)` takes `K` and `ddim` only", keyword.span);
                    return None;
                }
            }
        }
        let Some(level) = level else {
            bad(self, "`.at(...)` has no level", call.span);
            return None;
        };
        if let Ok(Constant::Axis(Axis::K)) = self.evaluate(level, false) {
            self.report(data::at_this_level(&name, axes, &sizes, level.span));
            return None;
        }
        let built = self.expr(level, out);
        let data = match element {
            Some(element) => self.data_index(field, element, ".at(ddim=...)", call.span, out)?,
            None if sizes.is_empty() => Vec::new(),
            None => {
                let index = Index { vertical: Vertical::At(built?), data: Vec::new() };
                return self.element_of(field, Offset::CENTRE, index, call.span);
            }
        };
        let index = Index { vertical: Vertical::At(built?), data };
        Some(self.read_at(field, Offset::CENTRE, index, call.span))
    }

    /// One integer for each data dimension of a field; `written` is how they are asked for.
    pub(super) fn data_index(
        &mut self,
        field: Handle<Field>,
        index: &'p tree::Expr,
        written: &str,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Expr>> {
        let Field { name, axes, data_dims, .. } = &self.stencil.fields[field];
        let (name, axes, sizes) = (name.clone(), *axes, data_dims.clone());
        let parts = match &index.kind {
            ExprKind::List(parts) => parts,
            _ => index.parts(),
        };
        if sizes.is_empty() {
            self.report(data::no_data_dimensions(&name, &format!("{name}{written}"), span));
            return None;
        }
        if let Some(slice) = parts.iter().find(|it| matches!(it.kind, ExprKind::Slice { .. })) {
            self.report(catalog::slice_in_index(slice.span));
            return None;
        }
        if parts.len() != sizes.len() {
            self.report(data::data_index_count(&name, axes, &sizes, parts.len(), index.span));
            return None;
        }
        let element = self.element.take();
        let mut built = Vec::new();
        for (part, size) in parts.iter().zip(sizes) {
            let Some(expr) = self.expr(part, out) else { continue };
            if let IrKind::Literal(value) = expr.kind
                && value.dtype().is_int()
                && !(0..i64::from(size)).contains(&value.as_i64())
            {
                self.report(data::data_index_out_of_range(&name, value.as_i64(), size, part.span));
                continue;
            }
            built.push(expr);
        }
        self.element = element;
        (built.len() == parts.len()).then_some(built)
    }

    /// A read of an element, after the checks that its place needs.
    pub(super) fn read_at(&mut self, field: Handle<Field>, offset: Offset, index: Index, span: Span) -> Expr {
        if index.vertical == Vertical::Offset(0) && index.data.is_empty() {
            return self.access(field, offset, span);
        }
        let read = self.access(field, Offset { k: 0, ..offset }, span);
        let IrKind::Access(leaf) = read.kind else { return read };
        let vertical = match index.vertical {
            Vertical::Offset(by) => Vertical::Offset(by.saturating_add(offset.k)),
            run_time => {
                if offset.is_horizontal() {
                    let name = self.stencil.fields[field].name.clone();
                    self.report(data::computed_level_beside(&name, Offset { k: 0, ..offset }, span));
                }
                run_time
            }
        };
        let index = Index { vertical, data: index.data };
        Expr { kind: IrKind::Element(leaf, Box::new(index)), dtype: (), span }
    }

    /// A read of a field.
    pub(super) fn access(&mut self, field: Handle<Field>, offset: Offset, span: Span) -> Expr {
        Expr { kind: IrKind::Access(Access::Field { field, offset }), dtype: (), span }
    }

    /// Where an index points, its data dimensions aside; what is wrong with it is reported.
    pub(super) fn pointed(
        &mut self,
        field: Handle<Field>,
        index: &'p tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Option<(Offset, Index)> {
        let mut run_time = None;
        let Field { name, axes, .. } = &self.stencil.fields[field];
        let (name, axes) = (name.clone(), *axes);
        let parts = index.parts();
        if let [only] = parts
            && matches!(only.kind, ExprKind::Ellipsis)
        {
            return Some((Offset::CENTRE, Index::HERE));
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
                if let Some(part) = parts.iter().find(|it| self.computes_with_axis(it)) {
                    let why = "this is not an axis, nor an axis plus or minus an integer";
                    self.report(catalog::bad_offset(why, part.span));
                    return None;
                }
                let edit = self.zero_offsets(axes, index);
                self.report(match self.stencil.fields[field].data_dims.as_slice() {
                    sizes @ [_, ..] if axes.is_empty() => {
                        data::data_index_missing(&name, axes, sizes, index.span)
                    }
                    _ => catalog::offset_count(&name, axes, parts.len(), index.span, edit),
                });
                return None;
            }
            for (axis, part) in axes.iter().zip(parts) {
                match self.constant_offset(part, axis, out)? {
                    Shift::Constant(by) => offsets[axis.index()] = by,
                    Shift::RunTime(by) => run_time = Some(by),
                }
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
        let vertical = run_time.map_or(Vertical::Offset(0), Vertical::Above);
        Some((Offset::new(i, j, k), Index { vertical, ..Index::HERE }))
    }

    fn constant_offset(&mut self, part: &'p tree::Expr, axis: Axis, out: &mut Vec<Stmt>) -> Option<Shift> {
        match self.evaluate(part, true) {
            Ok(value) => {
                let offset = value.as_int();
                if offset.is_none()
                    && axis == Axis::K
                    && matches!(value, Constant::Float(_) | Constant::Typed(_))
                {
                    self.report(data::float_index("the offset along K", DType::Float64, part.span));
                } else if offset.is_none() {
                    let why = format!("the offset along {axis} is {} and not an integer", describe(&value));
                    self.report(catalog::bad_offset(&why, part.span));
                }
                offset.map(Shift::Constant)
            }
            Err(_) if self.is_missing_external(part, ExpectedKind::Integer) => None,
            Err(_) if axis == Axis::K => {
                let element = self.element.take();
                let by = self.expr(part, out);
                self.element = element;
                by.map(Shift::RunTime)
            }
            Err(opaque) => {
                let why =
                    format!("the offset along {axis} is not known while compiling, because {}", opaque.why);
                let found = catalog::bad_offset(&why, part.span);
                self.report(names::changed_at(found, opaque.change_place()));
                None
            }
        }
    }

    /// Whether an index computes with `I`, `J` or `K`, or with a capital letter that is none of them.
    fn computes_with_axis(&self, expr: &tree::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => match self.evaluate(expr, false) {
                Ok(value) => matches!(value, Constant::Axis(_)),
                Err(_) => matches!(name.as_bytes(), [b'A'..=b'Z']) && self.local(name).is_none(),
            },
            ExprKind::Unary(_, it) => self.computes_with_axis(it),
            ExprKind::Binary(_, a, b) => self.computes_with_axis(a) || self.computes_with_axis(b),
            _ => false,
        }
    }

    /// An axis and the shift along it: `I`, `J + 1`, `K - n`. `None` for every other expression.
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
