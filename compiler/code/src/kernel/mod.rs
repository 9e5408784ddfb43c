//! Kernels: what GPUs run, as code generators for them read it.
//!
//! A program of loops with a schedule for a GPU becomes kernels (`from_loops`). They tell which loops are
//! blocks, which positions the threads of a block share, and where these wait for each other. The host's part
//! tells the launches in order. Nothing is decided here. `print` writes kernels as text, and `validate` knows
//! their rules. The interpreter in `equivalence/kernel.rs` runs blocks and threads in any order, and finds
//! results that depend on this order.

pub mod nodes;
pub mod cell;
pub mod call;
mod from_loops;
pub mod pack;
pub mod print;
pub mod validate;

pub use from_loops::lower;
pub use nodes::Kernels;
