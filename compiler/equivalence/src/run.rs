//! How a run is asked for, and how it may end.

use std::fmt;

use isobar_compiler::debug::{MAX_ITERATIONS, Trap};
use isobar_compiler::diag::StmtId;

/// The choices for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Decides every order that must not matter; without it everything runs in the order in which it is written.
    pub seed: Option<u64>,
    /// After so many turns at one cell, a `while` loop counts as endless.
    pub max_turns: u64,
    /// Whether it is noted which statement wrote each element last.
    pub keeps_writers: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: None, max_turns: MAX_ITERATIONS, keeps_writers: false }
    }
}

impl Options {
    /// With every order that must not matter decided by `seed`.
    #[must_use]
    pub fn shuffled(seed: u64) -> Self {
        Self { seed: Some(seed), ..Self::default() }
    }
}

/// Which statement wrote each element of the arguments last.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// By parameter, then by position in memory; empty where it was not noted.
    pub(super) of_params: Vec<Vec<Option<StmtId>>>,
}

impl Writers {
    /// The statement that wrote the element at a position in the memory of a parameter.
    #[must_use]
    pub fn of(&self, param: usize, position: usize) -> Option<StmtId> {
        self.of_params.get(param)?.get(position).copied().flatten()
    }
}

/// Why a run ended before its end. The fields then hold what was computed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The stencil did what it must not; of several such places it is the one where the debug back end stops.
    Trap(Trap),
    /// The level does not hold together: an index leaves its container, a symbol has no value. A bug of ours.
    Fault(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Trap(Trap { message, origin, cell: [i, j, k] }) => {
                write!(f, "{message}, in {} at i={i}, j={j}, k={k}", origin.stmt)
            }
            Stop::Fault(what) => write!(f, "the level is wrong: {what}"),
        }
    }
}

impl std::error::Error for Stop {}
