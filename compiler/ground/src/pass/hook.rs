//! Observers of a compilation, which time its steps or print their results. The compiler has no clock.

use std::any::Any;
use std::fmt;

use super::log::LogEntry;
use crate::diag::Listing;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// From one level to the next.
    Door,
    /// All passes of a level.
    Pipeline,
    Pass,
    /// It was computed inside the step that is open, and is reported when that step ends.
    Analysis,
}

/// A step: a door (`gtir`), a pipeline (`oir`), a pass (`oir/merge-horizontal-executions`) or an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub kind: StepKind,
    pub name: &'static str,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A level that can be looked at; the text is made when it is asked for.
pub trait LevelView {
    fn listing(&self) -> Listing;

    /// The level itself, for those who know its type; none of a level that no pass changes.
    fn level(&self) -> Option<&dyn Any> {
        None
    }

    /// The last change that the pass made, as it tells it.
    fn told(&self) -> Option<&str> {
        None
    }
}

impl<F: Fn() -> Listing> LevelView for F {
    fn listing(&self) -> Listing {
        self()
    }
}

/// Is told when a step begins and ends. Passes and analyses lie within the pipeline that they belong to.
pub trait Hook {
    fn begin(&mut self, _step: Step) {}

    fn end(&mut self, _step: Step) {}

    /// Shows the level before its first pass, and after each pass that changed it.
    fn show(&mut self, _step: Step, _level: &dyn LevelView) {}

    /// The result of a step keeps the rules of its level. Debug builds check that after every door and every pass.
    fn validated(&mut self, _step: Step) {}

    /// Whether enough was seen: no further pass runs then.
    fn is_over(&self) -> bool {
        false
    }

    /// Whether it holds the levels that it sees to their rules itself, and lives with one that breaks them.
    fn holds_rules(&self) -> bool {
        false
    }

    /// A pass reports a value.
    fn log(&mut self, _logged: &LogEntry) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHook;

impl Hook for NoHook {}
