//! The second part of the worker's program. It holds the levels behind the OIR and everything made from them,
//! the answers to the editor, the checks of lessons, and GPU runs.
//!
//! The second part comes when it is asked for, at the latest a moment after the first answer.

pub mod answers;
#[cfg(target_arch = "wasm32")]
pub mod gpu;
pub mod levels;
pub mod programs;
#[cfg(target_arch = "wasm32")]
pub mod worker;
