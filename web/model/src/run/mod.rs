//! Runs: in a worker of this tab, on the runner, and the comparison of both; and the steps of a run that goes on.
//!
//! [`Runs`] is all that the page knows about them. An [`RunEvent`] changes it, by [`Runs::take`], which answers with
//! the [`RunEffect`]s that the page has to carry out. Nothing waits in here: an answer is an event too. Each question
//! has a [`Ticket`], so an answer that comes late is told from the one that is waited for.

// Data: how runs end, what they leave, what is said about them.
mod calls;
mod failure;
mod measures;
mod results;
mod words;

// The way of a run, and what moves it.
mod event;
mod plan;
mod state;

// The work of each event.
mod clock;
mod heard;
mod steps;
mod take;

pub use calls::CallRows;
pub use clock::{FIRST_STEPS, StepClock};
pub use event::{JobAsk, RunEffect, RunEvent, RunnerTrouble, TabAsk, WorkerGone};
pub use failure::{Advice, Cause, Failure};
pub use measures::{Measures, RunPart, Timing};
pub use plan::{RunFacts, RunPlan};
pub use results::{BenchmarkResult, Machine, RunResult, RunResults};
pub use state::{
    ActiveRun, AfterStop, Choice, HERE, Outcome, Phase, RunState, RunTarget, Runs, Ticket, TimeStep,
};
pub use words::{Activity, Notice, RunProgress};

/// The back end that defines the meaning.
const DEBUG: &str = "debug";

#[cfg(test)]
mod tests;
