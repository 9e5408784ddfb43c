//! Halos that are older than the points beside them.
//!
//! An exchange makes as many points of a halo valid as it is wide. A write of points of the domain makes the halo stale,
//! but for the points of it that the same call writes. Fields that no exchange names have no neighbours here.
//! A read is told where no way makes it right: an exchange below a condition counts, as that of all iterations but the
//! last one.
//!
//! ```text
//! exchange update scalar 1 of q      q: 1 point is valid
//! call lap(q=q, out=l)               reads 1 point
//! call step(q=q, l=l)                q: none is
//! call lap(q=q, out=l)               reads 1 point: P21
//! ```

use std::collections::BTreeMap;

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::space::Axis;

use super::element_boxes::{IndexRange, PartBox, StencilElements, placed};
use crate::from_document::ends;
use crate::nodes::{
    Container, ContainerPart, ExchangePhase, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind,
    StencilCall,
};
use crate::size::AffineSize;

/// The warnings of a program.
#[must_use]
pub fn faults(program: &ProgramIr, elements: &StencilElements) -> Vec<Diagnostic> {
    let mut halos = BTreeMap::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Exchange(it) = &stmt.kind {
                halos.extend(it.fields.iter().map(|it| (it.clone(), Halo::GIVEN)));
            }
        });
    });
    let mut ways = HaloWays { program, elements, halos, found: Vec::new() };
    ways.body(&program.body);
    ways.found
}

/// The sides of a halo: I and J, at the start and at the end.
const SIDES: [(Axis, bool); 4] = [(Axis::I, false), (Axis::I, true), (Axis::J, false), (Axis::J, true)];

/// The halo of a field on some way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Halo {
    /// The valid points on each of the [`SIDES`].
    valid: [i64; 4],
    /// The statement that made it stale.
    since: Option<Span>,
    /// The halo as it will arrive, where an exchange is under way; later writes make it stale again.
    arriving: Option<[i64; 4]>,
    /// Whether a fault was told: one for each field is enough.
    is_told: bool,
}

impl Halo {
    /// Whatever the caller has there is right.
    const GIVEN: Self = Self { valid: [i64::MAX; 4], since: None, arriving: None, is_told: false };

    /// The larger one of two, on each side: a run may have taken the better way.
    fn most(self, other: Self) -> Self {
        let most = |one: [i64; 4], other: [i64; 4]| std::array::from_fn(|at| one[at].max(other[at]));
        Self {
            valid: most(self.valid, other.valid),
            since: self.since.or(other.since),
            arriving: match (self.arriving, other.arriving) {
                (Some(one), Some(other)) => Some(most(one, other)),
                (one, other) => one.or(other),
            },
            is_told: self.is_told || other.is_told,
        }
    }
}

struct HaloWays<'p> {
    program: &'p ProgramIr,
    elements: &'p StencilElements,
    halos: BTreeMap<ContainerPart, Halo>,
    found: Vec<Diagnostic>,
}

