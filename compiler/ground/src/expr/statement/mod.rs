//! Statements: the one shape that they have in the Definition IR, GTIR and OIR.
//!
//! The levels differ in what is assigned (`T`) and read (`A`). From the Tree IR
//! on, statements stand between loops and are nodes of a tree with them.

pub mod nodes;
pub mod visit;
pub mod print;
pub mod parse;

pub use nodes::{Stmt, StmtKind};
