//! GTScript stencils to IRs, data flow and code.
//!
//! Pure: text in, artifacts out; no files, clock, threads or randomness.
//! The modules stand in the order in which a stencil travels through them.

// The ground floor: what every room may use.
pub mod entity;
pub mod space;
pub mod types;
pub mod diag;
pub mod expr;
pub mod pass;

// What targets can do; passes decide by it.
pub mod target;

// What is compiled, and what is chosen beside it.
pub mod project;
pub mod config;
pub mod conventions;

// Text to syntax trees; names to what they mean.
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

// What runs them, and with which inputs.
pub mod backend;
pub mod inputs;

// What carries it into programs of other languages.
pub mod export;

// What the later levels mean, to hold every door and pass against it.
pub mod equivalence;

// The trip as a whole, and the memory of the last ones.
pub mod pipeline;
pub mod session;

// What an editor asks.
pub mod service;
