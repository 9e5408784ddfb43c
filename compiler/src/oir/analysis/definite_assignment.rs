//! Whether a value is always written before it is read, at each point and level.
//!
//! A branch writes if the other branch does too; a loop may not run at all, and a
//! region leaves most points out, so what they write counts inside only.

use std::collections::BTreeSet;

use super::super::nodes::{
    Access, Expr, Field, HorizontalExecution, Section, Stencil, Stmt, StmtKind, Target,
};
use super::extents::{Extents, true_contribution};
use crate::diag::catalog::warnings;
use crate::diag::{Diagnostics, Origin, Span};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Axis, Bound, Extent, Interval, Level, LoopOrder, Offset, Region, min_levels};

/// Whether these statements can read `what` at a point where they did not assign it before.
#[must_use]
pub fn reads_unassigned(body: &[Stmt], what: Target) -> bool {
    Walk::over(body).reads.iter().any(|it| it.what == what)
}

/// Warns once for each temporary that may be read where no statement wrote it (W01).
pub fn warn(stencil: &Stencil, extents: &Extents, diagnostics: &mut Diagnostics) {
    for it in reads_undefined(stencil, extents) {
        let field = &stencil.fields[it.field];
        diagnostics.push(warnings::maybe_undefined(&field.name, it.span, field.span));
    }
}

/// A temporary that may be read where no statement wrote it.
#[derive(Clone, Debug)]
pub struct Undefined<'a> {
    pub field: Handle<Field>,
    /// The first read that may.
    pub span: Span,
    /// Its statement.
    pub origin: &'a Origin,
    /// Columns that are written before each such read, where it is only others that are not.
    pub written: Option<Extent>,
}

/// The temporaries that may be read where no statement wrote them; all others need no value to start with.
#[must_use]
pub fn reads_undefined<'a>(stencil: &'a Stencil, extents: &'a Extents) -> Vec<Undefined<'a>> {
    let min_levels = min_levels(stencil.placed().map(|it| it.interval)).max(1);
    let mut at = Progress { stencil, extents, min_levels, written: Vec::new(), found: Vec::new() };
    for vertical_loop in &stencil.vertical_loops {
        vertical_loop.sections.iter().for_each(|it| at.section(vertical_loop.order, it));
    }
    at.found
}

/// The analysis of a whole stencil, in program order.
struct Progress<'a> {
    stencil: &'a Stencil,
    extents: &'a Extents,
    /// No run has fewer.
    min_levels: i64,
    written: Vec<Written>,
    found: Vec<Undefined<'a>>,
}

/// How much of what a read touches was written before it.
enum Cover {
    Whole,
    /// All levels of these columns.
    Columns(Extent),
    Nothing,
}

/// Points and levels at all of which a field is written.
#[derive(Clone, Copy)]
struct Written {
    field: Handle<Field>,
    extent: Extent,
    levels: Interval,
}

impl<'a> Progress<'a> {
    fn section(&mut self, order: LoopOrder, section: &Section) {
        let n_before = self.written.len();
        let mut reads = Vec::new();
        for &execution in &section.executions {
            let walk = Walk::over(&self.stencil.executions[execution].body);
            let n_so_far = self.written.len();
            reads.extend(walk.reads.into_iter().map(|read| (execution, n_so_far, read)));
            let (extent, levels) = (self.extents.executions[execution], section.interval);
            let fields = walk.assigned.into_iter().filter_map(Target::field);
            self.written.extend(fields.map(|field| Written { field, extent, levels }));
        }
        for (execution, n_so_far, read) in reads {
            let Some(field) = read.what.field() else { continue };
            if !self.stencil.fields[field].is_temporary {
                continue;
            }
            // A sweep has been to the levels behind it in all of its executions, and to those ahead in none.
            let n_visible = match (order, read.offset.k.signum()) {
                (LoopOrder::Parallel, _) | (_, 0) => n_so_far,
                (LoopOrder::Forward, -1) | (LoopOrder::Backward, 1) => self.written.len(),
                _ => n_before,
            };
            let cover = self.cover(&self.written[..n_visible], section, execution, field, &read);
            self.note(field, &read, cover);
        }
    }

    fn note(&mut self, field: Handle<Field>, read: &Read<'a>, cover: Cover) {
        let written = match cover {
            Cover::Columns(extent) => Some(extent),
            Cover::Nothing => None,
            Cover::Whole => return,
        };
        match self.found.iter_mut().find(|it| it.field == field) {
            Some(it) => it.written = it.written.zip(written).map(|(one, other)| one.intersection(other)),
            None => self.found.push(Undefined { field, span: read.span, origin: read.origin, written }),
        }
    }