impl HaloWays<'_> {
    fn body(&mut self, body: &[ProgramStmt]) {
        body.iter().for_each(|it| self.statement(it));
    }

    fn statement(&mut self, stmt: &ProgramStmt) {
        match &stmt.kind {
            ProgramStmtKind::Call(call) => self.call(call, stmt.span),
            // An iteration finds the halos that the one before it leaves.
            ProgramStmtKind::For { body, .. } | ProgramStmtKind::While { body, .. } => {
                let before = self.halos.clone();
                for _ in 0..2 {
                    self.body(body);
                }
                self.join(before);
            }
            ProgramStmtKind::If { then, otherwise, .. } => {
                let before = self.halos.clone();
                self.body(then);
                let behind = std::mem::replace(&mut self.halos, before);
                self.body(otherwise);
                if ends(otherwise) {
                    self.halos = behind;
                } else if !ends(then) {
                    self.join(behind);
                }
            }
            ProgramStmtKind::Exchange(it) => self.exchange(it),
            ProgramStmtKind::Copy { from, to } => {
                let halo = self.halos.get(from).copied().unwrap_or(Halo::GIVEN);
                self.replace(to, halo);
            }
            ProgramStmtKind::Fill { target, .. } => self.replace(target, Halo::GIVEN),
            ProgramStmtKind::Swap(one, other) => {
                let [first, second] =
                    [one, other].map(|it| self.halos.get(it).copied().unwrap_or(Halo::GIVEN));
                self.replace(one, second);
                self.replace(other, first);
            }
            ProgramStmtKind::Host { writes, .. } => {
                writes.iter().for_each(|it| self.replace(it, Halo::GIVEN));
            }
            ProgramStmtKind::Group { body, .. } => self.body(body),
            ProgramStmtKind::Let { .. } | ProgramStmtKind::Mark(_) | ProgramStmtKind::Trap(_) => {}
        }
    }

    fn join(&mut self, other: BTreeMap<ContainerPart, Halo>) {
        for (part, other) in other {
            if let Some(one) = self.halos.get_mut(&part) {
                *one = one.most(other);
            }
        }
    }

    /// All elements of a part have other values.
    fn replace(&mut self, part: &ContainerPart, halo: Halo) {
        for (known, own) in &mut self.halos {
            let is_within =
                known.container == part.container && known.data_index.starts_with(&part.data_index);
            if is_within {
                *own = Halo { is_told: own.is_told, ..halo };
            } else if known.overlaps_in_part(part) {
                *own = Halo { is_told: own.is_told, ..Halo::GIVEN };
            }
        }
    }

    fn exchange(&mut self, exchange: &HaloExchange) {
        let width = [i64::from(exchange.width); 4];
        for part in &exchange.fields {
            let Some(halo) = self.halos.get_mut(part) else { continue };
            let arrived = match exchange.phase {
                ExchangePhase::Start => {
                    halo.arriving = Some(width);
                    continue;
                }
                ExchangePhase::Wait => halo.arriving.take().unwrap_or([0; 4]),
                ExchangePhase::Update => width,
            };
            for (valid, arrived) in halo.valid.iter_mut().zip(arrived) {
                *valid = arrived.max(*valid);
            }
        }
    }

    fn call(&mut self, call: &StencilCall, span: Span) {
        let Some(elements) = self.elements.of_call(self.program, call) else { return };
        let used: Vec<_> = call.used_fields(self.program).collect();
        for &(at, param, part) in &used {
            for it in elements.get(at).iter().flat_map(|it| &it.read_first) {
                let read = placed(self.program, call, (param, part), it);
                self.read(part, &read, span);
            }
        }
        for &(at, param, part) in used.iter().filter(|it| it.1.access.is_written()) {
            let written = elements.get(at).into_iter().flat_map(|it| &it.written);
            let written: Vec<_> = written.map(|it| placed(self.program, call, (param, part), it)).collect();
            let container = &self.program.containers[part.container];
            let halo = match self.written_depths(container, &written) {
                WrittenPoints::Whole(valid) => Halo { valid, since: Some(span), ..Halo::GIVEN },
                WrittenPoints::Some => Halo::GIVEN,
                WrittenPoints::None => continue,
            };
            let touched = self.halos.iter_mut().filter(|(known, _)| {
                known.container == part.container
                    && (known.data_index.starts_with(&part.data_index)
                        || part.data_index.starts_with(&known.data_index))
            });
            for (_, own) in touched {
                // An exchange that is under way took its values before.
                let arriving = own.arriving.map(|_| halo.valid);
                *own = Halo { arriving, is_told: own.is_told, ..halo };
            }
        }
    }

    fn read(&mut self, part: &ContainerPart, read: &PartBox, span: Span) {
        let program = self.program;
        let Some(halo) = self.halos.get_mut(part).filter(|it| !it.is_told) else { return };
        let Some(since) = halo.since else { return };
        let container = &program.containers[part.container];
        for (at, (axis, is_end)) in SIDES.into_iter().enumerate() {
            let depth = range(container, read, axis).map_or(0, |it| depth(container, axis, is_end, it));
            // Fields between the points of the domain have one more than it, and arrays of models have room for it. Where
            // nothing tells which ones they are, any may be.
            let spare = !container.staggered.has(axis)
                && container.axes.iter().zip(&container.shape).any(|(of, size)| {
                    of == axis && is_end && size.offset > 2 * container.origin[axis.index()]
                });
            if depth > halo.valid[at].saturating_add(i64::from(spare)) {
                halo.is_told = true;
                let name = part.spelled(program);
                let side = if is_end { "end" } else { "start" };
                let told = catalog::stale_halo(&name, (axis.name(), side), (depth, halo.valid[at]), span);
                self.found.push(told.also(since, "written here"));
                return;
            }
        }
    }

    /// The points of the domain that a call writes, and how far it writes the halo with them.
    fn written_depths(&self, container: &Container, written: &[PartBox]) -> WrittenPoints {
        let least = self.elements.least();
        let mut found = WrittenPoints::None;
        for it in written {
            let (mut is_whole, mut is_beside) = (true, false);
            for axis in [Axis::I, Axis::J] {
                let Some([start, end]) = range(container, it, axis) else { continue };
                let first = AffineSize::constant(container.origin[axis.index()]);
                let behind = container.end_of_points(axis);
                is_whole &= start.is_at_most(first, least) && behind.is_at_most(end, least);
                is_beside |= end.is_at_most(first, least) || behind.is_at_most(start, least);
            }
            if is_whole {
                let depth = |(axis, is_end)| {
                    range(container, it, axis).map_or(0, |it| depth(container, axis, is_end, it))
                };
                return WrittenPoints::Whole(SIDES.map(depth));
            }
            if !is_beside {
                found = WrittenPoints::Some;
            }
        }
        found
    }
}

/// The points of the domain that a call writes.
enum WrittenPoints {
    None,
    /// Other calls may write the rest, in the halo as well: nothing is told of the field then.
    Some,
    /// All, and so many points of the halo on each side.
    Whole([i64; 4]),
}

fn range(container: &Container, of: &PartBox, axis: Axis) -> Option<IndexRange> {
    let at = container.axes.iter().position(|it| it == axis)?;
    of.ranges.as_ref()?.get(at).copied()
}

/// How many points a range reaches into the halo on one side; 0 where that depends on the domain.
fn depth(container: &Container, axis: Axis, is_end: bool, [start, end]: IndexRange) -> i64 {
    let first = container.origin[axis.index()];
    let reached = match (is_end, start.axis, end.axis) {
        (false, None, _) => first - start.offset,
        (true, _, Some(_)) => end.offset - container.end_of_points(axis).offset,
        _ => 0,
    };
    reached.max(0)
}
