//! OIR, the optimizable IR: which statements run together, in which k order.
//!
//! OIR decides *when* a statement runs relative to the others. It does not know
//! loops over i and j, memory layouts, caches of a machine, or threads: those
//! belong to the rooms downstream.

pub mod nodes;
pub mod print;
pub mod parse;
pub mod validate;
pub mod visit;
mod names;
mod compact;

pub mod from_gtir;
pub mod unify;

pub mod analysis;

pub mod passes;

pub use nodes::Stencil;
