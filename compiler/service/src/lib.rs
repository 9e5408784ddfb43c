//! Answers to an editor: names and their places, completions, information about the name under the pointer.
//!
//! Never fails, whatever the text. Names come from tokens, and from trees that recover from errors. Facts
//! that only a compilation knows (extents, halos, lifetimes) are those of the last text that compiled.
//! Positions are bytes; the page's worker and the language server turn them into lines and columns.
//!
//! Reading order: [`scopes`] and [`index`] hold the names of the files, and [`facts`] what the compiler knows
//! about them. [`words`] describes the language's own words, and [`analysis`] puts all of it together. Then
//! comes one file for each question, and [`desk`], which remembers.

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
