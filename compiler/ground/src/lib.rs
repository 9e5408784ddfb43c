//! Names, index space, types, diagnostics, expressions, passes and calls: every level of the compiler uses them.
//!
//! Pure, as the whole compiler: text in, artifacts out; no files, clock, threads or randomness.

// Basic modules that all others may use.
pub mod entity;
pub mod space;
pub mod types;
pub mod diag;
pub mod expr;
pub mod pass;

// The capabilities of targets, by which passes decide.
pub mod target;

// The words of a call, and common parts of the code generators.
pub mod call;
pub mod emit;
