//! What a call passes to kernels, and what it learns from them.

use std::fmt;

use super::cell::NONE;
use super::nodes::Kernels;
use crate::backend::signature::{ParamKind, Signature};
use crate::diag::StmtId;
use crate::space::{Affine, AxisSet, Domain};

/// What stands for an array of the program in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its position in the launch.
    pub position: usize,
    /// Of a field.
    pub axes: Option<AxisSet>,
}

/// Why a device cannot carry out a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no memory for it, whatever the device has.
    OutOfMemory,
    /// A sentence that says what stands in the way, and what to do.
    Other(String),
}

impl Refused {
    /// The domain is too large; `what` says for what.
    #[must_use]
    pub fn too_large(what: &str) -> Self {
        Self::Other(format!("the domain {what}"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::OutOfMemory => f.write_str("no device has so much memory"),
            Refused::Other(why) => f.write_str(why),
        }
    }
}

/// By position in the program's arrays; none for what a run allocates.
#[must_use]
pub fn places(kernels: &Kernels, signature: &Signature) -> Vec<Option<Place>> {
    let arguments = &kernels.program.arguments;
    let place = |at: usize| {
        let name = &kernels.program.arrays[at].stencil_name;
        let is_passed = arguments.contains(&at);
        let position = signature.params.iter().position(|it| is_passed && it.name == *name)?;
        let axes = match signature.params[position].kind {
            ParamKind::Field { axes, .. } => Some(axes),
            ParamKind::Scalar { .. } => None,
        };
        Some(Place { position, axes })
    };
    (0..kernels.program.arrays.len()).map(place).collect()
}

/// The statement and the cell at which a run has to end, by what its kernels left in the slots.
#[must_use]
pub fn ended(kernels: &Kernels, slots: &[u32], domain: Domain) -> Option<(StmtId, [i64; 3])> {
    let raised = kernels.places.iter().zip(slots).filter(|(_, number)| **number != NONE);
    let told = raised.map(|(place, &number)| {
        let [i, j, k] = place.cell_of(number, kernels.halo, domain);
        let (columns, rows) = (domain.i + 2 * kernels.halo, domain.j + 2 * kernels.halo);
        // Where levels have no order, the number begins with the level itself.
        let has_turns = place.trap.turn != Affine::default();
        let turn = if has_turns { i64::from(number) / (columns * rows) } else { 0 };
        ((place.trap.sweep, turn, place.trap.outermost, k, j, i), (place.trap.statement, [i, j, k]))
    });
    // Of equal ones the first.
    told.reduce(|first, next| if next.0 < first.0 { next } else { first }).map(|it| it.1)
}
