//! Locals that are read where nothing has written them.
//!
//! A call writes a box of elements for certain where the stencil writes its whole range. Elements that only some
//! ways write, or parts of a range, may be unwritten: a warning. A read before all writes is an error.

use std::collections::BTreeSet;

use isobar_ground::call::signature::{AccessKind, Param, ParamKind};
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;
use isobar_ground::space::Axis;

use super::calls::{touched, written_in};
use crate::from_document::ends;
use crate::nodes::{
    Container, ContainerPart, ContainerRole, ExchangePhase, ProgramIr, ProgramStmt, ProgramStmtKind,
    StencilCall,
};
use crate::size::AffineSize;

/// The errors and warnings of a program.
#[must_use]
pub fn faults(program: &ProgramIr) -> Vec<Diagnostic> {
    walked(program).found
}

/// The locals that may be read where nothing has written them. All others may hold anything when a run starts.
#[must_use]
pub fn needing_values(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    walked(program).needing
}

fn walked(program: &ProgramIr) -> UnwrittenWays<'_> {
    let locals = program.containers.iter().map(|(_, it)| it.role == ContainerRole::Local);
    let state = locals.map(|is_local| is_local.then(Written::default)).collect();
    let mut ways =
        UnwrittenWays { program, state, repeated: Vec::new(), found: Vec::new(), needing: BTreeSet::new() };
    ways.body(&program.body);
    ways
}

/// The written elements of a local.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Written {
    /// Boxes that are written on every way.
    certain: Vec<WrittenBox>,
    /// Whether something may have been written on some way.
    is_possible: bool,
}

/// The elements of some part; all of them where there are no ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WrittenBox {
    data_index: Vec<u32>,
    ranges: Option<Vec<(i64, AffineSize)>>,
}

impl WrittenBox {
    /// Whether each element of `other` is one of this box, on every domain.
    fn holds(&self, other: &Self) -> bool {
        let is_inside = |(inner, outer): (&(i64, AffineSize), &(i64, AffineSize))| {
            outer.0 <= inner.0 && inner.1.beyond(outer.1).is_some_and(|it| it <= 0)
        };
        other.data_index.starts_with(&self.data_index)
            && match (&self.ranges, &other.ranges) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(outer), Some(inner)) => inner.iter().zip(outer).all(is_inside),
            }
    }
}

/// For each container, where it is a local.
type WrittenState = Vec<Option<Written>>;

