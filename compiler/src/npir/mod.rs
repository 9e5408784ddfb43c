//! NPIR, the whole-array level: each statement is an operation on slices, and conditions are masks.
//!
//! A vertical pass is a range of levels with an order, a block the columns on which its statements run.
//! In a parallel pass a statement works on all levels of the block at once, in a sweep on one level
//! after the other. A branch became masks, bool arrays that are evaluated once before what depends on
//! them; a loop has a mask of the points that still go round. A region stays what it is: a slice
//! of the block.
//!
//! NPIR does not know how arrays lie in memory, and nothing of loops over i and j.

pub mod nodes;
pub mod from_oir;
pub mod visit;
pub mod print;
pub mod validate;

pub use nodes::Stencil;
