//! What a pass did, or why it did not.

use super::Origin;

/// A decision of the compiler that is worth telling, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `level/pass-name`, as `--after` takes it.
    pub pass: &'static str,
    /// Whether the pass changed something here, or had to leave it.
    pub is_applied: bool,
    /// One sentence, lower-case, without a final dot, in the user's own names.
    pub message: String,
    /// The statement it is about.
    pub origin: Option<Origin>,
}
