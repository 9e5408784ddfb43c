//! Stencils that others wrote: found below a folder, compiled through every level, and run on small fields.

mod distinct;
mod suites;
mod expected;
mod files;
mod attempt;
mod native;

pub use attempt::{Outcome, Trial, launch, small_inputs};
pub use files::Checkout;
pub use native::{Agreed, OnBackend};
