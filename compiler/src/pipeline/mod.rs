//! The way of a stencil through all levels, and hooks to watch it.

pub mod stage;
pub mod levels;
pub mod registry;
pub mod compilation;
mod interface;
pub mod behind;
pub mod route;
mod schedule_variants;
pub mod pipelines;
pub mod variant;
pub mod back;
pub mod plan;

pub use crate::pass::{Hook, LevelView, NoHook, Step, StepKind};
pub use back::{NoVariant, back};
pub use compilation::{BoundLaunch, Compilation, Contract};
pub use levels::Levels;
pub use pipelines::Pipelines;
pub use plan::{Plan, Program};
pub use schedule_variants::ScheduleVariant;
pub use stage::Stage;
pub use variant::{ArrayOrder, ProgramKind, Variant};

#[cfg(test)]
mod tests;