    /// How much of what `read` can touch is among `written`.
    fn cover(
        &self,
        written: &[Written],
        section: &Section,
        execution: Handle<HorizontalExecution>,
        field: Handle<Field>,
        read: &Read<'_>,
    ) -> Cover {
        let block = self.extents.executions[execution];
        let Some(needed) = true_contribution(block, read.offset, read.region) else { return Cover::Whole };
        let moved = |bound: Bound| Bound { offset: bound.offset.saturating_add(read.offset.k), ..bound };
        let levels = Interval::new(moved(section.interval.start), moved(section.interval.end));
        let has_levels = self.stencil.fields[field].axes.has(Axis::K);
        let hold_levels = |writes: &[&Written]| {
            if has_levels { self.hold(writes, levels) } else { !writes.is_empty() }
        };
        let writes: Vec<&Written> = written.iter().filter(|it| it.field == field).collect();
        let wide: Vec<&Written> = writes.iter().copied().filter(|it| it.extent.holds(needed)).collect();
        match writes.iter().map(|it| it.extent).reduce(Extent::intersection) {
            _ if hold_levels(&wide) => Cover::Whole,
            Some(columns) if hold_levels(&writes) => Cover::Columns(columns),
            _ => Cover::Nothing,
        }
    }

    /// Whether the writes together hold all of these levels that exist.
    fn hold(&self, writes: &[&Written], levels: Interval) -> bool {
        // Up to here they do.
        let mut at = levels.start.max(Bound::start(0));
        while !self.is_at_most(levels.end, at) && at < Bound::end(0) {
            let from_here = writes.iter().filter(|it| self.is_at_most(it.levels.start, at));
            match from_here.map(|it| it.levels.end).max() {
                Some(end) if end > at => at = end,
                _ => return false,
            }
        }
        true
    }

    /// Whether `one` lies at or below `other` in every run.
    fn is_at_most(&self, one: Bound, other: Bound) -> bool {
        let distance = i64::from(one.offset) - i64::from(other.offset);
        match (one.level, other.level) {
            (Level::Start, Level::Start) | (Level::End, Level::End) => distance <= 0,
            (Level::Start, Level::End) => distance <= self.min_levels,
            (Level::End, Level::Start) => false,
        }
    }
}

/// A read of something that the execution at hand did not write before, or of another point or level.
struct Read<'a> {
    what: Target,
    span: Span,
    offset: Offset,
    region: Option<Region>,
    origin: &'a Origin,
}

/// The statements of one execution, in order.
#[derive(Default)]
struct Walk<'a> {
    /// What each point has a value of that runs what comes next.
    assigned: BTreeSet<Target>,
    reads: Vec<Read<'a>>,
}

impl<'a> Walk<'a> {
    fn over(body: &'a [Stmt]) -> Self {
        let mut walk = Self::default();
        walk.body(body, None);
        walk
    }

    fn body(&mut self, body: &'a [Stmt], region: Option<Region>) {
        body.iter().for_each(|it| self.stmt(it, region));
    }

    fn stmt(&mut self, stmt: &'a Stmt, region: Option<Region>) {
        if let Some(expr) = stmt.expr() {
            self.reads(expr, region, &stmt.origin);
        }
        match &stmt.kind {
            StmtKind::Assign { target, .. } => drop(self.assigned.insert(*target)),
            StmtKind::If { then, otherwise, .. } => {
                let before = self.assigned.clone();
                self.body(then, region);
                let after_then = std::mem::replace(&mut self.assigned, before);
                self.body(otherwise, region);
                self.assigned.retain(|it| after_then.contains(it));
            }
            StmtKind::While { body, .. } => self.body_that_may_not_run(body, region),
            StmtKind::Region { region, body } => self.body_that_may_not_run(body, Some(*region)),
        }
    }

    fn body_that_may_not_run(&mut self, body: &'a [Stmt], region: Option<Region>) {
        let before = self.assigned.clone();
        self.body(body, region);
        self.assigned = before;
    }

    fn reads(&mut self, expr: &Expr, region: Option<Region>, origin: &'a Origin) {
        expr.walk(&mut |it| {
            let ExprKind::Access(access) = it.kind else { return };
            let offset = match access {
                Access::Field { offset, .. } => offset,
                Access::Scalar(_) | Access::Local(_) => Offset::CENTRE,
            };
            let Some(what) = access.target() else { return };
            if offset != Offset::CENTRE || !self.assigned.contains(&what) {
                self.reads.push(Read { what, span: it.span, offset, region, origin });
            }
        });
    }
}
