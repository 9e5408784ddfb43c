//! The bytes that statements move at least.

use std::collections::BTreeMap;

use isobar_ground::entity::Handle;
use isobar_ground::space::Domain;

use crate::nodes::{Container, ContainerPart, ContainerRole, ProgramIr, ProgramStmt, ProgramStmtKind};

/// The bytes that a statement moves at least when it is carried out once. In the domain of its stencil, each field counts
/// once if it is read before it is written, and once if it is written. A local that a group alone touches needs no memory.
/// Halos do not count, nor do the statements inside of a `for` or an `if`.
#[must_use]
pub fn compulsory_bytes(program: &ProgramIr, stmt: &ProgramStmt, domain: Domain) -> u64 {
    let mut moved: BTreeMap<Handle<Container>, FieldTraffic> = BTreeMap::new();
    match &stmt.kind {
        ProgramStmtKind::Group { body, .. } => {
            body.iter().for_each(|it| add(program, it, domain, &mut moved));
            let inside = body.iter().map(|it| mentions(program, it)).fold(BTreeMap::new(), sum);
            let everywhere =
                program.body.iter().map(|it| mentions_below(program, it)).fold(BTreeMap::new(), sum);
            moved.retain(|handle, _| {
                let is_local = program.containers[*handle].role == ContainerRole::Local;
                !is_local || inside.get(handle) != everywhere.get(handle)
            });
        }
        _ => add(program, stmt, domain, &mut moved),
    }
    moved.values().map(FieldTraffic::bytes).fold(0, u64::saturating_add)
}

/// The traffic of a field within a statement.
#[derive(Clone, Copy, Debug, Default)]
struct FieldTraffic {
    /// The bytes of the largest range.
    of_range: u64,
    is_read: bool,
    is_written: bool,
}

impl FieldTraffic {
    fn bytes(&self) -> u64 {
        self.of_range.saturating_mul(u64::from(self.is_read) + u64::from(self.is_written))
    }
}

fn add(
    program: &ProgramIr,
    stmt: &ProgramStmt,
    domain: Domain,
    moved: &mut BTreeMap<Handle<Container>, FieldTraffic>,
) {
    let mut note = |part: &ContainerPart, range: [i64; 3], is_read: bool, is_written: bool| {
        let container = &program.containers[part.container];
        let points = container.axes.iter().map(|axis| u64::try_from(range[axis.index()]).unwrap_or(0));
        let rest = container.data_dims.iter().skip(part.data_index.len()).map(|&it| u64::from(it));
        let size = container.dtype.size_bytes() as u64;
        let entry = moved.entry(part.container).or_default();
        entry.of_range = entry.of_range.max(points.chain(rest).fold(size, u64::saturating_mul));
        entry.is_read |= is_read && !entry.is_written;
        entry.is_written |= is_written;
    };
    let whole = |part: &ContainerPart| {
        let container = &program.containers[part.container];
        let mut range = [1; 3];
        container
            .axes
            .iter()
            .zip(&container.shape)
            .for_each(|(axis, it)| range[axis.index()] = it.on(domain));
        range
    };
    match &stmt.kind {
        ProgramStmtKind::Call(call) => {
            let range = program.stencils[call.stencil].domain.map(|it| it.on(domain));
            for (_, param, part) in call.used_fields(program) {
                note(part, range, param.access.is_read(), param.access.is_written());
            }
        }
        ProgramStmtKind::Copy { from, to } => {
            note(from, whole(from), true, false);
            note(to, whole(to), false, true);
        }
        ProgramStmtKind::Fill { target, .. } => note(target, whole(target), false, true),
        _ => {}
    }
}

type Mentions = BTreeMap<Handle<Container>, usize>;

/// How often a statement itself names each container.
fn mentions(program: &ProgramIr, stmt: &ProgramStmt) -> Mentions {
    let mut found = Mentions::new();
    stmt.own_parts(program).into_iter().for_each(|it| *found.entry(it.container).or_default() += 1);
    found
}

fn mentions_below(program: &ProgramIr, stmt: &ProgramStmt) -> Mentions {
    let inside = stmt.blocks().into_iter().flatten().map(|it| mentions_below(program, it));
    inside.fold(mentions(program, stmt), sum)
}

fn sum(mut one: Mentions, other: Mentions) -> Mentions {
    other.into_iter().for_each(|(handle, n)| *one.entry(handle).or_default() += n);
    one
}
