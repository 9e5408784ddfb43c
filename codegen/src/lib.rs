//! From loops over elements to machine code in this process, by Cranelift and by an assembler of our own.
//!
//! ```text
//! loops::Program ─┬─▶ Shape (sizes, strides, memory) ─┬─▶ translate ─▶ Cranelift ─┬─▶ Object ─▶ Machine ─▶ run(frame)
//!                 │                                   └─▶ wide (512 or 256 bits) ─┘
//! ```
//!
//! This crate makes code and enters it. Calls of stencils, the origin of arrays, the number of threads, and
//! the place where code is kept are the runtime's. Code needs one thing of its host: a [`Team`] of threads
//! that share a loop.
//!
//! Reading order:
//!
//! - [`Shape`]: the values that a call fixes before code is made
//! - `translate`: functions, loops, statements, with their parts `control`, `memory`, `expression`,
//!   `formula`
//! - `lanes`: vectors of 128 bits; `wide`: vectors of 512 and 256 bits
//! - `host`: the functions that code calls
//! - [`Object`]: all of that as code, which can be kept
//! - [`Machine`]: code that is loaded and can be entered
//!
//! # Units and orders
//!
//! Strides are in elements and signed, sizes and starts of what a run allocates in bytes or elements as the
//! field says. A domain is `[i, j, k]`. The dimensions of an array are in the order of its container: first
//! its axes in the order I, J, K, then its data dimensions.

mod shape;
mod translate;
mod control;
mod memory;
mod expression;
mod formula;
mod lanes;
mod wide;
mod host;
mod object;
mod machine;

pub use host::{RunOutcome, Team, TrapReport, word};
pub use machine::Machine;
pub use object::{Object, Options, check, vector_bits};
pub use shape::{ArgumentShape, ArrayShape, Shape};

/// The vectors of machine code that is made here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// The widest that the processor has, as far as they are known here.
    #[default]
    Widest,
    /// Those of 256 bits, where they are known here.
    Half,
    /// Those of 128 bits, which all processors have.
    Common,
}
