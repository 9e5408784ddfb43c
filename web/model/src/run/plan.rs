//! The parts of each run, in order.

use std::collections::VecDeque;

use isobar_protocol::worker::Which;

use super::DEBUG;
use super::results::RunResult;
use super::state::JobKind;
use super::words::Notice;

/// The run that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPlan {
    /// A back end in this tab.
    Here(String),
    /// That and `debug`, compared.
    Check(String),
    /// A back end of the runner.
    Remote(String),
    /// One here and one there, compared.
    Compare(String, String),
    /// The runner's back ends in turn.
    Measure,
    /// The checks of the open lesson.
    Lesson,
}

impl RunPlan {
    /// The name of the back end that it begins on.
    pub(super) fn first(&self) -> &str {
        match self {
            RunPlan::Here(backend)
            | RunPlan::Check(backend)
            | RunPlan::Remote(backend)
            | RunPlan::Compare(backend, _) => backend,
            RunPlan::Measure => "benchmark",
            RunPlan::Lesson => "check",
        }
    }

    /// The same of the one that it ends on.
    pub(super) fn last(&self) -> &str {
        match self {
            RunPlan::Check(_) => DEBUG,
            RunPlan::Compare(_, backend) => backend,
            RunPlan::Here(_) | RunPlan::Remote(_) | RunPlan::Measure | RunPlan::Lesson => self.first(),
        }
    }

    /// Its parts, in order.
    pub(super) fn steps<B>(&self) -> VecDeque<PlanStep<B>> {
        let here = |backend: &str, which| PlanStep::Here { backend: backend.to_owned(), which };
        let steps = match self {
            RunPlan::Here(backend) => vec![here(backend, Which::A)],
            RunPlan::Check(backend) => vec![
                here(backend, Which::A),
                PlanStep::Name(DEBUG.to_owned()),
                here(DEBUG, Which::B),
                PlanStep::Compare { here: backend.clone(), backend: DEBUG.to_owned() },
            ],
            RunPlan::Remote(backend) => vec![PlanStep::Remote(backend.clone())],
            RunPlan::Compare(backend, other) => vec![
                here(backend, Which::A),
                PlanStep::Name(other.clone()),
                PlanStep::Remote(other.clone()),
                PlanStep::Compare { here: backend.clone(), backend: other.clone() },
            ],
            RunPlan::Measure => vec![PlanStep::Measure],
            RunPlan::Lesson => vec![PlanStep::Check],
        };
        steps.into()
    }
}

/// A part of a run that is still to come.
#[derive(Debug)]
pub(super) enum PlanStep<B> {
    /// The next back end is named.
    Name(String),
    Here {
        backend: String,
        which: Which,
    },
    Remote(String),
    Measure,
    /// The runner is there, and gets its job.
    Job(JobKind),
    Check,
    /// A result that is here already is put into the picture.
    Keep {
        which: Which,
        result: Box<RunResult>,
        buffers: B,
    },
    Compare {
        here: String,
        backend: String,
    },
    LookAtMismatch(String, u64),
    Say(Notice),
}

impl<B> PlanStep<B> {
    /// Whether it asks a worker or the runner to compute. A run that is to end skips such steps.
    pub(super) fn computes(&self) -> bool {
        match self {
            PlanStep::Name(_)
            | PlanStep::Here { .. }
            | PlanStep::Remote(_)
            | PlanStep::Measure
            | PlanStep::Job(_)
            | PlanStep::Check
            | PlanStep::Compare { .. } => true,
            PlanStep::Keep { .. } | PlanStep::LookAtMismatch(..) | PlanStep::Say(_) => false,
        }
    }
}

/// The size and the edit of a run, at the moment when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFacts {
    pub domain: [i64; 3],
    pub precision: u32,
    /// The edit.
    pub revision: u64,
    pub now_ms: f64,
}

impl RunFacts {
    pub(super) fn points(&self) -> i64 {
        self.domain.iter().fold(1, |n, &it| n.saturating_mul(it.max(0)))
    }
}
