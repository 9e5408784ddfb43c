//! The passes of the levels: the one that is looked at, its work, and all that they said about the text.
//!
//! [`PassesState`] is all that the page knows about them. A [`PassesEvent`] changes it, by [`PassesState::take`], which
//! answers with the [`PassesEffect`]s that the page has to carry out. One question is asked at a time.

mod event;
mod state;
mod take;

pub use event::{PassesEffect, PassesEvent};
pub use state::{PassesLook, PassesState, ToldDecisions};

#[cfg(test)]
mod tests;
