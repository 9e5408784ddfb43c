//! The schedule tree: in which order, merged how, placed where.
//!
//! Here, and nowhere else, loops are merged, change places, and are given to
//! threads and vector lanes. It does not know a target's name: passes read the
//! target as data. Every index is a loop variable plus a number, or is found at run time and checked.

pub mod nodes;
pub mod limits;
pub mod from_tree;
pub mod turn;
pub mod visit;
pub mod print;
pub mod parse;
pub mod validate;
pub mod analysis;
pub mod transform;
pub mod step;
pub mod document;
pub mod passes;

pub use nodes::Tree;
