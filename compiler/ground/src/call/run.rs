//! Progress of an interpreter's run, and the reasons why it may end early.

use std::fmt;

use super::layout::RelativeElement;
use crate::diag::Origin;

/// At most this many iterations of one `while` at one point.
pub const MAX_ITERATIONS: u64 = 1_000_000;

/// Watches a run, and may end it.
pub trait Control {
    /// Is told now and then how many points of how many are done; answers whether to go on.
    fn progress(&mut self, done: u64, total: u64) -> bool;
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoControl;

impl Control for NoControl {
    fn progress(&mut self, _done: u64, _total: u64) -> bool {
        true
    }
}

/// Why a run ended before its end. The fields then hold what was computed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Control`] said so.
    Cancelled,
    /// The stencil did what it must not.
    Trap(Trap),
}

/// A fault at one point of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// One sentence, lower-case, without a final dot.
    pub message: String,
    pub origin: Origin,
    /// Position i, j, k in the compute domain.
    pub cell: [i64; 3],
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Cancelled => f.write_str("cancelled"),
            Stop::Trap(Trap { message, origin, cell: [i, j, k] }) => {
                write!(f, "{message}, in {} at i={i}, j={j}, k={k}", origin.stmt)
            }
        }
    }
}

impl std::error::Error for Stop {}

impl Stop {
    /// A `while` that does not end at a point.
    #[must_use]
    pub fn endless(origin: &Origin, cell: [i64; 3]) -> Self {
        let message = format!("a `while` loop did not end within {MAX_ITERATIONS} iterations");
        Stop::Trap(Trap { message, origin: origin.clone(), cell })
    }

    /// An access to an element of `name` that does not exist.
    #[must_use]
    pub fn outside(name: &str, place: &RelativeElement, origin: &Origin, cell: [i64; 3]) -> Self {
        let message = format!("`{name}{place}` does not exist");
        Stop::Trap(Trap { message, origin: origin.clone(), cell })
    }
}
