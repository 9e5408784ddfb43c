//! Compiles variants of a stencil from its optimised OIR. All variants take the same lowerings and passes.

use super::{Compilation, Hook, Variant, route};
use crate::diag::Diagnostic;
use crate::pass::PassOptions;
use crate::pipeline::variant::ArrayOrder;
use crate::schedule::turn::Unturned;

/// Why a stencil has no such variant.
#[derive(Clone, Debug)]
pub enum NoVariant {
    /// C08: a statement reads a neighbour of the element that it writes, and the call decides which
    /// neighbour.
    Aliases(Vec<Diagnostic>),
    /// Its loops over levels cannot become loops over rows.
    Order(Unturned),
}

/// Compiles a variant of a stencil, `front`, that is compiled at least as far as the optimised OIR.
///
/// # Errors
///
/// Why there is no such variant.
pub fn back(front: &Compilation, variant: &Variant, hook: &mut dyn Hook) -> Result<Compilation, NoVariant> {
    let passes = PassOptions {
        schedule: None,
        skip: variant.skip.clone(),
        machine: variant.machine.clone(),
        steps: false,
        trace: false,
        ..front.levels.passes.clone()
    };
    let unified = match variant.aliases.as_slice() {
        [] => None,
        pairs => Some(route::compile_unified(front, pairs, &passes, hook).map_err(NoVariant::Aliases)?),
    };
    let known = unified.as_ref().unwrap_or(front);
    match variant.order {
        ArrayOrder::AlongK => route::compile_turned(known, &passes, hook).map_err(NoVariant::Order),
        ArrayOrder::AlongI => Ok(unified.unwrap_or_else(|| front.clone())),
    }
}
