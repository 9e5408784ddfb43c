//! Assignments of whole vectors and small matrices: one statement for each element.

use itertools::Itertools;

use super::Builder;
use super::scope::Local;
use super::statement::AssignmentTarget;
use crate::defir::nodes::{Expr, Stmt};
use crate::diag::Span;
use crate::diag::catalog::data as catalog;
use crate::entity::Handle;
use crate::expr::{ExprKind as IrKind, Index};
use crate::frontend::syntax::{self as tree, ExprKind, Operator};
use crate::space::Offset;
use crate::types::{BinaryOp, Value};

impl<'p> Builder<'_, 'p> {
    /// The field with data dimensions that a target means as a whole: its name stands alone, or with
    /// an index that has none of them.
    pub(super) fn whole_vector(&self, target: &tree::Expr) -> Option<Handle<crate::defir::nodes::Field>> {
        let name = match &target.kind {
            ExprKind::Name(name) => name,
            ExprKind::Subscript(value, _) => value.as_name()?,
            _ => return None,
        };
        match self.local(name)? {
            &Local::Field(field) if !self.stencil.fields[field].data_dims.is_empty() => Some(field),
            _ => None,
        }
    }

    /// `w = 2.0 * v + u`: as many assignments as `w` has elements. The value is computed before any of
    /// them where it takes elements from other places than they go to.
    pub(super) fn assign_vector(
        &mut self,
        target: &'p tree::Expr,
        value: &'p tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let Some(aim) = self.aim(target, None, out) else { return };
        let sizes = self.stencil.fields[aim.field].data_dims.clone();
        let Some(shape) = self.shape(value) else { return };
        if !shape.is_empty() && shape != sizes {
            let name = &self.stencil.fields[aim.field].name;
            let why = format!("`{name}` has the sizes {sizes:?}, and the value has {shape:?}");
            self.report(catalog::vectors_differ(&why, value.span));
            return;
        }
        let elements: Vec<Vec<i64>> = every_element(&sizes).collect();
        let is_shuffled = self.shuffles(value, aim.field);
        let mut kept = Vec::new();
        for element in &elements {
            let before = self.element.replace(element.clone());
            let built = self.expr(value, out);
            self.element = before;
            let Some(built) = built else { return };
            let index = Index { data: self.element_index(element, span), ..aim.index.clone() };
            let place = AssignmentTarget { field: aim.field, index };
            if is_shuffled {
                let number = element.iter().join("_");
                let name = format!("{}_{number}_next", self.stencil.fields[aim.field].name);
                let field = self.temporary(name, crate::space::AxisSet::IJK, None, span);
                self.emit(field.into(), target.span, built, span, out);
                kept.push((place, field));
            } else {
                self.emit(place, target.span, built, span, out);
            }
        }
        for (place, field) in kept {
            self.emit(place, target.span, Self::read(field, span), span, out);
        }
    }

    /// The literals that pick an element.
    pub(super) fn element_index(&self, element: &[i64], span: Span) -> Vec<Expr> {
        let literal = |&at: &i64| super::computation::literal(Value::Int64(at).cast(self.literal_int), span);
        element.iter().map(literal).collect()
    }

    /// A whole field with data dimensions where one of its elements is being computed.
    pub(super) fn element_of(
        &mut self,
        field: Handle<crate::defir::nodes::Field>,
        offset: Offset,
        mut index: Index<crate::defir::nodes::Access, ()>,
        span: Span,
    ) -> Option<Expr> {
        let declared = &self.stencil.fields[field];
        match &self.element {
            Some(element) if element.len() == declared.data_dims.len() => {
                index.data = self.element_index(element, span);
                Some(self.read_at(field, offset, index, span))
            }
            _ => {
                let (name, sizes) = (declared.name.clone(), declared.data_dims.clone());
                let axes = declared.axes;
                self.report(catalog::data_index_missing(&name, axes, &sizes, span));
                None
            }
        }
    }

    /// `a @ b`: the element at hand of a product of matrices and vectors.
    pub(super) fn product(
        &mut self,
        whole: &'p tree::Expr,
        left: &'p tree::Expr,
        right: &'p tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Option<Expr> {
        let span = whole.span;
        self.shape(whole)?;
        let (rows, columns) = (self.shape(left)?, self.shape(right)?);
        let element = self.element.take().unwrap_or_default();
        let inner = i64::from(*rows.last()?);
        let n_rows = rows.len() - 1;
        let is_fitting = element.len() == n_rows + columns.len() - 1;
        let mut sum: Option<Expr> = None;
        for k in 0..inner {
            let mut at = |place: Vec<i64>, of: &'p tree::Expr| {
                self.element = Some(place);
                self.expr(of, out)
            };
            let row = element.iter().take(n_rows).copied().chain([k]).collect();
            let column = std::iter::once(k).chain(element.iter().skip(n_rows).copied()).collect();
            let (left, right) = (at(row, left), at(column, right));
            let (Some(left), Some(right)) = (left, right) else { break };
            let joined = |op, one, other| {
                let kind = IrKind::Binary(op, Box::new(one), Box::new(other));
                Expr { kind, dtype: (), span }
            };
            let product = joined(BinaryOp::Mul, left, right);
            sum = Some(match sum {
                None => product,
                Some(sum) => joined(BinaryOp::Add, sum, product),
            });
        }
        self.element = Some(element);
        if !is_fitting {
            self.report(catalog::vectors_differ("a product of matrices stands where one number is", span));
            return None;
        }
        sum
    }

    /// `m.T`: the element at hand of the transposed matrix.
    pub(super) fn transposed(&mut self, of: &'p tree::Expr, span: Span, out: &mut Vec<Stmt>) -> Option<Expr> {
        if self.shape(of)?.is_empty() {
            let name = of.as_name().unwrap_or("this").to_owned();
            self.report(catalog::no_data_dimensions(&name, &format!("{name}.T"), span));
            return None;
        }
        let element = self.element.take();
        self.element = element.clone().map(|it| it.into_iter().rev().collect());
        let built = self.expr(of, out);
        self.element = element;
        built
    }

    /// The sizes of the data dimensions of a value, empty for a number. Reports operands whose sizes do not
    /// fit each other.
    pub(super) fn shape(&mut self, expr: &tree::Expr) -> Option<Vec<u32>> {
        let all = |this: &mut Self, parts: &mut dyn Iterator<Item = &tree::Expr>| {
            let mut shape: Vec<u32> = Vec::new();
            for part in parts {
                let found = this.shape(part)?;
                if !shape.is_empty() && !found.is_empty() && shape != found {
                    let why = format!("operands with the sizes {shape:?} and {found:?} are joined");
                    this.report(catalog::vectors_differ(&why, expr.span));
                    return None;
                }
                shape = if shape.is_empty() { found } else { shape };
            }
            Some(shape)
        };
        match &expr.kind {
            ExprKind::Name(_) => Some(self.sizes_of(expr)),
            ExprKind::Subscript(value, _) => Some(self.sizes_of(value)),
            ExprKind::Attribute(value, name) if name.name == "T" => {
                Some(self.shape(value)?.into_iter().rev().collect())
            }
            ExprKind::Unary(_, operand) => self.shape(operand),
            ExprKind::Binary(Operator::MatMul, left, right) => {
                let (rows, columns) = (self.shape(left)?, self.shape(right)?);
                let is_fitting = matches!((rows.len(), columns.len()), (1 | 2, 1 | 2));
                if !is_fitting || rows.last() != columns.first() {
                    let why = format!("`@` joins operands with the sizes {rows:?} and {columns:?}");
                    self.report(catalog::vectors_differ(&why, expr.span));
                    return None;
                }
                let kept = rows.iter().take(rows.len().saturating_sub(1)).chain(columns.iter().skip(1));
                Some(kept.copied().collect())
            }
            ExprKind::Binary(_, left, right) => all(self, &mut [&**left, &**right].into_iter()),
            ExprKind::Logical(_, parts) => all(self, &mut parts.iter()),
            ExprKind::Compare(left, rest) => {
                all(self, &mut std::iter::once(&**left).chain(rest.iter().map(|(_, it)| it)))
            }
            ExprKind::Ternary { test, then, otherwise } => {
                all(self, &mut [&**test, &**then, &**otherwise].into_iter())
            }
            ExprKind::Call { function, args, .. } if self.called_function(function).is_none() => {
                all(self, &mut args.iter())
            }
            _ => Some(Vec::new()),
        }
    }

    /// The data dimensions of the field that an expression names.
    fn sizes_of(&self, expr: &tree::Expr) -> Vec<u32> {
        match expr.as_name().and_then(|it| self.local(it)) {
            Some(&Local::Field(field)) => self.stencil.fields[field].data_dims.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether the value takes elements of `field` from other places than they go to.
    fn shuffles(&self, expr: &tree::Expr, field: Handle<crate::defir::nodes::Field>) -> bool {
        let reads = |it: &tree::Expr| self.reads_whole(it, field);
        let inside = |it: &tree::Expr| self.shuffles(it, field);
        match &expr.kind {
            ExprKind::Binary(Operator::MatMul, left, right) => reads(left) || reads(right),
            ExprKind::Attribute(value, name) if name.name == "T" => reads(value),
            ExprKind::Subscript(value, _) => matches!(value.kind, ExprKind::Subscript(..)) && reads(value),
            ExprKind::Unary(_, operand) => inside(operand),
            ExprKind::Binary(_, left, right) => inside(left) || inside(right),
            ExprKind::Logical(_, parts) => parts.iter().any(inside),
            ExprKind::Compare(left, rest) => inside(left) || rest.iter().any(|(_, it)| inside(it)),
            ExprKind::Ternary { test, then, otherwise } => {
                [test, then, otherwise].into_iter().any(|it| inside(it))
            }
            ExprKind::Call { args, .. } => args.iter().any(inside),
            _ => false,
        }
    }

    fn reads_whole(&self, expr: &tree::Expr, field: Handle<crate::defir::nodes::Field>) -> bool {
        let reads = |it: &tree::Expr| self.reads_whole(it, field);
        match &expr.kind {
            ExprKind::Name(name) => matches!(self.local(name), Some(&Local::Field(it)) if it == field),
            ExprKind::Subscript(value, _) | ExprKind::Attribute(value, _) | ExprKind::Unary(_, value) => {
                reads(value)
            }
            ExprKind::Binary(_, left, right) => reads(left) || reads(right),
            ExprKind::Call { args, .. } => args.iter().any(reads),
            _ => false,
        }
    }
}

/// Every element of data dimensions of these sizes, the last index fastest.
pub(super) fn every_element(sizes: &[u32]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let ranges: Vec<_> = sizes.iter().map(|&size| 0..i64::from(size)).collect();
    ranges.into_iter().multi_cartesian_product()
}
