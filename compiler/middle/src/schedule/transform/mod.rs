//! Changes of a schedule tree that keep its meaning, each behind a check that answers with a reason.
//!
//! Passes choose among them by cost, and a person by a [document](super::document); the same checks hold for
//! both. A transformation that is refused leaves the tree as it is.

pub mod refusal;

pub mod merge;
pub mod swap;
pub mod distribute;
pub mod split;
pub mod peel;
pub mod unit;
mod unused;
pub mod tile;
pub mod roll;
pub mod cut;
pub mod copy;
pub mod contract;
pub mod recompute;
pub mod repeat;

pub mod placement;
pub mod residence;
pub mod barrier;

mod apply;

pub use super::visit::place::Path;
pub use refusal::Refusal;

#[cfg(test)]
mod tests;
