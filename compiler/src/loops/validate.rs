//! The rules of this level.

use super::nodes::Program;

/// All violations, not the first alone.
#[must_use]
pub fn validate(_program: &Program) -> Vec<String> {
    Vec::new()
}