struct UnwrittenWays<'p> {
    program: &'p ProgramIr,
    state: WrittenState,
    /// The locals that the loops around write: an earlier iteration may have.
    repeated: Vec<Handle<Container>>,
    found: Vec<Diagnostic>,
    needing: BTreeSet<Handle<Container>>,
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
                self.write(to, None);
            }
            ProgramStmtKind::Fill { target, .. } => self.write(target, None),
            ProgramStmtKind::Swap(one, other) => self.swap(one, other, stmt.span),
            ProgramStmtKind::Exchange(exchange) => {
                for part in &exchange.fields {
                    self.read_any(part, stmt.span);
                    match exchange.plan {
                        _ if exchange.phase == ExchangePhase::Start => {}
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
        let box_of = |param: &Param, part: &ContainerPart, is_read: bool| {
            let ParamKind::Field { reach, .. } = &param.kind else { return None };
            let axes = program.containers[part.container].axes;
            let none = Default::default();
            let ranges = axes.iter().map(|axis| {
                let reach = if is_read { reach[axis.index()] } else { none };
                touched(program, call, (param, part), axis, reach)
            });
            Some(ranges.collect::<Vec<_>>())
        };
        for (_, param, part) in call.used_fields(program) {
            match param.access {
                AccessKind::Read => self.read(part, box_of(param, part, true), true, span),
                AccessKind::ReadWrite => self.read(part, box_of(param, part, true), false, span),
                AccessKind::Write | AccessKind::None => {}
            }
        }
        for (_, param, part) in call.used_fields(program) {
            match param.access {
                AccessKind::Write => self.write(part, box_of(param, part, false)),
                AccessKind::ReadWrite => self.may_write(part),
                AccessKind::Read | AccessKind::None => {}
            }
        }
    }

    /// A read of a box. `is_certain` where no write of the same statement can come first.
    fn read(
        &mut self,
        part: &ContainerPart,
        ranges: Option<Vec<(i64, AffineSize)>>,
        is_certain: bool,
        span: Span,
    ) {
        let name = &self.program.containers[part.container].name;
        let Some(Some(written)) = self.state.get(part.container.index()) else { return };
        let read = WrittenBox { data_index: part.data_index.clone(), ranges };
        if written.certain.iter().any(|it| it.holds(&read)) {
            return;
        }
        self.needing.insert(part.container);
        self.found.push(if is_certain && !written.is_possible {
            catalog::unwritten(name, span)
        } else {
            catalog::maybe_unwritten(name, span)
        });
    }

    fn read_whole(&mut self, part: &ContainerPart, span: Span) {
        self.read(part, None, true, span);
    }

    /// A read of some elements, which is fine where any may have been written.
    fn read_any(&mut self, part: &ContainerPart, span: Span) {
        if let Some(Some(Written { is_possible: false, .. })) = self.state.get(part.container.index()) {
            self.needing.insert(part.container);
            self.found.push(catalog::unwritten(&self.program.containers[part.container].name, span));
        }
    }

    fn write(&mut self, part: &ContainerPart, ranges: Option<Vec<(i64, AffineSize)>>) {
        let Some(Some(written)) = self.state.get_mut(part.container.index()) else { return };
        written.is_possible = true;
        let new = WrittenBox { data_index: part.data_index.clone(), ranges };
        if !written.certain.iter().any(|it| it.holds(&new)) {
            written.certain.retain(|it| !new.holds(it));
            written.certain.push(new);
        }
    }

    /// An exchange writes the halo along I and J.
    fn write_halo(&mut self, part: &ContainerPart, width: i64) {
        let container = &self.program.containers[part.container];
        let Some(Some(written)) = self.state.get_mut(part.container.index()) else { return };
        let mut wider = Vec::new();
        for found in written.certain.iter().filter(|it| it.data_index == part.data_index) {
            let Some(ranges) = &found.ranges else { continue };
            let (mut is_whole, mut ranges) = (true, ranges.clone());
            for (axis, range) in container.axes.iter().zip(&mut ranges).filter(|it| it.0 != Axis::K) {
                let start = container.origin[axis.index()];
                let end = AffineSize::along(axis).moved(start);
                is_whole &= range.0 <= start && end.beyond(range.1).is_some_and(|it| it <= 0);
                *range = (range.0.min(start - width), range.1.max(end.moved(width)));
            }
            if is_whole {
                wider.push(Some(ranges));
            }
        }
        wider.into_iter().for_each(|it| self.write(part, it));
    }

    fn may_write(&mut self, part: &ContainerPart) {
        if let Some(Some(written)) = self.state.get_mut(part.container.index()) {
            written.is_possible = true;
        }
    }

    /// Each has the elements of the other one behind it.
    fn swap(&mut self, one: &ContainerPart, other: &ContainerPart, span: Span) {
        let [first, second] = [one, other].map(|it| it.container.index());
        let are_whole = one.data_index.is_empty() && other.data_index.is_empty();
        if are_whole && self.state[first].is_some() && self.state[second].is_some() {
            self.state.swap(first, second);
            return;
        }
        self.read_whole(one, span);
        self.read_whole(other, span);
        self.write(one, None);
        self.write(other, None);
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
        for (one, other) in self.state.iter_mut().zip(other) {
            let (Some(one), Some(other)) = (one, other) else { continue };
            one.is_possible |= other.is_possible;
            // The smaller box of two, whichever way it is on.
            let is_held = |it: &&WrittenBox| one.certain.iter().any(|held| held.holds(it));
            let smaller: Vec<WrittenBox> = other.certain.iter().filter(is_held).cloned().collect();
            one.certain.retain(|it| other.certain.iter().any(|held| held.holds(it)));
            let is_new = |it: &WrittenBox| !one.certain.iter().any(|held| held.holds(it));
            let smaller: Vec<WrittenBox> = smaller.into_iter().filter(is_new).collect();
            one.certain.extend(smaller);
        }
    }
}
