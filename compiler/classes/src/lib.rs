//! A class of a request as a program, for the page and the runner.
//!
//! - [`opened`] compiles it, with what its text says of a run.
//! - [`levels`] answers its levels as texts.
//! - [`run`] runs it once, or step after step.
//! - [`calls`] tells where the time of a run went.

pub mod calls;
pub mod levels;
pub mod opened;
pub mod run;
mod texts;
