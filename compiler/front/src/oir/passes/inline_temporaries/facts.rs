//! The facts about a stencil that are needed before a temporary is computed elsewhere, found in one walk.

use std::collections::BTreeMap;

use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::oir::nodes::{Access, Expr, Field, HorizontalExecution, Local, Stencil, Stmt, StmtKind, Target};
use crate::oir::visit::PlacedExecution;
use crate::space::{Bound, Interval, Level, LoopOrder, Offset, min_levels};

/// Statements are told by their position in the program.
#[derive(Debug, Default)]
pub(in crate::oir::passes) struct Facts {
    /// The first assignments, in program order.
    pub(in crate::oir::passes) definitions: Vec<Definition>,
    of_locals: BTreeMap<Handle<Local>, usize>,
    n_writes_of_locals: BTreeMap<Handle<Local>, usize>,
    /// Where fields are read.
    pub(in crate::oir::passes) reads: BTreeMap<Handle<Field>, Vec<FieldRead>>,
    /// Where fields are written, in order.
    pub(in crate::oir::passes) writes: BTreeMap<Handle<Field>, Vec<usize>>,
    /// How many parts all expressions are made of.
    pub(in crate::oir::passes) size: usize,
    /// No run has fewer levels.
    min_levels: i64,
    n_stmts: usize,
}

/// An assignment.
#[derive(Clone, Debug)]
pub(in crate::oir::passes) struct Definition {
    pub(in crate::oir::passes) target: Target,
    pub(in crate::oir::passes) value: Expr,
    pub(in crate::oir::passes) at: usize,
    /// The last statement after which nothing that it reads may be written. Where it reads other levels these are
    /// as they were before its execution.
    pub(in crate::oir::passes) since: usize,
    pub(in crate::oir::passes) order: LoopOrder,
    pub(in crate::oir::passes) interval: Interval,
    /// Whether every point assigns all there is.
    pub(in crate::oir::passes) is_whole: bool,
    /// The last statement before its vertical loop, and the last of the loop.
    pub(in crate::oir::passes) around: (usize, usize),
    pub(in crate::oir::passes) origin: Origin,
}

/// A read of a field.
#[derive(Clone, Debug)]
pub(in crate::oir::passes) struct FieldRead {
    pub(in crate::oir::passes) execution: Handle<HorizontalExecution>,
    pub(in crate::oir::passes) at: usize,
    /// The last statement that may run at some point before this read does at another.
    pub(in crate::oir::passes) until: usize,
    /// Where from the point; unknown where an element is found at run time.
    pub(in crate::oir::passes) offset: Option<Offset>,
    pub(in crate::oir::passes) interval: Interval,
    pub(in crate::oir::passes) is_in_region: bool,
    pub(in crate::oir::passes) is_in_loop: bool,
    /// Whether it tells which element of something else is meant.
    pub(in crate::oir::passes) finds: bool,
    pub(in crate::oir::passes) origin: Origin,
}

/// The context of a statement.
#[derive(Clone, Copy)]
struct StmtContext {
    placed: PlacedExecution,
    /// The last statement before the execution.
    before: usize,
    is_inside: bool,
    is_in_region: bool,
    is_in_loop: bool,
}

impl Facts {
    pub(in crate::oir::passes) fn of(stencil: &Stencil) -> Self {
        let min_levels = min_levels(stencil.placed().map(|it| it.interval)).max(1);
        let mut facts = Self { min_levels, ..Self::default() };
        for vertical_loop in &stencil.vertical_loops {
            let order = vertical_loop.order;
            let (before, n_definitions) = (facts.n_stmts, facts.definitions.len());
            let mut of_loop: Vec<(Handle<Field>, usize)> = Vec::new();
            for section in &vertical_loop.sections {
                for &execution in &section.executions {
                    let before = facts.n_stmts;
                    let placed = PlacedExecution { execution, order, interval: section.interval };
                    let around = StmtContext {
                        placed,
                        before,
                        is_inside: false,
                        is_in_region: false,
                        is_in_loop: false,
                    };
                    let mut of_execution = Vec::new();
                    for stmt in &stencil.executions[execution].body {
                        facts.stmt(stmt, around, &mut of_execution);
                    }
                    facts.settle(&of_execution);
                    of_loop.extend(of_execution);
                }
            }
            // Other levels of a sweep come by all of its statements.
            if order != LoopOrder::Parallel {
                facts.settle(&of_loop);
            }
            let around = (before, facts.n_stmts);
            facts.definitions[n_definitions..].iter_mut().for_each(|it| it.around = around);
        }
        facts
    }

