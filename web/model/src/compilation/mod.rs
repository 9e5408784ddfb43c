//! The compiler in its worker: the question that it works on, the newest answer, and the reason where there is none.
//!
//! [`CompilerState`] is all that the page knows about it. A [`CompilerEvent`] changes it, by
//! [`CompilerState::take`], which answers with the [`CompilerEffect`]s that the page has to carry out. One question
//! is asked at a time: an edit that comes meanwhile is asked about when the answer is there, which is dropped.

mod answer;
mod event;
mod state;
mod take;

pub use answer::{CompilerAnswer, Freshness, StageView, n_errors};
pub use event::{CompileFacts, CompilerEffect, CompilerEvent};
pub use state::{CompilerFailure, CompilerState};

#[cfg(test)]
mod tests;
