//! Reads of a temporary beyond its levels that a condition guards: the level is found at run time.
//!
//! `if K < last: o = t[0, 0, 1]` has a value wherever it runs, but nothing shows that before the run. So the
//! read checks its level at run time, like a read at a computed level. A guard that does not hold ends the
//! run.

use std::collections::BTreeSet;

use crate::defir::nodes as def;
use crate::entity::Handle;
use crate::expr::{ExprKind, Vertical};
use crate::space::{Axis, Interval, Level, LoopOrder};

use super::super::nodes::{Access, Expr, Field, Stmt, StmtKind};
use super::super::visit::Touches;
use super::bounds::find_levels_at_run_time;
use super::same;

/// The most ternaries of one assignment that become branches: each doubles what follows it.
const MAX_TERNARIES: usize = 6;

/// The statements of a computation in runs: each is a vertical loop of its own.
///
/// A parallel statement finishes on all levels before the next one starts. So a run ends where a guarded read meets
/// a write of its field, and the levels that it asks for are there.
pub(super) fn guard_reads(
    source: &def::Stencil,
    (order, interval): (LoopOrder, Interval),
    body: Vec<Stmt>,
) -> Vec<Vec<Stmt>> {
    let beyond = MissingLevels::new(source, interval);
    let mut runs = vec![Vec::new()];
    let (mut written, mut read) = (BTreeSet::new(), BTreeSet::new());
    for mut stmt in body {
        let reads = beyond.guard(&mut stmt);
        if order == LoopOrder::Parallel {
            let touches = stmt.touches();
            let writes: BTreeSet<_> = touches.iter().filter(|it| it.is_write).map(|it| it.field).collect();
            if !reads.is_disjoint(&written) || !writes.is_disjoint(&read) {
                runs.push(Vec::new());
                written.clear();
                read.clear();
            }
            written.extend(writes);
            read.extend(reads);
        }
        runs.last_mut().expect("there is a run from the start").push(stmt);
    }
    runs
}

/// Which levels the temporaries of a computation do not have.
struct MissingLevels<'a> {
    source: &'a def::Stencil,
    /// The offsets of its first and of the level behind its last one, where they are counted from the ends.
    low: Option<i32>,
    high: Option<i32>,
}

impl<'a> MissingLevels<'a> {
    fn new(source: &'a def::Stencil, interval: Interval) -> Self {
        let low = (interval.start.level == Level::Start).then_some(interval.start.offset);
        let high = (interval.end.level == Level::End).then_some(interval.end.offset);
        Self { source, low, high }
    }

    /// Whether the field has no level so many above, at one end of the interval.
    fn leaves(&self, field: Handle<Field>, k: i32) -> bool {
        let declared = &self.source.fields[same(field)];
        let is_beyond = self.low.is_some_and(|it| it.saturating_add(k) < 0)
            || self.high.is_some_and(|it| it.saturating_add(k) > 0);
        is_beyond && declared.is_temporary && declared.axes.has(Axis::K)
    }

    /// Finds at run time the levels that stand in branches and loops of a statement; the fields that they are of.
    fn guard(&self, stmt: &mut Stmt) -> BTreeSet<Handle<Field>> {
        let mut fields = BTreeSet::new();
        self.split_ternaries(stmt, MAX_TERNARIES);
        match &mut stmt.kind {
            StmtKind::Assign { .. } => {}
            StmtKind::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|it| self.find_all(it, &mut fields));
            }
            StmtKind::While { body, .. } => body.iter_mut().for_each(|it| self.find_all(it, &mut fields)),
            StmtKind::Region { body, .. } => body.iter_mut().for_each(|it| fields.extend(self.guard(it))),
        }
        fields
    }

    fn find_all(&self, stmt: &mut Stmt, fields: &mut BTreeSet<Handle<Field>>) {
        let mut may_leave = |field, k| {
            let leaves = self.leaves(field, k);
            if leaves {
                fields.insert(field);
            }
            leaves
        };
        find_levels_at_run_time(stmt, &mut may_leave);
    }

    /// Both arms of a ternary are evaluated. So an assignment that reads such a level in an arm becomes a
    /// branch with an assignment for each arm.
    fn split_ternaries(&self, stmt: &mut Stmt, n_left: usize) {
        match &mut stmt.kind {
            StmtKind::Assign { value, .. } => {
                let Some(condition) = (n_left > 0).then(|| self.ternary(value)).flatten() else { return };
                let arm = |is_then: bool| {
                    let mut arm = stmt.clone();
                    if let StmtKind::Assign { value, .. } = &mut arm.kind {
                        self.choose(value, is_then);
                    }
                    self.split_ternaries(&mut arm, n_left - 1);
                    vec![arm]
                };
                stmt.kind = StmtKind::If { condition, then: arm(true), otherwise: arm(false) };
            }
            StmtKind::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|it| self.split_ternaries(it, n_left));
            }
            StmtKind::While { body, .. } | StmtKind::Region { body, .. } => {
                body.iter_mut().for_each(|it| self.split_ternaries(it, n_left));
            }
        }
    }

    /// The condition of the first ternary with such a read in an arm.
    fn ternary(&self, expr: &mut Expr) -> Option<Expr> {
        if let ExprKind::Ternary { condition, then, otherwise } = &expr.kind
            && (self.reads(then) || self.reads(otherwise))
        {
            return Some((**condition).clone());
        }
        expr.operands_mut().into_iter().find_map(|it| self.ternary(it))
    }

    /// Puts an arm in the place of that ternary; whether it was found.
    fn choose(&self, expr: &mut Expr, is_then: bool) -> bool {
        if let ExprKind::Ternary { then, otherwise, .. } = &expr.kind
            && (self.reads(then) || self.reads(otherwise))
        {
            *expr = if is_then { (**then).clone() } else { (**otherwise).clone() };
            return true;
        }
        expr.operands_mut().into_iter().any(|it| self.choose(it, is_then))
    }

    fn reads(&self, expr: &Expr) -> bool {
        let mut is_found = false;
        expr.walk(&mut |it| {
            is_found |= match &it.kind {
                ExprKind::Access(Access::Field { field, offset }) => self.leaves(*field, offset.k),
                ExprKind::Element(Access::Field { field, .. }, index) => {
                    matches!(index.vertical, Vertical::Offset(by) if self.leaves(*field, by))
                }
                _ => false,
            };
        });
        is_found
    }
}
