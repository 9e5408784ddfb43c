//! Locals that are read where nothing has written them.
//!
//! A call writes a box of elements for certain where the stencil writes its whole range. Elements that only some
//! ways write, or parts of a range, may be unwritten: a warning. A read before all writes is an error.

use std::collections::{BTreeMap, BTreeSet};

use isobar_ground::call::signature::AccessKind;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;
use isobar_ground::space::Axis;

use super::calls::written_in;
use super::element_boxes::{PartBox, StencilElements, add, is_met, placed};
use crate::from_document::ends;
use crate::nodes::{
    Container, ContainerPart, ContainerRole, ExchangePhase, ProgramIr, ProgramStmt, ProgramStmtKind,
    StencilCall,
};
use crate::size::AffineSize;

/// The errors and warnings of a program.
#[must_use]
pub fn faults(program: &ProgramIr, elements: &StencilElements) -> Vec<Diagnostic> {
    walked(program, elements, Wanted::Faults, &is_local).found
}

/// The locals that may be read where nothing has written them. All others may hold anything when a run starts.
#[must_use]
pub fn needing_values(program: &ProgramIr, elements: &StencilElements) -> BTreeSet<Handle<Container>> {
    walked(program, elements, Wanted::Values, &is_local).needing.into_keys().collect()
}

/// Those of some containers that a run may read where it has written nothing before, each with the first such read.
#[must_use]
pub fn read_first(
    program: &ProgramIr,
    elements: &StencilElements,
    among: &BTreeSet<Handle<Container>>,
) -> BTreeMap<Handle<Container>, Span> {
    walked(program, elements, Wanted::Values, &|handle, _| among.contains(&handle)).needing
}

/// The purpose of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Reads of what nothing has written, for people.
    Faults,
    /// Each container whose values from before may reach a read, whichever way they take.
    Values,
}

fn is_local(_: Handle<Container>, container: &Container) -> bool {
    container.role == ContainerRole::Local
}

fn walked<'p>(
    program: &'p ProgramIr,
    elements: &'p StencilElements,
    wanted: Wanted,
    is_meant: &dyn Fn(Handle<Container>, &Container) -> bool,
) -> UnwrittenWays<'p> {
    let meant = program.containers.iter().map(|(handle, it)| is_meant(handle, it));
    let state = meant.map(|is_meant| is_meant.then(Written::default)).collect();
    let (repeated, found, needing) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut ways = UnwrittenWays { program, elements, wanted, state, repeated, found, needing };
    ways.body(&program.body);
    ways
}

/// The written elements of a local.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Written {
    /// Boxes that are written on every way.
    certain: Vec<PartBox>,
    /// Whether something may have been written on some way.
    is_possible: bool,
}

/// For each container, where it is a local.
type WrittenState = Vec<Option<Written>>;

fn whole(part: &ContainerPart) -> PartBox {
    PartBox { data_index: part.data_index.clone(), ranges: None }
}

struct UnwrittenWays<'p> {
    program: &'p ProgramIr,
    elements: &'p StencilElements,
    wanted: Wanted,
    state: WrittenState,
    /// The locals that the loops around write: an earlier iteration may have.
    repeated: Vec<Handle<Container>>,
    found: Vec<Diagnostic>,
    /// With the first read that may find nothing written.
    needing: BTreeMap<Handle<Container>, Span>,
}

