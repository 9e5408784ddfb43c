//! Which of its values a field or local has at a statement, as far as that is the same at all points.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::super::nodes::{Expr, Stmt, StmtKind, Target};

/// A walk through the statements of an execution, which is told of each change.
///
/// Equal versions of a target are equal values of it, also where it is read at an offset. After a branch, what the
/// branch may have changed has a version of its own, and so it has where a loop starts over.
#[derive(Debug, Default)]
pub struct Versions {
    of: FxHashMap<Target, u32>,
    last: u32,
}

impl Versions {
    /// The version that is read here; 0 before the first assignment.
    #[must_use]
    pub fn of(&self, what: Target) -> u32 {
        self.of.get(&what).copied().unwrap_or(0)
    }

    /// `what` is assigned, or part of it.
    pub fn change(&mut self, what: Target) {
        self.last += 1;
        self.of.insert(what, self.last);
    }

    /// Whatever the statements assign may have changed: they run now and then, or stand around what comes next.
    pub fn change_all(&mut self, body: &[Stmt]) {
        for what in assigned(body) {
            self.change(what);
        }
    }

    /// The fields and locals that an expression reads, with their versions.
    #[must_use]
    pub fn read_by(&self, expr: &Expr) -> Vec<(Target, u32)> {
        let mut found = Vec::new();
        expr.accesses(&mut |it| {
            if let Some(what) = it.target() {
                found.push((what, self.of(what)));
            }
        });
        found
    }

    /// Whether all of these are the values that are read here.
    #[must_use]
    pub fn are_current(&self, read: &[(Target, u32)]) -> bool {
        read.iter().all(|&(what, version)| self.of(what) == version)
    }
}

/// The fields and locals that the statements and those inside them assign.
#[must_use]
pub fn assigned(body: &[Stmt]) -> BTreeSet<Target> {
    let mut found = BTreeSet::new();
    for stmt in body {
        stmt.walk(&mut |it| {
            if let StmtKind::Assign { target, .. } = it.kind {
                found.insert(target);
            }
        });
    }
    found
}

/// Whether the expression reads any of these, wherever from the point.
#[must_use]
pub fn reads_any(expr: &Expr, of: &BTreeSet<Target>) -> bool {
    let mut does = false;
    expr.accesses(&mut |it| does |= it.target().is_some_and(|what| of.contains(&what)));
    does
}
