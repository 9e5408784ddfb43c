//! Whether a value is always written before it is read, at each point and level.
//!
//! A branch writes an element if both of its arms do. A loop may not run at all, and a region leaves most
//! points out. Writes of a loop count only inside, and those of a region only in the same region.

use std::rc::Rc;

use itertools::Itertools;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::nodes::{Expr, Field, HorizontalExecution, Section, Stencil, Stmt, StmtKind, Target};
use super::extents::{Extents, true_contribution};
use super::versions::assigned;
use crate::diag::catalog::warnings;
use crate::diag::{Diagnostics, Origin, Span};
use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::space::{Axis, Bound, Extent, Interval, Level, LoopOrder, Offset, Region, min_levels};

/// The fields and locals that these statements can read at a point before they assign them there.
#[must_use]
pub fn read_unassigned(body: &[Stmt]) -> FxHashSet<Target> {
    ExecutionWalk::over(body).reads.iter().map(|it| it.what).collect()
}

/// Warns once for each temporary that may be read where no statement wrote it (W01).
pub fn warn(stencil: &Stencil, extents: &Extents, diagnostics: &mut Diagnostics) {
    for it in reads_undefined(stencil, extents) {
        let field = &stencil.fields[it.field];
        let Field { name, axes, dtype, span, .. } = field;
        diagnostics.push(warnings::maybe_undefined(name, *axes, *dtype, it.span, *span));
    }
}

/// A temporary that may be read where no statement wrote it.
#[derive(Clone, Debug)]
pub struct UndefinedRead<'a> {
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
pub fn reads_undefined<'a>(stencil: &'a Stencil, extents: &'a Extents) -> Vec<UndefinedRead<'a>> {
    DefiniteAssignment::through(stencil, extents, Subject::Temporaries).found
}

/// The fields of the caller that need no initial value: each element of the compute domain is written before
/// any statement reads it.
///
/// ```text
/// if a > 0.0:        interval(0, 1): out = 1.0          interval(0, -1): out = 1.0
///     out = 1.0      interval(1, None):                 # the last level keeps its value
/// else:                  out = out[0, 0, -1] + a
///     out = 2.0
/// whole              whole                              not whole
/// ```
///
/// A region, a loop and a branch without its counterpart may leave elements out. Elements outside the compute
/// domain are never written for sure, so a read of one needs the old values.
#[must_use]
pub fn written_whole(stencil: &Stencil, extents: &Extents) -> FxHashSet<Handle<Field>> {
    let at = DefiniteAssignment::through(stencil, extents, Subject::Parameters);
    let fields = stencil.fields.handles().filter(|&it| at.is_meant(it));
    let needs_nothing = |it: &Handle<Field>| !at.found.iter().any(|found| found.field == *it);
    fields.filter(needs_nothing).filter(|&it| at.is_whole(it)).collect()
}

/// Elements of a field on all columns of an extent and some levels; only those in the region, where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ElementSet {
    pub field: Handle<Field>,
    /// Along I and J, around the compute domain.
    pub extent: Extent,
    pub region: Option<Region>,
    /// The columns lie so far from the extent and the region.
    pub offset: Offset,
    /// None where they may be any.
    pub levels: Option<Interval>,
    /// The index of the data dimensions, where it is known.
    pub data: Option<Vec<i64>>,
}

/// The elements of the caller's fields that a run writes for sure, and those that it may read before it wrote them.
pub(super) fn written_and_read(stencil: &Stencil, extents: &Extents) -> [Vec<ElementSet>; 2] {
    let at = DefiniteAssignment::through(stencil, extents, Subject::Elements);
    let mut written = Vec::new();
    for field in stencil.fields.handles().filter(|&it| at.is_meant(it)) {
        let sure = at.written.get(field).into_iter().flatten().filter(|it| it.condition.is_none());
        written.extend(sure.map(|it| ElementSet {
            field,
            extent: it.extent,
            region: it.region,
            offset: Offset::default(),
            levels: Some(it.levels),
            data: Some(it.data.clone()),
        }));
    }
    [written, at.first_reads]
}

/// Which fields an analysis is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Temporaries,
    /// Those of the caller that a statement writes.
    Parameters,
    /// All of the caller's, element by element.
    Elements,
}

/// The analysis of a whole stencil, in program order.
struct DefiniteAssignment<'a> {
    stencil: &'a Stencil,
    extents: &'a Extents,
    subject: Subject,
    /// No run has fewer.
    min_levels: i64,
    /// Every field and local that some statement writes.
    changed: FxHashSet<Target>,
    /// The writes so far, by field.
    written: SideTable<Field, Vec<ElementWrite<'a>>>,
    n_written: usize,
    found: Vec<UndefinedRead<'a>>,
    /// Of [`Subject::Elements`]: what may be read before it is written.
    first_reads: Vec<ElementSet>,
}

