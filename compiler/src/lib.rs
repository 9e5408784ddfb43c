//! GTScript stencils to IRs, data flow and code.
//!
//! Pure: text in, artifacts out; no files, clock, threads or randomness.
//! The modules stand in the order in which a stencil travels through them.

// Basic modules that all others may use.
pub mod entity;
pub mod space;
pub mod types;
pub mod diag;
pub mod expr;
pub mod pass;

// The capabilities of targets, by which passes decide.
pub mod target;

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
pub mod npir;
pub mod tree;
pub mod schedule;
pub mod sdfg;
pub mod loops;

// Back ends that run the levels, and the inputs of a run.
pub mod backend;
pub mod inputs;

// Code for programs of other languages.
pub mod export;

// Interpreters of the later levels, against which every lowering and pass is checked.
pub mod equivalence;

// The whole compilation, and a store of the last ones.
pub mod pipeline;
pub mod session;

// Answers to an editor.
pub mod service;
