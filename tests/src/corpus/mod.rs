//! Stencils that others wrote: found below a folder, compiled through every level, and run on small fields.

mod attempt;
mod files;

pub use attempt::{Outcome, Trial};
pub use files::Checkout;