/// How much of what a read touches was written before it.
enum Coverage {
    Whole,
    /// All levels of these columns.
    Columns(Extent),
    Nothing,
}

/// A write of one element of a field, done at all of these points and levels.
struct ElementWrite<'a> {
    /// How many others were written before.
    at: usize,
    /// Only where this holds, which always does or never does at a point.
    condition: Option<&'a Expr>,
    /// Only in this region.
    region: Option<Region>,
    data: Vec<i64>,
    extent: Extent,
    levels: Interval,
    /// How many levels above the point at hand it is written.
    k: i32,
}

impl<'a> DefiniteAssignment<'a> {
    /// Walks the whole stencil and returns the state at its end.
    fn through(stencil: &'a Stencil, extents: &'a Extents, subject: Subject) -> Self {
        let min_levels = min_levels(stencil.placed().map(|it| it.interval)).max(1);
        let mut changed = FxHashSet::default();
        for (_, execution) in stencil.executions.iter() {
            execution.each_touch(&mut |it| {
                if it.is_write {
                    changed.insert(it.what);
                }
            });
        }
        let (written, found, first_reads) = (SideTable::default(), Vec::new(), Vec::new());
        let mut at = Self {
            stencil,
            extents,
            subject,
            min_levels,
            changed,
            written,
            n_written: 0,
            found,
            first_reads,
        };
        for vertical_loop in &stencil.vertical_loops {
            vertical_loop.sections.iter().for_each(|it| at.section(vertical_loop.order, it));
        }
        at
    }

    fn is_meant(&self, field: Handle<Field>) -> bool {
        let is_temporary = self.stencil.fields[field].is_temporary;
        match self.subject {
            Subject::Temporaries => is_temporary,
            Subject::Parameters => !is_temporary && self.changed.contains(&Target::Field(field)),
            Subject::Elements => !is_temporary,
        }
    }

