//! The first part of the worker's program: stencils up to the OIR, runs by the interpreters, and the fields.
//!
//! A visitor waits only for this part. It knows nothing of the levels behind the OIR: the second part comes
//! through `worker::SecondPart`.

pub mod compile;
#[cfg(target_arch = "wasm32")]
pub mod worker;
