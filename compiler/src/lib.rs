//! GTScript stencils to IRs, data flow and code.
//!
//! Pure: text in, artifacts out; no files, clock, threads or randomness.
//! The crates of the floors stand below, in the order in which a stencil travels through them.

pub use isobar_ground::{call, diag, emit, entity, expr, for_elements, pass, space, target, types};

// The texts and options, and the levels to the OIR.
pub use isobar_front::{config, conventions, defir, frontend, gtir, oir, project};

// The way to the optimised OIR, the inputs of a run, and the back ends that define the meaning.
pub use isobar_reference::{debug, front, inputs, npir, numpy};

// The schedule.
pub use isobar_middle::{schedule, sdfg, tree};

// Loops, kernels and their code.
pub use isobar_code::{c, c_family, cuda, kernel, loops, wgsl};

// Code for programs of other languages.
pub mod export;

// The whole compilation, and a store of the last ones.
pub mod pipeline;
pub mod session;
