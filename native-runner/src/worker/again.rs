//! A run that a statement ended, once more with `debug`: code tells the cell, and the interpreter the value.

use std::sync::Arc;
use std::time::{Duration, Instant};

use isobar_compiler::debug;
use isobar_compiler::diag::StmtId;
use isobar_runtime::plans::Plans;

use super::room;
use crate::backends::{Backend, Failure};
use crate::compile::ConfiguredProject;
use crate::plan::{self, Callable};
use crate::wire::Order;

/// A call that may be made once more, with `debug`.
pub(super) struct Again<'a> {
    order: &'a Order,
    source: &'a ConfiguredProject,
    stencil: &'a dyn Callable,
    /// The fields that were sent; none where they are made, and nothing at all where they are too large to be kept.
    npz: Option<Option<Vec<u8>>>,
}

/// So many bytes of fields are kept for it.
const MOST_AGAIN: usize = 64 << 20;
/// It takes no longer than this; then the place is told alone.
const SECONDS_AGAIN: u64 = 2;

impl<'a> Again<'a> {
    pub(super) fn of(
        order: &'a Order,
        (source, stencil): (&'a ConfiguredProject, &'a dyn Callable),
        backend: Backend,
        npz: Option<&Vec<u8>>,
    ) -> Self {
        let npz = match npz {
            // Interpreters tell it themselves.
            _ if !backend.follows_schedules() && !backend.is_on_gpu() => None,
            None => Some(None),
            Some(it) => (it.len() <= MOST_AGAIN).then(|| Some(it.clone())),
        };
        Self { order, source, stencil, npz }
    }

    /// The failure with the message of `debug`, where that ends at the same statement and cell.
    pub(super) fn in_words_of_debug(self, failure: Failure) -> Failure {
        let Failure::Trap { message, statement, cell } = failure else { return failure };
        let told = self.message(statement, cell).unwrap_or(message);
        Failure::Trap { message: told, statement, cell }
    }

    fn message(self, statement: StmtId, cell: [i64; 3]) -> Option<String> {
        let Self { order, source, stencil, npz } = self;
        let compilation = stencil.compilation();
        let (oir, extents) = compilation.front.reference()?;
        let executors = [Backend::DEBUG.executor()];
        let room = room(order, &executors);
        let plans = Plans::of(Arc::clone(compilation));
        let mut launch = plan::launch(&order.request, source, &plans, npz?, &room).ok()?.launch;
        let mut patience = Patience(Instant::now() + Duration::from_secs(SECONDS_AGAIN));
        match debug::run(oir, extents, &mut launch, &mut patience) {
            Err(debug::Stop::Trap(trap)) if trap.origin.stmt == statement && trap.cell == cell => {
                Some(trap.message)
            }
            _ => None,
        }
    }
}

/// Lets the interpreter run until a moment.
struct Patience(Instant);

impl debug::Control for Patience {
    fn progress(&mut self, _done: u64, _total: u64) -> bool {
        Instant::now() < self.0
    }
}
