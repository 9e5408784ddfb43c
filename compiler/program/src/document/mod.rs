//! The program document: what a person or a tool writes, as JSON.
//!
//! `nodes` has its entries, `entries` the order of those with names, `places` finds the bytes of an entry, and
//! `read` puts them together. Nothing is resolved here: names and expressions are texts.

pub mod entries;
pub mod nodes;
pub mod places;
pub mod read;

pub use entries::Entries;
pub use nodes::ProgramDocument;
pub use read::{ReadDocument, read};
