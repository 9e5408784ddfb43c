//! What an editor asks: names and their places, completions, what a thing under the pointer is.
//!
//! Never fails, whatever the text: names come from trees that recover and from tokens, and what only a compilation
//! knows (extents, halos, lifetimes) is that of the last text that compiled. Positions are bytes; the page's worker
//! and the language server turn them into lines and columns.
//!
//! Reading order: [`scopes`] and [`index`] are the names of the files, [`facts`] what the compiler knows about
//! them, [`words`] what the language says of its own, [`analysis`] all of it together; then one file for each thing
//! that can be asked, and [`desk`], which remembers.

pub mod scopes;
pub mod index;
pub mod facts;
pub mod words;
pub mod analysis;

pub mod highlight;
pub mod hover;
pub mod signature;
pub mod completion;
pub mod folding;
pub mod format;
pub mod desk;
pub mod navigate;
pub mod rename;

pub use analysis::{Analysis, Edit};
pub use desk::Desk;
pub use facts::Facts;

#[cfg(test)]
mod tests;
