//! Kernels: what GPUs run, as code generators for them read it.
//!
//! A program of loops whose schedule is one for a GPU becomes kernels (`from_loops`): which loops are blocks, which
//! positions the threads of a block share, where these wait for each other, and what the host launches in which order.
//! Nothing is decided here. `print` writes it as text, `validate` knows its rules, and the interpreter in
//! `equivalence/kernel.rs` runs it with blocks and threads in any order and finds whatever depends on that order.

pub mod nodes;
pub mod cell;
pub mod call;
mod from_loops;
pub mod pack;
pub mod print;
pub mod validate;

pub use from_loops::lower;
pub use nodes::Kernels;
