//! The trip of a stencil, and who may watch it.

pub mod stage;
pub mod levels;
pub mod registry;
pub mod compilation;
mod interface;
pub mod behind;
pub mod route;
mod variants;
pub mod pipelines;

pub use crate::pass::{Hook, NoHook, Shown, Step, StepKind};
pub use compilation::{Bound, Compilation, Contract};
pub use levels::Levels;
pub use pipelines::Pipelines;
pub use stage::Stage;
pub use variants::Variant;
