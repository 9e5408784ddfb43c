//! Whether a value is always written before it is read, at each point and level.

use super::super::nodes::{Expr, Stmt, StmtKind, Target};
use crate::expr::ExprKind;

/// Whether these statements can read `what` at a point where they did not assign it before.
#[must_use]
pub fn reads_unassigned(body: &[Stmt], what: Target) -> bool {
    let mut walk = Walk { what, is_assigned: false, reads_unassigned: false };
    walk.body(body);
    walk.reads_unassigned
}

struct Walk {
    what: Target,
    is_assigned: bool,
    reads_unassigned: bool,
}

impl Walk {
    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value } => {
                self.reads(value);
                self.is_assigned |= *target == self.what;
            }
            StmtKind::If { condition, then, otherwise } => {
                self.reads(condition);
                let before = self.is_assigned;
                self.body(then);
                let after_then = std::mem::replace(&mut self.is_assigned, before);
                self.body(otherwise);
                self.is_assigned &= after_then;
            }
            StmtKind::While { condition, body } => {
                self.reads(condition);
                self.body_that_may_not_run(body);
            }
            StmtKind::Region { body, .. } => self.body_that_may_not_run(body),
        }
    }

    fn body_that_may_not_run(&mut self, body: &[Stmt]) {
        let before = self.is_assigned;
        self.body(body);
        self.is_assigned = before;
    }

    fn reads(&mut self, expr: &Expr) {
        expr.walk(&mut |it| {
            if let ExprKind::Access(access) = it.kind {
                self.reads_unassigned |= !self.is_assigned && access.target() == Some(self.what);
            }
        });
    }
}