    /// Reads of an execution or of a sweep, now that it is known how far that goes.
    fn settle(&mut self, reads: &[(Handle<Field>, usize)]) {
        let until = self.n_stmts;
        for (field, at) in reads {
            if let Some(read) = self.reads.get_mut(field).and_then(|it| it.get_mut(*at)) {
                read.until = until;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, around: StmtContext, read: &mut Vec<(Handle<Field>, usize)>) {
        self.n_stmts += 1;
        let at = self.n_stmts;
        let is_loop = matches!(stmt.kind, StmtKind::While { .. });
        let is_in_loop = around.is_in_loop || is_loop;
        let last = stmt.exprs().count().saturating_sub(1);
        for (number, expr) in stmt.exprs().enumerate() {
            // The last is the value or the condition; the others find the element to write.
            self.reads_of(expr, number < last, &mut |field, offset, finds, reads| {
                let PlacedExecution { execution, interval, .. } = around.placed;
                let (is_in_region, origin) = (around.is_in_region, stmt.origin.clone());
                read.push((field, reads.len()));
                reads.push(FieldRead {
                    execution,
                    at,
                    until: at,
                    offset,
                    interval,
                    is_in_region,
                    is_in_loop,
                    finds,
                    origin,
                });
            });
        }
        if let StmtKind::Assign { target, index, value, .. } = &stmt.kind {
            let is_first = match *target {
                Target::Field(field) => {
                    let writes = self.writes.entry(field).or_default();
                    writes.push(at);
                    writes.len() == 1
                }
                Target::Local(local) => {
                    let n_writes = self.n_writes_of_locals.entry(local).or_default();
                    *n_writes += 1;
                    *n_writes == 1
                }
            };
            if is_first {
                if let Target::Local(local) = *target {
                    self.of_locals.insert(local, self.definitions.len());
                }
                let mut reads_levels = false;
                value.walk(&mut |it| {
                    reads_levels |= match &it.kind {
                        ExprKind::Access(access) => access.offset().k != 0,
                        ExprKind::Element(_, index) => index.level_offset() != Some(0),
                        _ => false,
                    };
                });
                self.definitions.push(Definition {
                    target: *target,
                    value: value.clone(),
                    at,
                    since: if reads_levels { around.before } else { at },
                    order: around.placed.order,
                    interval: around.placed.interval,
                    around: (0, 0),
                    is_whole: !around.is_inside && index.is_here(),
                    origin: stmt.origin.clone(),
                });
            }
        }
        let is_in_region = around.is_in_region || matches!(stmt.kind, StmtKind::Region { .. });
        let inside = StmtContext { is_inside: true, is_in_region, is_in_loop, ..around };
        stmt.children().for_each(|it| self.stmt(it, inside, read));
    }

    /// Calls `each` for every field that the expression reads, with what is known of its reads so far.
    fn reads_of(
        &mut self,
        expr: &Expr,
        finds: bool,
        each: &mut impl FnMut(Handle<Field>, Option<Offset>, bool, &mut Vec<FieldRead>),
    ) {
        self.size += 1;
        let found = match expr.kind {
            ExprKind::Access(Access::Field { field, offset }) => Some((field, Some(offset))),
            ExprKind::Element(Access::Field { field, .. }, _) => Some((field, None)),
            _ => None,
        };
        if let Some((field, offset)) = found {
            each(field, offset, finds, self.reads.entry(field).or_default());
        }
        let finds = finds || matches!(expr.kind, ExprKind::Element(..));
        expr.operands().for_each(|it| self.reads_of(it, finds, each));
    }

    /// The one assignment of a local that every point runs.
    pub(in crate::oir::passes) fn of_local(&self, local: Handle<Local>) -> Option<&Definition> {
        let definition = self.of_locals.get(&local).map(|&it| &self.definitions[it])?;
        (self.n_writes_of_locals.get(&local) == Some(&1) && definition.is_whole).then_some(definition)
    }

    /// Whether `field` may change after the statement `since` and before the last point has done `read`.
    pub(in crate::oir::passes) fn is_written(
        &self,
        field: Handle<Field>,
        since: usize,
        read: &FieldRead,
    ) -> bool {
        self.is_written_between(field, (since, read.until))
    }

    /// Whether a statement after the first of these, up to the second, writes `field`.
    pub(in crate::oir::passes) fn is_written_between(
        &self,
        field: Handle<Field>,
        (after, until): (usize, usize),
    ) -> bool {
        let Some(writes) = self.writes.get(&field) else { return false };
        let next = writes.partition_point(|&it| it <= after);
        writes.get(next).is_some_and(|&it| it <= until)
    }

    /// Whether all levels of `inner`, moved up by `k`, are levels of `outer`, in every run.
    pub(in crate::oir::passes) fn is_within(&self, inner: Interval, k: i32, outer: Interval) -> bool {
        let moved = |it: Bound| Bound { offset: it.offset.saturating_add(k), ..it };
        self.is_at_most(outer.start, moved(inner.start)) && self.is_at_most(moved(inner.end), outer.end)
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
