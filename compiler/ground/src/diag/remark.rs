//! Decisions of passes, with their reasons.

use super::Origin;

/// A decision of the compiler that is worth telling, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// `level/pass-name`, as `--stop-after` takes it.
    pub pass: &'static str,
    /// Whether the pass changed something here, or had to leave it.
    pub is_applied: bool,
    /// One sentence, lower-case, without a final dot, in the user's own names.
    pub message: String,
    /// The statements it is about.
    pub origins: Vec<Origin>,
    /// The predicted traffic of the whole stencil, where the decision rests on it.
    pub traffic: Option<Traffic>,
}

/// Bytes between the memory and the caches, for one run on the domain that a schedule is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    pub before: f64,
    /// With the change, whether it was made or not.
    pub after: f64,
}

/// A statement that a pass removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    pub origin: Origin,
    /// The level on which it was removed.
    pub level: &'static str,
    pub pass: &'static str,
    /// The pass's own words about it, where it has some.
    pub reason: Option<String>,
}
