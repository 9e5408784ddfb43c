//! The schedule tree: in which order, merged how, placed where.
//!
//! Here, and nowhere else, loops are ordered, merged, tiled, given to threads and
//! vector lanes, and temporaries get their storage. It does not know a target's
//! name: passes read the target as data.

pub mod nodes;
pub mod from_tree;
pub mod visit;
pub mod print;
pub mod parse;
pub mod validate;
pub mod analysis;
pub mod passes;

pub use nodes::Tree;
