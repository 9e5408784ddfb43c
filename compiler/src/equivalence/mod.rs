//! What the later levels mean: interpreters of the schedule tree and of the SDFG.
//!
//! The debug back end defines the meaning on the OIR before any pass. These run the levels
//! behind it as they stand, so that every door and every pass can be held against it. What
//! must not matter they decide by a seed: in which order the iterations of a parallel loop
//! run, and the nodes of a state that no path connects. What must not be kept they forget:
//! a register is undefined again in each iteration that has its own.

pub mod run;

mod program;
mod memory;
mod machine;
mod shuffle;
mod races;

pub mod schedule;
pub mod sdfg;
pub mod loops;
pub mod kernel;

pub mod journey;
pub mod compare;

#[cfg(test)]
mod tests;
