//! The way of a stencil through all levels, and hooks to watch it.

pub mod levels;
pub mod registry;
pub mod compilation;
pub mod route;
mod lowering;
mod written;
mod schedule_variants;
pub mod pipelines;
pub mod variant;
pub mod back;
pub mod plan;
// Several calls of a program.
pub mod group;
// All of a program.
pub mod whole;

pub use crate::front::Stage;
pub use crate::front::contract::{BoundLaunch, Contract};
pub use crate::pass::{Hook, LevelView, NoHook, Step, StepKind};
pub use back::{NoVariant, back};
pub use compilation::Compilation;
pub use levels::Levels;
pub use pipelines::Pipelines;
pub use plan::{Plan, Program};
pub use schedule_variants::ScheduleVariant;
pub use variant::{ArrayOrder, ProgramKind, Variant};

#[cfg(test)]
mod tests;
