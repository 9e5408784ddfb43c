//! The Tree IR: loops and scopes *made explicit*, before any schedule.
//!
//! Every field is a container with a shape, every access a full-rank index into
//! it. The loops stand in the order of the OIR; nothing is merged, tiled or
//! placed: that is the schedule tree's.

pub mod nodes;
pub mod from_oir;
// Of several stencils.
pub mod splice;
pub mod visit;
pub mod coverage;
pub mod print;
pub mod validate;

pub use nodes::Tree;
