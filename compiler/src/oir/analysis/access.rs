//! What a stencil does with each parameter.

use std::fmt;

use super::super::nodes::{Access, Field, HorizontalExecution, Scalar, Stencil, Stmt};
use super::super::visit::Touch;
use super::extents::Extents;
use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::space::{AxisSet, Bound, Interval, LoopOrder};

/// What a stencil does with a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Nothing.
    #[default]
    None,
    /// It is never written.
    Read,
    /// Every element of the compute domain is written, and before any of them is read.
    Write,
    /// What it held before may matter: it is read before it is written, or written in part.
    ReadWrite,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::None => "none",
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::ReadWrite => "read-write",
        })
    }
}

/// The access kind of every field. Accesses in regions that never meet their block do not count.
#[must_use]
pub fn access_kinds(stencil: &Stencil, extents: &Extents) -> SideTable<Field, AccessKind> {
    let mut kinds = SideTable::default();
    let mut touches: SideTable<Field, Vec<Placed<'_>>> = SideTable::default();
    let sections = stencil.vertical_loops.iter().flat_map(|it| it.sections.iter().map(|s| (it.order, s)));
    for (number, (order, section)) in sections.enumerate() {
        for &execution in &section.executions {
            stencil.executions[execution].each_touch(&mut |touch| {
                if let Some(field) = touch.what.field() {
                    let interval = section.interval;
                    let of_field = touches.get_or_default(field);
                    of_field.push(Placed { section: number, order, interval, execution, touch });
                }
            });
        }
    }
    for field in stencil.fields.handles() {
        let touches = touches.get(field).map_or(&[][..], Vec::as_slice);
        kinds.insert(field, access_kind(stencil, touches, extents, field));
    }
    kinds
}

/// A touch of a field, and where it stands.
struct Placed<'a> {
    /// Counted through the stencil.
    section: usize,
    order: LoopOrder,
    interval: Interval,
    execution: Handle<HorizontalExecution>,
    touch: Touch<'a>,
}

/// Whether each scalar is used.
#[must_use]
pub fn used_scalars(stencil: &Stencil) -> SideTable<Scalar, bool> {
    let mut used = SideTable::default();
    for scalar in stencil.scalars.handles() {
        used.insert(scalar, false);
    }
    let mut use_scalar = |stmt: &Stmt| {
        stmt.exprs().for_each(|expr| {
            expr.walk(&mut |it| {
                if let ExprKind::Access(Access::Scalar(scalar)) = it.kind {
                    used.insert(scalar, true);
                }
            });
        });
    };
    for placed in stencil.placed() {
        for stmt in &stencil.executions[placed.execution].body {
            stmt.walk(&mut use_scalar);
        }
    }
    used
}

/// `touches` are those of the field, in program order.
fn access_kind(
    stencil: &Stencil,
    touches: &[Placed<'_>],
    extents: &Extents,
    field: Handle<Field>,
) -> AccessKind {
    let has_levels = stencil.fields[field].axes.has(crate::space::Axis::K);
    let is_whole_plane =
        stencil.fields[field].axes == AxisSet::IJK || stencil.fields[field].axes == AxisSet::IJ;
    let (mut is_read, mut is_written, mut needs_old) = (false, false, false);
    let mut written = Levels::default();
    for section in touches.chunk_by(|one, next| one.section == next.section) {
        let (order, interval) = (section[0].order, section[0].interval);
        let interval = if has_levels { interval } else { Interval::FULL };
        // A level that the sweep has left behind has seen all writes of the section.
        let mut behind = written.clone();
        if section.iter().any(|it| it.touch.is_write && is_whole(&it.touch)) {
            behind.add(interval);
        }
        for Placed { execution, touch, .. } in section {
            if !extents.meets(*execution, touch.scope.region) {
                continue;
            }
            if touch.is_write {
                is_written = true;
                if !is_whole(touch) || !is_whole_plane {
                    needs_old |= !written.hold(interval);
                } else {
                    written.add(interval);
                }
            } else {
                is_read = true;
                let k = touch.offset.k;
                // A level that is found at run time may be any.
                needs_old |= !touch.is_level_known;
                let is_behind = order == LoopOrder::Forward && k < 0 || order == LoopOrder::Backward && k > 0;
                let levels = if is_behind { &behind } else { &written };
                needs_old |= !levels.hold(shifted(interval, k));
            }
        }
    }
    match (is_read, is_written) {
        (false, false) => AccessKind::None,
        (true, false) => AccessKind::Read,
        (_, true) if !needs_old && written.hold(Interval::FULL) => AccessKind::Write,
        (_, true) => AccessKind::ReadWrite,
    }
}

/// Whether a write sets all there is at each point where its execution runs.
fn is_whole(write: &Touch<'_>) -> bool {
    !write.scope.is_conditional && write.is_here() && !write.is_part()
}

fn shifted(interval: Interval, by: i32) -> Interval {
    let shift = |bound: Bound| Bound { offset: bound.offset.saturating_add(by), ..bound };
    Interval::new(shift(interval.start), shift(interval.end))
}

/// A set of levels: disjoint intervals in order, with gaps between them.
#[derive(Clone, Debug, Default)]
struct Levels(Vec<Interval>);

impl Levels {
    fn add(&mut self, interval: Interval) {
        self.0.push(interval);
        self.0.sort();
        let mut merged: Vec<Interval> = Vec::new();
        for interval in self.0.drain(..) {
            match merged.last_mut() {
                Some(last) if interval.start <= last.end => last.end = last.end.max(interval.end),
                _ => merged.push(interval),
            }
        }
        self.0 = merged;
    }

    fn hold(&self, interval: Interval) -> bool {
        self.0.iter().any(|it| it.start <= interval.start && interval.end <= it.end)
    }
}