impl UnwrittenWays<'_> {
    fn body(&mut self, body: &[ProgramStmt]) {
        body.iter().for_each(|it| self.statement(it));
    }

    fn statement(&mut self, stmt: &ProgramStmt) {
        match &stmt.kind {
            ProgramStmtKind::Call(call) => self.call(call, stmt.span),
            ProgramStmtKind::For { range, body, .. } => {
                let ends = [range[0].as_int(), range[1].as_int(), range[2].as_int()];
                let has_iteration = matches!(
                    ends,
                    [Some(from), Some(to), Some(by)] if by > 0 && from < to || by < 0 && from > to
                );
                self.repeat(body, has_iteration);
            }
            ProgramStmtKind::While { body, .. } => self.repeat(body, false),
            ProgramStmtKind::If { then, otherwise, .. } => self.either(then, otherwise),
            ProgramStmtKind::Copy { from, to } => {
                self.read_whole(from, stmt.span);
                self.write_whole(to);
            }
            ProgramStmtKind::Fill { target, .. } => self.write_whole(target),
            ProgramStmtKind::Swap(one, other) => self.swap(one, other, stmt.span),
            ProgramStmtKind::Exchange(exchange) => {
                for part in &exchange.fields {
                    self.read_strips(part, exchange.plan.is_some(), stmt.span);
                    match exchange.plan {
                        _ if exchange.phase == ExchangePhase::Start => {}
                        // A run may have it store nothing.
                        None if self.wanted == Wanted::Values => self.may_write(part),
                        None => self.write_halo(part, i64::from(exchange.width)),
                        // The corners of a cube's faces have no neighbour.
                        Some(_) => self.may_write(part),
                    }
                }
            }
            ProgramStmtKind::Host { reads, writes, .. } => {
                reads.iter().for_each(|it| self.read_whole(it, stmt.span));
                writes.iter().for_each(|it| self.may_write(it));
            }
            ProgramStmtKind::Group { body, .. } => self.body(body),
            ProgramStmtKind::Let { .. } | ProgramStmtKind::Mark(_) | ProgramStmtKind::Trap(_) => {}
        }
    }

    fn call(&mut self, call: &StencilCall, span: Span) {
        let program = self.program;
        let Some(elements) = self.elements.of_call(program, call) else {
            // It is told already why it has no code.
            for (_, _, part) in call.used_fields(program) {
                if self.wanted == Wanted::Values {
                    self.read_whole(part, span);
                }
                self.may_write(part);
            }
            return;
        };
        let used: Vec<_> = call.used_fields(program).collect();
        for &(at, param, part) in &used {
            let is_certain = param.access == AccessKind::Read;
            for it in elements.get(at).iter().flat_map(|it| &it.read_first) {
                self.read(part, placed(program, call, (param, part), it), is_certain, span);
            }
        }
        for &(at, param, part) in used.iter().filter(|it| it.1.access.is_written()) {
            self.may_write(part);
            let least = self.elements.least();
            let written = elements.get(at).into_iter().flat_map(|it| &it.written);
            for it in written.filter(|it| is_met(program, call, it, least)) {
                self.write(part, placed(program, call, (param, part), it));
            }
        }
    }

    /// A read of a box. `is_certain` where no write of the same statement can come first.
    fn read(&mut self, part: &ContainerPart, read: PartBox, is_certain: bool, span: Span) {
        let name = &self.program.containers[part.container].name;
        let Some(Some(written)) = self.state.get(part.container.index()) else { return };
        if written.certain.iter().any(|it| it.holds(&read, self.elements.least())) {
            return;
        }
        self.needing.entry(part.container).or_insert(span);
        self.found.push(if is_certain && !written.is_possible {
            catalog::unwritten(name, span)
        } else {
            catalog::maybe_unwritten(name, span)
        });
    }

    fn read_whole(&mut self, part: &ContainerPart, span: Span) {
        self.read(part, whole(part), true, span);
    }

    /// A read of the strips that an exchange sends. For people it is fine where anything may have been written.
    fn read_strips(&mut self, part: &ContainerPart, has_plan: bool, span: Span) {
        if self.wanted == Wanted::Values {
            let strips = if has_plan { whole(part) } else { self.domain_of(part) };
            return self.read(part, strips, false, span);
        }
        if let Some(Some(Written { is_possible: false, .. })) = self.state.get(part.container.index()) {
            self.needing.entry(part.container).or_insert(span);
            self.found.push(catalog::unwritten(&self.program.containers[part.container].name, span));
        }
    }

    fn write(&mut self, part: &ContainerPart, new: PartBox) {
        let Some(Some(written)) = self.state.get_mut(part.container.index()) else { return };
        written.is_possible = true;
        add(&mut written.certain, new, self.elements.least());
    }

    fn write_whole(&mut self, part: &ContainerPart) {
        self.write(part, whole(part));
    }

    /// An exchange writes the halo along I and J.
    fn write_halo(&mut self, part: &ContainerPart, width: i64) {
        let container = &self.program.containers[part.container];
        let Some(Some(written)) = self.state.get_mut(part.container.index()) else { return };
        let least = self.elements.least();
        let mut wider = Vec::new();
        for found in written.certain.iter().filter(|it| it.data_index == part.data_index) {
            let Some(ranges) = &found.ranges else { continue };
            let (mut is_whole, mut ranges) = (true, ranges.clone());
            for (axis, range) in container.axes.iter().zip(&mut ranges).filter(|it| it.0 != Axis::K) {
                let start = AffineSize::constant(container.origin[axis.index()]);
                let end = container.end_of_points(axis);
                is_whole &= range[0].is_at_most(start, least) && end.is_at_most(range[1], least);
                let wider = [start.moved(-width), end.moved(width)];
                if !range[0].is_at_most(wider[0], least) {
                    range[0] = wider[0];
                }
                if !wider[1].is_at_most(range[1], least) {
                    range[1] = wider[1];
                }
            }
            if is_whole {
                wider.push(PartBox { data_index: found.data_index.clone(), ranges: Some(ranges) });
            }
        }
        wider.into_iter().for_each(|it| self.write(part, it));
    }

    /// The points of the compute domain, on all levels.
    fn domain_of(&self, part: &ContainerPart) -> PartBox {
        let container = &self.program.containers[part.container];
        let along = |(axis, &size): (Axis, &AffineSize)| match axis {
            Axis::K => [AffineSize::constant(0), size],
            Axis::I | Axis::J => {
                let first = container.origin[axis.index()];
                [AffineSize::constant(first), container.end_of_points(axis)]
            }
        };
        let ranges = container.axes.iter().zip(&container.shape).map(along).collect();
        PartBox { data_index: part.data_index.clone(), ranges: Some(ranges) }
    }

    fn may_write(&mut self, part: &ContainerPart) {
        if let Some(Some(written)) = self.state.get_mut(part.container.index()) {
            written.is_possible = true;
        }
    }

    /// Each has the elements of the other one behind it.
    fn swap(&mut self, one: &ContainerPart, other: &ContainerPart, span: Span) {
        let [first, second] = [one, other].map(|it| it.container.index());
        let is_told = self.wanted == Wanted::Faults;
        let are_whole = is_told && one.data_index.is_empty() && other.data_index.is_empty();
        if are_whole && self.state[first].is_some() && self.state[second].is_some() {
            self.state.swap(first, second);
            return;
        }
        self.read_whole(one, span);
        self.read_whole(other, span);
        self.write_whole(one);
        self.write_whole(other);
    }

    /// The body of a loop. Its first iteration finds what is before the loop.
    fn repeat(&mut self, body: &[ProgramStmt], has_iteration: bool) {
        let before = self.state.clone();
        let n_repeated = self.repeated.len();
        self.repeated.extend(written_in(self.program, body));
        self.body(body);
        self.repeated.truncate(n_repeated);
        if !has_iteration {
            let behind = std::mem::replace(&mut self.state, before);
            self.join(&behind);
        }
    }

    fn either(&mut self, then: &[ProgramStmt], otherwise: &[ProgramStmt]) {
        let mut before = self.state.clone();
        // A condition may hold in a later iteration only.
        for it in &self.repeated {
            if let Some(written) = &mut before[it.index()] {
                written.is_possible = true;
            }
        }
        self.state.clone_from(&before);
        self.body(then);
        let behind_then = std::mem::replace(&mut self.state, before);
        self.body(otherwise);
        if ends(otherwise) {
            self.state = behind_then;
        } else if !ends(then) {
            self.join(&behind_then);
        }
    }

    /// Keeps the elements that both ways write.
    fn join(&mut self, other: &WrittenState) {
        let least = self.elements.least();
        for (one, other) in self.state.iter_mut().zip(other) {
            let (Some(one), Some(other)) = (one, other) else { continue };
            one.is_possible |= other.is_possible;
            // The smaller box of two, whichever way it is on.
            let is_held = |it: &&PartBox| one.certain.iter().any(|held| held.holds(it, least));
            let smaller: Vec<PartBox> = other.certain.iter().filter(is_held).cloned().collect();
            one.certain.retain(|it| other.certain.iter().any(|held| held.holds(it, least)));
            let is_new = |it: &PartBox| !one.certain.iter().any(|held| held.holds(it, least));
            let smaller: Vec<PartBox> = smaller.into_iter().filter(is_new).collect();
            one.certain.extend(smaller);
        }
    }
}
