//! How runs stand.

use std::collections::VecDeque;

use isobar_protocol::bench::Benchmark;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::EndReason;
use isobar_protocol::problem::Problem;
use isobar_protocol::worker::Which;

use super::clock::StepClock;
use super::failure::Failure;
use super::plan::{PlanStep, RunFacts, RunPlan};
use super::results::{RunResult, RunResults};
use super::words::RunProgress;

/// The back ends that run in a tab: the fast one, the one that defines the meaning, and two on the browser's
/// GPU. The first of these has the bits of `debug`; the other computes with f32 in place of f64.
pub const HERE: [&str; 4] = ["numpy", super::DEBUG, "webgpu", "webgpu-fast"];

/// Where the next run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunTarget {
    #[default]
    Here,
    Runner,
}

/// The choice of the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub place: RunTarget,
    /// The back end of the tab, one of [`HERE`].
    pub backend: &'static str,
}

/// The name of a question: an answer with another one is late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(pub(super) u64);

/// All that the page knows about runs.
#[derive(Debug)]
pub struct Runs<B> {
    pub state: RunState<B>,
    pub results: RunResults,
    /// How far the run is; kept until the next one, so that its last word can be read.
    pub progress: Option<RunProgress>,
    pub clock: StepClock,
    pub choice: Choice,
    /// The edit that is shown.
    pub revision: u64,
    /// The edit of the run that began last.
    pub(super) begun: u64,
    /// Whether the last text that was compiled has errors.
    pub(super) has_errors: bool,
    /// Whether it can be taken step by step.
    pub(super) has_steps: bool,
    pub(super) n_tickets: u64,
    pub(super) leaving: Option<Leaving>,
}

/// How the last run stands.
#[derive(Debug)]
pub enum RunState<B> {
    Rest(Outcome),
    /// For the compiler's word on the newest text, which tells what a run takes.
    Waiting(ActiveRun<B>),
    Running(ActiveRun<B>),
    /// The user asked for the end.
    Stopping(ActiveRun<B>, AfterStop),
    /// A time step is taken; what was there before is shown meanwhile.
    Stepping(Outcome, TimeStep),
}

/// How the last run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Outcome {
    /// There was none.
    #[default]
    Empty,
    /// On this back end.
    Done(String),
    Failed(Box<Failure>),
    Cancelled,
}

/// The next thing after a run that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterStop {
    Rest,
    /// The run that is chosen then.
    RunChosen,
}

/// A run that is not over.
#[derive(Debug)]
pub struct ActiveRun<B> {
    pub(super) plan: RunPlan,
    /// The back end that it is on.
    pub(super) backend: String,
    pub(super) part: Part,
    /// The parts after this one.
    pub(super) rest: VecDeque<PlanStep<B>>,
    /// Its job on the runner, which can be cancelled.
    pub(super) job: Option<String>,
    /// Whether a part that fails leaves the run as good: a lesson is passed even if its text is too large to run here.
    pub(super) is_lenient: bool,
}

/// The present part of a run.
#[derive(Debug)]
pub(super) enum Part {
    /// It has not begun.
    Ahead,
    /// The page tells what it is of.
    Preparing(Ticket, Prepared),
    Here {
        ticket: Ticket,
        backend: String,
        which: Which,
        facts: RunFacts,
        is_long: bool,
    },
    /// The runner is asked what it can do; its job comes next.
    Reaching(Ticket, JobKind),
    Job {
        ticket: Ticket,
        kind: JobKind,
        facts: RunFacts,
        told: Box<Told>,
    },
    Fetching {
        ticket: Ticket,
        backend: String,
        facts: RunFacts,
        fields: Vec<FieldInfo>,
    },
    Storing(Ticket, Which, Box<RunResult>),
    /// The result of this count is not in the picture yet.
    Showing(Which, u64),
    Comparing {
        ticket: Ticket,
        here: String,
        backend: String,
    },
    Checking(Ticket, RunFacts),
}

/// The part that begins when the page has told the facts.
#[derive(Debug)]
pub(super) enum Prepared {
    Here { backend: String, which: Which },
    Job(JobKind),
    Checking,
}

/// A job on the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobKind {
    Run(String),
    Measure,
}

