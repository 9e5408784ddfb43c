//! The one place that knows the shape of the Definition IR.

use super::nodes::{Expr, Stencil, Stmt, StmtKind};

impl Stmt {
    /// The expressions of the statement itself, not of those inside it.
    #[must_use]
    pub fn exprs(&self) -> Vec<&Expr> {
        match &self.kind {
            StmtKind::Assign { value, .. } => vec![value],
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => vec![condition],
            StmtKind::Region { .. } => Vec::new(),
        }
    }

    /// The statements directly inside, in order of execution; the branches one after the other.
    pub fn children(&self) -> impl Iterator<Item = &Stmt> {
        let (first, second): (&[Stmt], &[Stmt]) = match &self.kind {
            StmtKind::Assign { .. } => (&[], &[]),
            StmtKind::If { then, otherwise, .. } => (then, otherwise),
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => (body, &[]),
        };
        first.iter().chain(second)
    }

    /// Calls `each` for the statement and every one inside, outermost first.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Stmt)) {
        each(self);
        for child in self.children() {
            child.walk(each);
        }
    }
}

impl Stencil {
    /// Calls `each` for every statement, in order of execution.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Stmt)) {
        for stmt in self.computations.iter().flat_map(|it| &it.body) {
            stmt.walk(each);
        }
    }
}
