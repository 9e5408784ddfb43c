//! GTScript to the optimised OIR: the text, and the first three levels.

use isobar_ground::{diag, entity, expr, pass, space, types};

// The input of a compilation: the texts, the options and the usual values of numbers.
pub mod project;
pub mod config;
pub mod conventions;

// Text to syntax trees; names to their meanings.
pub mod frontend;

// The levels, each lowered from the one before.
pub mod defir;
pub mod gtir;
pub mod oir;
