//! Scalar expressions: Python over numbers, typed before a run.
//!
//! `nodes` is the tree, `from_python` types a text, `print` writes it back, and `evaluate` computes it with the
//! rules of `numbers`. An integer that leaves 64 bits ends a run; nothing wraps.

pub mod nodes;
pub mod from_python;
pub mod print;
pub mod numbers;
pub mod evaluate;

pub use evaluate::{NoValue, evaluate};
pub use nodes::{ScalarExpr, ScalarType, ScalarValue, ScalarVariable};

#[cfg(test)]
mod tests;
