//! Loops and statements over elements: what a graph becomes before it is the text of a target, or machine code.
//!
//! Maps and loop regions are loops, tasklets are assignments, and all names mean one thing in the whole program.
//! Targets differ in how they write it down, not in what it says.

pub mod ahead;
pub mod hoist;
pub mod nodes;
pub mod repeat;
pub mod uses;

mod choose;
mod declare;
mod extrema;
mod from_sdfg;
mod reserved;
mod rows;
#[cfg(test)]
mod samples;

pub use from_sdfg::{levels, lower};
pub use nodes::Program;
