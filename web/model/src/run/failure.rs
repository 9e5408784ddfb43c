//! Why a run ended without a result.

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::job::EndReason;
use isobar_protocol::problem::{LimitHit, Problem};
use isobar_protocol::why::Why;

use super::event::{RunnerTrouble, WorkerGone};

/// Why a run ended without a result, with the runner's own advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub cause: Cause,
    pub diagnostics: Vec<Diagnostic>,
    pub next: Vec<String>,
    /// The edit that it belongs to.
    pub revision: u64,
}

/// The reason itself, which the page puts into words.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// More than a tab takes.
    TooManyPoints(i64),
    /// The worker's word, and the cell where the run stopped itself.
    Worker {
        why: Why,
        cell: Option<[i64; 3]>,
    },
    /// The browser's own words.
    Browser(String),
    FellOver {
        message: String,
        advice: Advice,
    },
    NotLoaded(String),
    /// The result was lost while it was drawn.
    FellOverDrawing,
    /// An answer of another kind.
    Unexpected,
    NoRunner,
    RunnerLost,
    RunnerGarbled(String),
    /// The runner's words, and the limit that was hit.
    Runner {
        message: String,
        limit: Option<LimitHit>,
    },
    /// The runner's words about a run that stopped itself at a cell.
    Trap {
        message: String,
        cell: Option<[i64; 3]>,
    },
    Ended(EndReason),
    /// No back end of the runner is chosen.
    NothingToMeasure,
    /// The worker fell over the checks of a lesson.
    NotChecked(String),
    /// The lesson itself is wrong.
    LessonAtFault(Why),
}

/// Advice after a worker fell over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    AnotherText,
    SmallerDomain,
}

/// A run that ended without a result, before its revision is known.
#[derive(Debug)]
pub(super) enum Aborted {
    Cancelled,
    Failed(Box<Failure>),
}

impl From<Cause> for Aborted {
    fn from(cause: Cause) -> Self {
        Failure::from(cause).into()
    }
}

impl From<Failure> for Aborted {
    fn from(failure: Failure) -> Self {
        Aborted::Failed(Box::new(failure))
    }
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self { cause, diagnostics: Vec::new(), next: Vec::new(), revision: 0 }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let message = if problem.detail.is_empty() { problem.title } else { problem.detail };
        let cause = Cause::Runner { message, limit: problem.limit };
        Self { cause, diagnostics: problem.diagnostics, next: problem.next, revision: 0 }
    }
}

impl From<RunnerTrouble> for Failure {
    fn from(trouble: RunnerTrouble) -> Self {
        match trouble {
            RunnerTrouble::None => Cause::NoRunner.into(),
            RunnerTrouble::Lost => Cause::RunnerLost.into(),
            RunnerTrouble::Refused(problem) => (*problem).into(),
            RunnerTrouble::Garbled(what) => Cause::RunnerGarbled(what).into(),
            RunnerTrouble::NothingToMeasure => Cause::NothingToMeasure.into(),
        }
    }
}

impl Aborted {
    /// The end of a run whose worker is gone.
    pub(super) fn gone(how: WorkerGone, advice: Advice) -> Self {
        match how {
            WorkerGone::Stopped => Aborted::Cancelled,
            WorkerGone::Crashed(message) => Cause::FellOver { message, advice }.into(),
            WorkerGone::NotLoaded(message) => Cause::NotLoaded(message).into(),
            WorkerGone::Refused(message) => Cause::Browser(message).into(),
        }
    }
}
