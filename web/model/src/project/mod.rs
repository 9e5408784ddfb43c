//! The workspace: its files, the choices of its runs, and which of them is an edit.
//!
//! [`ProjectState`] is all of it. A [`ProjectEvent`] changes it, by [`ProjectState::take`], which answers with the
//! [`ProjectEffect`]s that the page has to carry out. Each text and each choice has one place, in the form of a link.

mod event;
mod state;
mod take;

pub use event::{ProjectEffect, ProjectEvent};
pub use state::{MAIN, ProjectState};

#[cfg(test)]
mod tests;
