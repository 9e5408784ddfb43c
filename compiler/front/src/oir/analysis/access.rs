//! How a stencil accesses each parameter.

use std::fmt;

use rustc_hash::FxHashSet;

use super::super::nodes::{Access, Field, Scalar, Stencil, Stmt};
use super::definite_assignment::written_whole;
use super::extents::Extents;
use crate::entity::SideTable;
use crate::expr::ExprKind;

/// How a stencil accesses a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Nothing.
    #[default]
    None,
    /// It is never written.
    Read,
    /// Every element of the compute domain is written, and before any of them is read.
    Write,
    /// Its earlier value may matter: it is read before it is written, or written in part.
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
    let (mut read, mut written) = (FxHashSet::default(), FxHashSet::default());
    for placed in stencil.placed() {
        stencil.executions[placed.execution].each_touch(&mut |touch| {
            if let Some(field) = touch.what.field()
                && extents.meets(placed.execution, touch.scope.region)
            {
                if touch.is_write {
                    written.insert(field)
                } else {
                    read.insert(field)
                };
            }
        });
    }
    let whole = written_whole(stencil, extents);
    let mut kinds = SideTable::default();
    for field in stencil.fields.handles() {
        let kind = match (read.contains(&field), written.contains(&field)) {
            (false, false) => AccessKind::None,
            (true, false) => AccessKind::Read,
            (_, true) if whole.contains(&field) => AccessKind::Write,
            (_, true) => AccessKind::ReadWrite,
        };
        kinds.insert(field, kind);
    }
    kinds
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