/// The words of a job so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) fields: Vec<FieldInfo>,
    pub(super) benchmark: Option<Box<Benchmark>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) trap: Option<(String, Option<[i64; 3]>)>,
    pub(super) ended: Option<(EndReason, Option<Problem>)>,
}

/// A time step that is being taken.
#[derive(Debug)]
pub struct TimeStep {
    pub(super) part: StepPart,
    /// When it began.
    pub(super) since_ms: f64,
    /// Whether it takes so long that it is shown as a run, and can be stopped.
    pub(super) is_long: bool,
    /// Whether the user asked for the end.
    pub(super) stop: Option<AfterStop>,
}

/// The present part of a time step.
#[derive(Debug)]
pub(super) enum StepPart {
    Preparing { ticket: Ticket, restart: bool, count: u64 },
    Asked { ticket: Ticket, backend: &'static str, facts: RunFacts },
    Storing { ticket: Ticket, result: Box<RunResult>, step: u64, ms: f64 },
    Showing { generation: u64, step: u64, ms: f64 },
    Recording(Ticket),
}

/// Something of before that has yet to end.
#[derive(Debug)]
pub(super) enum Leaving {
    /// A run whose text is gone.
    Run(Ticket),
    /// A time step that a run came after, with its result on its way to the keeper.
    Step(Ticket, Box<RunResult>),
}

/// How the last run stands, for views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Empty,
    /// On this back end.
    Working(String),
    Done(String),
    Failed,
    Cancelled,
}

impl<B> Default for RunState<B> {
    fn default() -> Self {
        RunState::Rest(Outcome::Empty)
    }
}

impl<B> Default for Runs<B> {
    fn default() -> Self {
        Self {
            state: RunState::default(),
            results: RunResults::default(),
            progress: None,
            clock: StepClock::default(),
            choice: Choice { place: RunTarget::Here, backend: HERE[0] },
            revision: 0,
            begun: 0,
            has_errors: false,
            has_steps: false,
            n_tickets: 0,
            leaving: None,
        }
    }
}

impl<B> Runs<B> {
    #[must_use]
    pub fn phase(&self) -> Phase {
        let of = |outcome: &Outcome| match outcome {
            Outcome::Empty => Phase::Empty,
            Outcome::Done(backend) => Phase::Done(backend.clone()),
            Outcome::Failed(_) => Phase::Failed,
            Outcome::Cancelled => Phase::Cancelled,
        };
        match &self.state {
            RunState::Rest(outcome) => of(outcome),
            RunState::Waiting(run) | RunState::Running(run) | RunState::Stopping(run, _) => {
                Phase::Working(run.backend.clone())
            }
            RunState::Stepping(_, TimeStep { is_long: true, .. }) => {
                Phase::Working(self.step_backend().to_owned())
            }
            RunState::Stepping(before, _) => of(before),
        }
    }

    /// Whether a run goes on, or a time step that takes long.
    #[must_use]
    pub fn is_working(&self) -> bool {
        matches!(self.phase(), Phase::Working(_))
    }

    /// Whether the run in this tab takes so long that something else may be wanted.
    #[must_use]
    pub fn is_long(&self) -> bool {
        match &self.state {
            RunState::Waiting(run) | RunState::Running(run) | RunState::Stopping(run, _) => {
                matches!(run.part, Part::Here { is_long: true, .. })
            }
            RunState::Stepping(_, step) => step.is_long && matches!(step.part, StepPart::Asked { .. }),
            RunState::Rest(_) => false,
        }
    }

    /// Why the last run ended without a result.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.state {
            RunState::Rest(Outcome::Failed(failure)) | RunState::Stepping(Outcome::Failed(failure), _) => {
                Some(failure)
            }
            RunState::Rest(_)
            | RunState::Stepping(..)
            | RunState::Waiting(_)
            | RunState::Running(_)
            | RunState::Stopping(..) => None,
        }
    }

    /// Whether the failure that is shown is of another text.
    #[must_use]
    pub fn is_failure_old(&self) -> bool {
        self.failure().is_some_and(|it| it.revision != self.revision)
    }

    /// The back end of time steps.
    pub(super) fn step_backend(&self) -> &'static str {
        if self.choice.backend == super::DEBUG { super::DEBUG } else { "numpy" }
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.n_tickets += 1;
        Ticket(self.n_tickets)
    }
}
