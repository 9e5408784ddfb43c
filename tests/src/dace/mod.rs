//! Our graphs under DaCe: exported, run there on made inputs, and compared with the debug back end.

mod prepare;
mod verdict;

pub use prepare::{Case, prepare, prepare_program};
pub use verdict::{Fate, fate};

/// Runs the cases; needs `dace`, and `numpy` that goes with it.
pub const CHECK: &str = include_str!("check.py");
