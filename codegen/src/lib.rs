//! From loops over elements to machine code in this process, by Cranelift and by an assembler of our own.
//!
//! ```text
//! loops::Program ─┬─▶ Shape (sizes, strides, memory) ─┬─▶ translate ─▶ Cranelift ─┬─▶ Object ─▶ Machine ─▶ run(frame)
//!                 │                                   └─▶ wide (512 or 256 bits) ─┘
//! ```
//!
//! This crate makes code and enters it. It does not know what a call of a stencil is, where arrays come from, which
//! threads there are, or where code is kept: that is the runtime's. What code needs of its host, threads that share a
//! loop, is a [`Team`].
//!
//! Reading order: [`Shape`] (what a call fixes before code is made), `translate` (functions, loops, statements),
//! `control`, `memory`, `expression`, `formula` (the parts of that), `lanes` (vectors of 128 bits), `wide` (vectors of
//! 512 and 256 bits), `host` (what code calls), [`Object`] (how all that becomes code, which can be kept), [`Machine`] (how
//! it is loaded, and entered).
//!
//! # Units and orders
//!
//! Strides are in elements and signed, sizes and starts of what a run allocates in bytes or elements as the field
//! says. A domain is `[i, j, k]`; dimensions of an array are in the order of its container: the axes that it has, as
//! I, J, K, then its data dimensions.

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

pub use host::{Ended, Raised, Team, word};
pub use machine::Machine;
pub use object::{Object, Options, check, vector_bits};
pub use shape::{ArrayShape, Given, Shape};

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
