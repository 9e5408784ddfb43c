//! The one place that knows the shape of a statement.

use super::{Stmt, StmtKind};
use crate::expr::{Expr, Index};

impl<T, A, D> Stmt<T, A, D> {
    /// The expressions of this statement alone: what finds the element to write, and the value or condition.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr<A, D>> {
        let (index, expr) = match &self.kind {
            StmtKind::Assign { index, value, .. } => (Some(index), Some(value)),
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => (None, Some(condition)),
            StmtKind::Region { .. } => (None, None),
        };
        index.into_iter().flat_map(Index::exprs).chain(expr)
    }

    /// The statements directly inside this one, in order; one branch after the other.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let (first, second): (&[Self], &[Self]) = match &self.kind {
            StmtKind::Assign { .. } => (&[], &[]),
            StmtKind::If { then, otherwise, .. } => (then, otherwise),
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => (body, &[]),
        };
        first.iter().chain(second)
    }

    /// The expressions of this statement alone, to be changed.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr<A, D>> {
        let (index, expr) = match &mut self.kind {
            StmtKind::Assign { index, value, .. } => (Some(index), Some(value)),
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => (None, Some(condition)),
            StmtKind::Region { .. } => (None, None),
        };
        index.into_iter().flat_map(Index::exprs_mut).chain(expr)
    }

    /// The bodies directly inside it, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &Vec<Self>> {
        let (first, second) = match &self.kind {
            StmtKind::Assign { .. } => (None, None),
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => (Some(body), None),
        };
        first.into_iter().chain(second)
    }

    /// The same, to be changed.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Vec<Self>> {
        let (first, second) = match &mut self.kind {
            StmtKind::Assign { .. } => (None, None),
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => (Some(body), None),
        };
        first.into_iter().chain(second)
    }

    /// Calls `each` for this statement and every one inside it, outermost first.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Self)) {
        each(self);
        for child in self.children() {
            child.walk(each);
        }
    }

    /// The same statement with every target and every leaf replaced, as when a level is lowered.
    pub fn map<U, B>(&self, target: &mut impl FnMut(&T) -> U, leaf: &mut impl FnMut(&A) -> B) -> Stmt<U, B, D>
    where
        D: Clone,
    {
        let kind = match &self.kind {
            StmtKind::Assign { target: it, index, target_span, value } => StmtKind::Assign {
                target: target(it),
                index: index.map_accesses(leaf),
                target_span: *target_span,
                value: value.map_accesses(leaf),
            },
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: condition.map_accesses(leaf),
                then: then.iter().map(|it| it.map(target, leaf)).collect(),
                otherwise: otherwise.iter().map(|it| it.map(target, leaf)).collect(),
            },
            StmtKind::While { condition, body } => StmtKind::While {
                condition: condition.map_accesses(leaf),
                body: body.iter().map(|it| it.map(target, leaf)).collect(),
            },
            StmtKind::Region { region, body } => StmtKind::Region {
                region: *region,
                body: body.iter().map(|it| it.map(target, leaf)).collect(),
            },
        };
        Stmt { kind, origin: self.origin.clone() }
    }
}
