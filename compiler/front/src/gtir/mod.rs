//! GTIR: *what it means* under the parallel model.
//!
//! Every expression is typed, every conversion explicit, every rule of the
//! language checked that needs neither extents nor an order of execution.

pub mod nodes;
pub mod print;
pub mod parse;
pub mod validate;
pub mod visit;

pub mod from_defir;

pub mod analysis;

pub use nodes::Stencil;
