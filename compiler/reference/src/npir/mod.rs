//! NPIR, the whole-array level: each statement is an operation on slices, and conditions are masks.
//!
//! A vertical pass is a range of levels with an order, and a block is a range of columns on which its
//! statements run. In a parallel pass a statement works on all levels of the block at once, in a sweep on one
//! level after the other.
//!
//! A branch becomes masks: bool arrays that are evaluated once, before the statements that depend on them. A
//! loop has a mask of the points that continue. A region stays a region: a slice of the block.
//!
//! NPIR knows neither the layout of arrays in memory nor loops over i and j.

pub mod nodes;
pub mod from_oir;
pub mod visit;
pub mod print;
pub mod validate;

pub use nodes::Stencil;
