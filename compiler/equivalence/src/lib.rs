//! Interpreters of the later levels: the schedule tree, the SDFG, loops and kernels.
//!
//! The debug back end defines the meaning on the OIR before any pass. These interpreters run the levels
//! behind it as they stand, so that every door and every pass can be compared with it. A seed decides each
//! order that must not matter. Such are the orders of the iterations of a parallel loop, and of the nodes of
//! a state that no path connects. Values that must not be kept are forgotten: a register is undefined again
//! in each iteration that has its own.

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
