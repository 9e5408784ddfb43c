//! Where the text that is shown is kept, and which tab writes it.
//!
//! Each text has a name, and one tab writes it. A tab that shows the text of another one has a copy under a new name
//! from the first change on. [`WorkspaceState`] is all that the page knows about it. A [`WorkspaceEvent`] changes it, by
//! [`WorkspaceState::take`], which answers with the [`WorkspaceEffect`]s that the page has to carry out.

mod deferred;
mod event;
mod recent;
mod state;
mod take;

pub use deferred::{LONGEST_MS, SaveDelay, SaveEffect, SaveEvent};
pub use event::{WorkspaceEffect, WorkspaceEvent, WriteFacts, WriteTarget};
pub use recent::Recent;
pub use state::{LINKED, WorkspaceState};

#[cfg(test)]
mod tests;
