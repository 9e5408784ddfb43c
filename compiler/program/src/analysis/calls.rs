//! The elements that a call touches, and the parameters that are one field.

use std::collections::BTreeSet;

use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;
use isobar_ground::space::{Axis, Reach};

use crate::nodes::{
    Container, ContainerPart, ContainerRole, ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall,
};
use crate::size::AffineSize;

/// The pairs of parameters, by position, that are one field, and which at least one of the two writes. The first
/// of each pair is the first parameter of its field.
#[must_use]
pub fn aliases(program: &ProgramIr, call: &StencilCall) -> Vec<[usize; 2]> {
    let used: Vec<_> = call.used_fields(program).collect();
    let mut pairs = Vec::new();
    for (n, (at, _, part)) in used.iter().enumerate() {
        let same = used[..n].iter().find(|it| it.2 == *part);
        let is_written = used.iter().any(|it| it.2 == *part && it.1.access.is_written());
        if let (Some((first, ..)), true) = (same, is_written) {
            pairs.push([*first, *at]);
        }
    }
    pairs
}

/// The positions of a container along an axis that a call touches or needs, as first and behind the last.
#[must_use]
pub fn touched(
    program: &ProgramIr,
    call: &StencilCall,
    (param, part): (&Param, &ContainerPart),
    axis: Axis,
    reach: Reach,
) -> (i64, AffineSize) {
    let stencil = &program.stencils[call.stencil];
    let at = axis.index();
    let start =
        program.containers[part.container].origin[at].saturating_add(stencil.origin_of(&param.name)[at]);
    let end = stencil.domain[at].moved(start).moved(i64::from(reach.hi));
    (start.saturating_add(i64::from(reach.lo)), end)
}

/// All faults of a call that every domain has: constants that are written, overlaps, and fields that are too small.
#[must_use]
pub fn faults(program: &ProgramIr, call: &StencilCall, span: Span) -> Vec<Diagnostic> {
    let stencil = &program.stencils[call.stencil];
    let used: Vec<_> = call.used_fields(program).collect();
    let mut wrong = Vec::new();
    for (n, &(_, param, part)) in used.iter().enumerate() {
        let container = &program.containers[part.container];
        let name = part.spelled(program);
        if param.access.is_written() && container.role == ContainerRole::Constant {
            wrong.push(catalog::read_only(&name, "constant", span));
        }
        for &(_, other, before) in &used[..n] {
            let is_written = param.access.is_written() || other.access.is_written();
            let is_moved = part == before && stencil.origin_of(&param.name) != stencil.origin_of(&other.name);
            if is_written && (is_moved || part.overlaps_in_part(before)) {
                wrong.push(catalog::overlapping(&before.spelled(program), &name, span));
            }
        }
        let ParamKind::Field { boundary, .. } = &param.kind else { continue };
        let is_empty = stencil.domain.iter().any(|it| it.axis.is_none() && it.offset <= 0);
        for (axis, size) in container.axes.iter().zip(&container.shape).filter(|_| !is_empty) {
            let (start, end) = touched(program, call, (param, part), axis, boundary[axis.index()]);
            let letter = axis.name();
            if start < 0 {
                wrong.push(catalog::field_too_small(&name, &param.name, letter, "start", -start, span));
            }
            if let Some(lacks) = end.beyond(*size).filter(|it| *it > 0) {
                wrong.push(catalog::field_too_small(&name, &param.name, letter, "end", lacks, span));
            }
        }
    }
    wrong
}

/// The properties in which two parts differ, with both values: their elements go one to one where there is none.
#[must_use]
pub fn differences(
    program: &ProgramIr,
    one: &ContainerPart,
    other: &ContainerPart,
) -> Vec<(&'static str, [String; 2])> {
    let [first, second] = [one, other].map(|it| &program.containers[it.container]);
    let dims = [one, other].map(|it| it.data_dims(program));
    let shape = |it: &[AffineSize]| it.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut found = Vec::new();
    let mut differ = |property, differs: bool, values| {
        if differs {
            found.push((property, values));
        }
    };
    differ("type", first.dtype != second.dtype, [first, second].map(|it| it.dtype.to_string()));
    differ("axes", first.axes != second.axes, [first, second].map(|it| it.axes.to_string()));
    differ("shape", first.shape != second.shape, [first, second].map(|it| shape(&it.shape)));
    differ("origin", first.origin != second.origin, [first, second].map(|it| format!("{:?}", it.origin)));
    differ("data dimensions", dims[0] != dims[1], dims.map(|it| format!("{it:?}")));
    found
}

/// The containers that some statement may write.
#[must_use]
pub fn written(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    written_in(program, &program.body)
}

/// The containers that some statement of a body may write.
#[must_use]
pub fn written_in(program: &ProgramIr, body: &[ProgramStmt]) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    let mut add = |stmt: &ProgramStmt| match &stmt.kind {
        ProgramStmtKind::Call(call) => {
            let written = call.used_fields(program).filter(|it| it.1.access.is_written());
            found.extend(written.map(|it| it.2.container));
        }
        ProgramStmtKind::Copy { to, .. } | ProgramStmtKind::Fill { target: to, .. } => {
            found.insert(to.container);
        }
        ProgramStmtKind::Swap(one, other) => found.extend([one.container, other.container]),
        ProgramStmtKind::Exchange(it) => found.extend(it.fields.iter().map(|it| it.container)),
        ProgramStmtKind::Host { writes, .. } => found.extend(writes.iter().map(|it| it.container)),
        ProgramStmtKind::For { .. }
        | ProgramStmtKind::While { .. }
        | ProgramStmtKind::If { .. }
        | ProgramStmtKind::Let { .. }
        | ProgramStmtKind::Group { .. }
        | ProgramStmtKind::Mark(_)
        | ProgramStmtKind::Trap(_) => {}
    };
    body.iter().for_each(|it| it.walk(&mut add));
    found
}