    /// Whether each element of the compute domain was written.
    fn is_whole(&self, field: Handle<Field>) -> bool {
        let Field { axes, data_dims, .. } = &self.stencil.fields[field];
        let always = |it: &&ElementWrite<'_>| {
            it.condition.is_none() && it.region.is_none() && it.extent.holds(Extent::ZERO)
        };
        let written: Vec<&ElementWrite<'_>> =
            self.written.get(field).into_iter().flatten().filter(always).collect();
        axes.has(Axis::I)
            && axes.has(Axis::J)
            && every_element(data_dims).all(|data| {
                let writes: Vec<&ElementWrite<'_>> =
                    written.iter().copied().filter(|it| it.data == data).collect();
                if axes.has(Axis::K) { self.hold(&writes, Interval::FULL) } else { !writes.is_empty() }
            })
    }

    fn section(&mut self, order: LoopOrder, section: &Section) {
        let n_before = self.n_written;
        let mut reads = Vec::new();
        for &execution in &section.executions {
            let walk = ExecutionWalk::over(&self.stencil.executions[execution].body);
            let n_so_far = self.n_written;
            reads.extend(walk.reads.into_iter().map(|read| (execution, n_so_far, read)));
            let extent = self.extents.executions[execution];
            let always = walk.trail.into_iter().map(|it| (None, None, it));
            let in_regions = walk.in_regions.into_iter();
            let in_regions = in_regions
                .flat_map(|(region, sets)| sets.into_iter().map(move |it| (None, Some(region), it)));
            let known = walk.under.known.into_iter().filter(|it| !it.is_over);
            let lasting = known.filter(|it| self.is_lasting(it.condition));
            let sometimes =
                lasting.flat_map(|it| it.sets.into_iter().map(move |one| (Some(it.condition), None, one)));
            let written: Vec<(Option<&Expr>, Option<Region>, AssignedElement)> =
                always.chain(in_regions).chain(sometimes).collect();
            for (condition, region, AssignedElement { what, data, k }) in written {
                let Some(field) = what.field() else { continue };
                let (at, levels) = (self.n_written, moved(section.interval, k));
                self.n_written += 1;
                let written = ElementWrite { at, condition, region, data, extent, levels, k };
                self.written.get_or_default(field).push(written);
            }
        }
        for (execution, n_so_far, read) in reads {
            let Some(field) = read.what.field() else { continue };
            let is_told =
                self.subject == Subject::Parameters && self.found.iter().any(|it| it.field == field);
            if !self.is_meant(field) || is_told {
                continue;
            }
            // A sweep has written in all of its executions what lies behind it, and in none what lies ahead.
            let is_visible = |it: &&ElementWrite<'_>| {
                let is_met = it.condition.is_none_or(|condition| {
                    let is_same_point = !read.offset.is_horizontal() && read.k == Some(it.k);
                    is_same_point && read.conditions.iter().any(|it| it.is_same(condition))
                });
                let is_behind = |ahead: LoopOrder, behind: LoopOrder| match read.k {
                    None => false,
                    Some(k) => order == ahead && k < it.k || order == behind && k > it.k,
                };
                let is_before = it.at < n_before
                    || is_behind(LoopOrder::Forward, LoopOrder::Backward)
                    || it.at < n_so_far && !is_behind(LoopOrder::Backward, LoopOrder::Forward);
                let is_there =
                    it.region.is_none() || !read.offset.is_horizontal() && it.region == read.region;
                is_met && is_there && is_before
            };
            let written = self.written.get(field).into_iter().flatten();
            let written: Vec<&ElementWrite<'_>> = written.filter(is_visible).collect();
            let cover = self.cover(&written, section, execution, field, &read);
            if self.subject != Subject::Elements {
                self.note(field, &read, cover);
            } else if !matches!(cover, Coverage::Whole) {
                self.first_reads.push(ElementSet {
                    field,
                    extent: self.extents.executions[execution],
                    region: read.region,
                    offset: read.offset,
                    levels: read.k.map(|k| moved(section.interval, k)),
                    data: read.data,
                });
            }
        }
    }

    /// Whether no statement changes what the condition reads.
    fn is_lasting(&self, condition: &Expr) -> bool {
        let mut is_changed = false;
        condition
            .accesses(&mut |it| is_changed |= it.target().is_some_and(|what| self.changed.contains(&what)));
        !is_changed
    }

    fn note(&mut self, field: Handle<Field>, read: &ExposedRead<'a>, cover: Coverage) {
        let written = match cover {
            Coverage::Columns(extent) => Some(extent),
            Coverage::Nothing => None,
            Coverage::Whole => return,
        };
        match self.found.iter_mut().find(|it| it.field == field) {
            Some(it) => it.written = it.written.zip(written).map(|(one, other)| one.intersection(other)),
            None => self.found.push(UndefinedRead { field, span: read.span, origin: read.origin, written }),
        }
    }

    /// How much of what `read` can touch is among the writes of its field.
    fn cover(
        &self,
        written: &[&ElementWrite<'_>],
        section: &Section,
        execution: Handle<HorizontalExecution>,
        field: Handle<Field>,
        read: &ExposedRead<'_>,
    ) -> Coverage {
        let block = self.extents.executions[execution];
        let Some(needed) = true_contribution(block, read.offset, read.region) else { return Coverage::Whole };
        let field = &self.stencil.fields[field];
        // A level that is found at run time may be any.
        let levels = read.k.map_or(Interval::FULL, |k| moved(section.interval, k));
        let has_levels = field.axes.has(Axis::K);
        // The caller's arrays have levels outside the domain, which a temporary lacks.
        if self.subject != Subject::Temporaries && has_levels && (read.k.is_none() || !self.exist(levels)) {
            return Coverage::Nothing;
        }
        let hold_levels = |writes: &[&ElementWrite<'_>]| {
            if has_levels { self.hold(writes, levels) } else { !writes.is_empty() }
        };
        let of_element = |data: &[i64]| {
            let writes: Vec<&ElementWrite<'_>> =
                written.iter().copied().filter(|it| it.data == data).collect();
            let wide: Vec<&ElementWrite<'_>> =
                writes.iter().copied().filter(|it| it.extent.holds(needed)).collect();
            if hold_levels(&wide) {
                return Coverage::Whole;
            }
            let whole: Vec<&ElementWrite<'_>> =
                writes.iter().copied().filter(|it| it.region.is_none()).collect();
            match whole.iter().map(|it| it.extent).reduce(Extent::intersection) {
                Some(columns) if hold_levels(&whole) => Coverage::Columns(columns),
                _ => Coverage::Nothing,
            }
        };
        match &read.data {
            Some(data) => of_element(data),
            None => every_element(&field.data_dims)
                .map(|it| of_element(&it))
                .reduce(Coverage::least)
                .unwrap_or(Coverage::Nothing),
        }
    }

    /// Whether the compute domain has all of these levels in every run.
    fn exist(&self, levels: Interval) -> bool {
        let is_above_start = match levels.start.level {
            Level::Start => levels.start.offset >= 0,
            Level::End => i64::from(levels.start.offset) + self.min_levels >= 0,
        };
        is_above_start && levels.end.is_at_most(Bound::end(0), self.min_levels)
    }

    /// Whether the writes together hold all of these levels that exist.
    fn hold(&self, writes: &[&ElementWrite<'_>], levels: Interval) -> bool {
        // Up to here they do.
        let mut at = levels.start.max(Bound::start(0));
        while !levels.end.is_at_most(at, self.min_levels) && at < Bound::end(0) {
            let from_here = writes.iter().filter(|it| it.levels.start.is_at_most(at, self.min_levels));
            match from_here.map(|it| it.levels.end).max() {
                Some(end) if end > at => at = end,
                _ => return false,
            }
        }
        true
    }
}

impl Coverage {
    fn least(self, other: Self) -> Self {
        match (self, other) {
            (Coverage::Nothing, _) | (_, Coverage::Nothing) => Coverage::Nothing,
            (Coverage::Columns(one), Coverage::Columns(other)) => Coverage::Columns(one.intersection(other)),
            (Coverage::Columns(it), Coverage::Whole) | (Coverage::Whole, Coverage::Columns(it)) => {
                Coverage::Columns(it)
            }
            (Coverage::Whole, Coverage::Whole) => Coverage::Whole,
        }
    }
}

pub(super) fn moved(interval: Interval, by: i32) -> Interval {
    let moved = |bound: Bound| Bound { offset: bound.offset.saturating_add(by), ..bound };
    Interval::new(moved(interval.start), moved(interval.end))
}

/// All elements of data dimensions of these sizes.
fn every_element(data_dims: &[u32]) -> impl Iterator<Item = Vec<i64>> {
    data_dims.iter().map(|&size| 0..i64::from(size)).multi_cartesian_product()
}

/// A read of something that the execution at hand did not write before, or of another point or level.
struct ExposedRead<'a> {
    what: Target,
    span: Span,
    /// Where from the point, along I and J.
    offset: Offset,
    /// How many levels above the point, where that is known.
    k: Option<i32>,
    /// Which element of the data dimensions, where that is known.
    data: Option<Vec<i64>>,
    /// The conditions that hold at the read.
    conditions: Rc<[&'a Expr]>,
    region: Option<Region>,
    origin: &'a Origin,
}

/// An element that a statement has set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AssignedElement {
    what: Target,
    data: Vec<i64>,
    /// How many levels above the point.
    k: i32,
}

