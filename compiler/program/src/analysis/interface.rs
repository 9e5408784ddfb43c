//! The arguments of a program, as the signature of a stencil has them.

use std::collections::BTreeSet;

use isobar_ground::call::signature::{AccessKind, Param, ParamKind, Signature};
use isobar_ground::entity::Handle;

use super::calls::written;
use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStmtKind};
use crate::scalar::nodes::ScalarRole;

/// The fields and scalars that a caller gives, with the points around the domain that the arrays have.
#[must_use]
pub fn signature(program: &ProgramIr) -> Signature {
    let (read, written) = (read(program), written(program));
    let is_given = |it: &Container| matches!(it.role, ContainerRole::Argument | ContainerRole::Constant);
    let fields = program.containers.iter().filter(|it| is_given(it.1)).map(|(handle, it)| {
        let access = match (read.contains(&handle), written.contains(&handle)) {
            (true, true) => AccessKind::ReadWrite,
            (false, true) => AccessKind::Write,
            (_, false) => AccessKind::Read,
        };
        Param { name: it.name.clone(), kind: it.param_kind(), access, is_keyword_only: false, span: it.span }
    });
    let params = fields.chain(scalar_params(program)).collect();
    Signature { name: program.name.clone(), params, min_levels: 1 }
}

/// The scalars that a caller gives.
pub fn scalar_params(program: &ProgramIr) -> impl Iterator<Item = Param> {
    program.scalars.values().filter(|it| it.role == ScalarRole::Argument).map(|it| Param {
        name: it.name.clone(),
        kind: ParamKind::Scalar { dtype: it.dtype, default: None },
        access: AccessKind::Read,
        is_keyword_only: false,
        span: it.span,
    })
}

/// The containers that some statement reads.
#[must_use]
pub fn read(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| match &stmt.kind {
            ProgramStmtKind::Call(call) => {
                let used = call.used_fields(program).filter(|it| it.1.access.is_read());
                found.extend(used.map(|it| it.2.container));
            }
            ProgramStmtKind::Copy { from, .. } => drop(found.insert(from.container)),
            ProgramStmtKind::Swap(one, other) => found.extend([one.container, other.container]),
            ProgramStmtKind::Exchange(it) => found.extend(it.fields.iter().map(|it| it.container)),
            ProgramStmtKind::Host { reads, .. } => found.extend(reads.iter().map(|it| it.container)),
            _ => {}
        });
    });
    found
}
