//! Which scalars have a value on every way to a statement.

use std::collections::BTreeSet;

use isobar_ground::entity::Handle;

use crate::nodes::{ProgramStmt, ProgramStmtKind};
use crate::scalar::ScalarVariable;

/// The scalars with a value, and the loops around the statement.
#[derive(Clone, Debug, Default)]
pub(super) struct ScalarScope {
    pub(super) assigned: BTreeSet<Handle<ScalarVariable>>,
    /// The variables of the loops around, from outside in.
    pub(super) loops: Vec<Handle<ScalarVariable>>,
}

/// Whether a body always ends the run.
pub(crate) fn ends(body: &[ProgramStmt]) -> bool {
    matches!(body.last().map(|it| &it.kind), Some(ProgramStmtKind::Trap(_)))
}

impl ScalarScope {
    /// The scalars that have a value behind an `if`, given those behind its arms. An arm that ends the run has
    /// nothing behind it.
    pub(super) fn join(&mut self, then: (Self, bool), otherwise: (Self, bool)) {
        self.assigned = match (then, otherwise) {
            ((_, true), (it, _)) | ((it, _), (_, true)) => it.assigned,
            ((one, false), (other, false)) => one.assigned.intersection(&other.assigned).copied().collect(),
        };
    }
}