/// The statements of one execution, in order.
#[derive(Default)]
struct ExecutionWalk<'a> {
    /// The elements that are set at each point that runs the next statement.
    assigned: FxHashSet<AssignedElement>,
    /// The same, in the order in which it was set.
    trail: Vec<AssignedElement>,
    /// The elements that are set where a condition holds.
    under: ConditionalElements<'a>,
    /// The elements that are set at all points of a region.
    in_regions: Vec<(Region, Vec<AssignedElement>)>,
    /// How many branches, loops and regions are around.
    depth: usize,
    /// The conditions of the branches around.
    conditions: Rc<[&'a Expr]>,
    reads: Vec<ExposedRead<'a>>,
}

/// The elements that are set where a condition holds, kept as long as its value stays the same.
#[derive(Default)]
struct ConditionalElements<'a> {
    known: Vec<BranchElements<'a>>,
    /// The known conditions that read something.
    reading: FxHashMap<Target, Vec<usize>>,
}

/// The elements that a branch has set.
struct BranchElements<'a> {
    condition: &'a Expr,
    sets: Vec<AssignedElement>,
    /// Whether it does not hold any more.
    is_over: bool,
}

impl<'a> ConditionalElements<'a> {
    /// Finds the elements that are set where `condition` holds.
    fn find(&self, condition: &Expr) -> Option<&BranchElements<'a>> {
        self.known.iter().rev().find(|it| !it.is_over && it.condition.is_same(condition))
    }

    fn push(&mut self, condition: &'a Expr, sets: Vec<AssignedElement>) {
        let at = self.known.len();
        self.known.push(BranchElements { condition, sets, is_over: false });
        condition.accesses(&mut |it| {
            if let Some(what) = it.target() {
                self.reading.entry(what).or_default().push(at);
            }
        });
    }

    /// Drops the conditions that read `what`, since their values may differ from now on.
    fn change(&mut self, what: Target) {
        for at in self.reading.remove(&what).unwrap_or_default() {
            if let Some(it) = self.known.get_mut(at) {
                it.is_over = true;
            }
        }
    }

    /// Forgets what was learned behind `n` others: the points at which it was learned are some of those that go on.
    fn forget_behind(&mut self, n: usize) {
        for it in &mut self.known[n..] {
            it.is_over = true;
            it.sets = Vec::new();
        }
    }
}

