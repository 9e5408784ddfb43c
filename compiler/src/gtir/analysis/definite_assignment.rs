//! Which temporaries may be read at points where nothing assigned them (W01).
//!
//! A branch assigns if its other branch does too; a loop may not run at all, and
//! a region leaves most points out, so what they assign counts inside only.

use crate::diag::Diagnostics;
use crate::diag::catalog::warnings;
use crate::entity::Handle;
use crate::expr::ExprKind;

use super::super::nodes::{Access, Expr, Field, Stencil, Stmt, StmtKind};

/// Warns once for each temporary that may be read undefined.
pub fn check(stencil: &Stencil, diagnostics: &mut Diagnostics) {
    let assigned = stencil.fields.iter().map(|(_, it)| !it.is_temporary).collect();
    let mut walk = Walk { stencil, diagnostics, assigned };
    for vertical_loop in &stencil.vertical_loops {
        walk.body(&vertical_loop.body);
    }
}

struct Walk<'a> {
    stencil: &'a Stencil,
    diagnostics: &'a mut Diagnostics,
    /// Per field: whether each point that runs what comes next has a value.
    assigned: Vec<bool>,
}

impl Walk<'_> {
    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, .. } => {
                self.reads(value);
                self.assigned[target.index()] = true;
            }
            StmtKind::If { condition, then, otherwise } => {
                self.reads(condition);
                let before = self.assigned.clone();
                self.body(then);
                let after_then = std::mem::replace(&mut self.assigned, before);
                self.body(otherwise);
                for (assigned, in_then) in self.assigned.iter_mut().zip(after_then) {
                    *assigned &= in_then;
                }
            }
            StmtKind::While { condition, body } => {
                self.reads(condition);
                self.body_that_may_not_run(body);
            }
            StmtKind::Region { body, .. } => self.body_that_may_not_run(body),
        }
    }

    fn body_that_may_not_run(&mut self, body: &[Stmt]) {
        let before = self.assigned.clone();
        self.body(body);
        self.assigned = before;
    }

    fn reads(&mut self, expr: &Expr) {
        expr.walk(&mut |it| {
            if let ExprKind::Access(Access::Field { field, .. }) = it.kind
                && !self.assigned[field.index()]
            {
                let found = &self.stencil.fields[field];
                self.diagnostics.push(warnings::maybe_undefined(&found.name, it.span, found.span));
                self.silence(field);
            }
        });
    }

    /// One warning for each temporary is enough.
    fn silence(&mut self, field: Handle<Field>) {
        self.assigned[field.index()] = true;
    }
}
