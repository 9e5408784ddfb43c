//! The one place that knows the shape of an NPIR statement.

use super::nodes::{Access, Expr, Index, Local, Stmt, StmtKind};
use crate::entity::Handle;
use crate::expr::ExprKind;

impl Stmt {
    /// The expressions of this statement alone: what finds the element to write, and the value or condition.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (index, expr) = match &self.kind {
            StmtKind::Assign { index, value, .. } => (Some(index), Some(value)),
            StmtKind::Mask { condition, .. } | StmtKind::While { condition, .. } => (None, Some(condition)),
            StmtKind::Rest { .. } | StmtKind::Region { .. } => (None, None),
        };
        index.into_iter().flat_map(Index::exprs).chain(expr)
    }

    /// The statements directly inside this one, in order.
    #[must_use]
    pub fn children(&self) -> &[Stmt] {
        match &self.kind {
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => body,
            StmtKind::Assign { .. } | StmtKind::Mask { .. } | StmtKind::Rest { .. } => &[],
        }
    }

    /// Calls `each` for this statement and every one inside it, outermost first.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Stmt)) {
        each(self);
        self.children().iter().for_each(|it| it.walk(each));
    }

    /// The mask that this statement makes.
    #[must_use]
    pub fn made_mask(&self) -> Option<Handle<Local>> {
        match self.kind {
            StmtKind::Mask { mask, .. }
            | StmtKind::Rest { mask, .. }
            | StmtKind::While { active: mask, .. } => Some(mask),
            StmtKind::Assign { .. } | StmtKind::Region { .. } => None,
        }
    }

    /// The mask that limits this statement: at points outside it, the statement does nothing.
    #[must_use]
    pub fn limiting_mask(&self) -> Option<Handle<Local>> {
        match self.kind {
            StmtKind::Mask { within: mask, .. }
            | StmtKind::Rest { within: mask, .. }
            | StmtKind::While { within: mask, .. }
            | StmtKind::Assign { mask, .. } => mask,
            StmtKind::Region { .. } => None,
        }
    }

    /// Calls `each` for every read of this statement alone, that of an element with its index.
    pub fn reads<'a>(&'a self, each: &mut impl FnMut(&'a Access, Option<&'a Index>)) {
        for expr in self.exprs() {
            expr.walk(&mut |it| match &it.kind {
                ExprKind::Access(access) => each(access, None),
                ExprKind::Element(access, index) => each(access, Some(index)),
                _ => {}
            });
        }
    }
}