impl<'a> ExecutionWalk<'a> {
    fn over(body: &'a [Stmt]) -> Self {
        let mut walk = Self::default();
        walk.body(body, None);
        walk
    }

    fn body(&mut self, body: &'a [Stmt], region: Option<Region>) {
        body.iter().for_each(|it| self.stmt(it, region));
    }

    fn stmt(&mut self, stmt: &'a Stmt, region: Option<Region>) {
        for expr in stmt.exprs() {
            self.reads(expr, region, &stmt.origin);
        }
        match &stmt.kind {
            StmtKind::Assign { target, index, .. } => {
                self.under.change(*target);
                if let (Some(data), Some(k)) = (index.literal_data(), index.level_offset()) {
                    self.set(AssignedElement { what: *target, data, k });
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let known = self.under.find(condition).map(|it| it.sets.clone()).unwrap_or_default();
                let around = std::mem::take(&mut self.conditions);
                self.conditions = around.iter().copied().chain([condition]).collect();
                let in_then = self.branch(then, region, known);
                self.conditions = around;
                let in_otherwise = self.branch(otherwise, region, Vec::new());
                let in_otherwise: FxHashSet<AssignedElement> = in_otherwise.into_iter().collect();
                for it in &in_then {
                    if in_otherwise.contains(it) {
                        self.set(it.clone());
                    }
                }
                let mut is_written = false;
                stmt.walk(&mut |it| {
                    if let StmtKind::Assign { target, .. } = it.kind {
                        is_written = is_written || reads(condition, target);
                    }
                });
                if !is_written {
                    self.under.push(condition, in_then);
                }
            }
            StmtKind::While { body, .. } => {
                // When the body starts over, its end came before.
                assigned(body).into_iter().for_each(|it| self.under.change(it));
                self.branch(body, region, Vec::new());
            }
            StmtKind::Region { region, body } => {
                let same = self.in_regions.iter().filter(|it| it.0 == *region);
                let known = same.flat_map(|it| it.1.iter().cloned()).collect();
                let sets = self.branch(body, Some(*region), known);
                if self.depth == 0 {
                    self.in_regions.push((*region, sets));
                }
            }
        }
    }

    fn set(&mut self, it: AssignedElement) {
        if self.assigned.insert(it.clone()) {
            self.trail.push(it);
        }
    }

    /// A body that only some points run, at which all this is set; answers what is set at its end and was not before.
    fn branch(
        &mut self,
        body: &'a [Stmt],
        region: Option<Region>,
        known: Vec<AssignedElement>,
    ) -> Vec<AssignedElement> {
        let (n_set, n_known) = (self.trail.len(), self.under.known.len());
        known.into_iter().for_each(|it| self.set(it));
        self.depth += 1;
        self.body(body, region);
        self.depth -= 1;
        self.under.forget_behind(n_known);
        let in_body = self.trail.split_off(n_set);
        for it in &in_body {
            self.assigned.remove(it);
        }
        in_body
    }

    fn reads(&mut self, expr: &Expr, region: Option<Region>, origin: &'a Origin) {
        expr.walk(&mut |it| {
            let (access, index) = match &it.kind {
                ExprKind::Access(access) => (access, None),
                ExprKind::Element(access, index) => (access, Some(index)),
                _ => return,
            };
            let Some(what) = access.target() else { return };
            let offset = access.offset();
            let k = index.map_or(Some(offset.k), |it| it.level_offset());
            let data = index.map_or(Some(Vec::new()), |it| it.literal_data());
            let is_assigned = !offset.is_horizontal()
                && k.zip(data.clone())
                    .is_some_and(|(k, data)| self.assigned.contains(&AssignedElement { what, data, k }));
            if !is_assigned {
                let conditions = Rc::clone(&self.conditions);
                self.reads.push(ExposedRead {
                    what,
                    span: it.span,
                    offset,
                    k,
                    data,
                    conditions,
                    region,
                    origin,
                });
            }
        });
    }
}

fn reads(expr: &Expr, what: Target) -> bool {
    let mut is_read = false;
    expr.accesses(&mut |it| is_read |= it.target() == Some(what));
    is_read
}
