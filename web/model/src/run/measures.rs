//! The measurements of a run.

use isobar_protocol::bench::{CallStep, CopyRate, GraphStep, Memory, gigabytes_per_second};
use isobar_protocol::tune::Tuned;

/// The part that ran: a back end, in this tab or on the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPart {
    Here(String),
    Runner(String),
}

/// A time that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub name: String,
    pub ms: f64,
    /// The bytes that it had to move at least, if known.
    pub bytes: Option<u64>,
    pub part: RunPart,
}

/// The measurements of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Step by step.
    pub timings: Vec<Timing>,
    /// The most memory that it needed at a time.
    pub memory: Option<Memory>,
    /// The copy rate that its own rate is compared with.
    pub copy: Option<CopyRate>,
    /// Where the time of the call went.
    pub steps: Vec<GraphStep>,
    /// Where the time of a program went, statement by statement.
    pub calls: Vec<CallStep>,
    /// The tuned schedule that was kept for it, if it differs from the compiler's choice.
    pub tuned: Option<Tuned>,
}

impl Measures {
    /// The rate at which a step moved its bytes, in GB/s. Beside it are its part of the copy rate, and the threads that
    /// copied: 0 for a GPU.
    #[must_use]
    pub fn rate(&self, step: &Timing) -> Option<(f64, Option<(f64, u32)>)> {
        let bytes = step.bytes?;
        let rate = gigabytes_per_second(bytes, step.ms)?;
        Some((rate, self.copy.and_then(|it| Some((it.part(bytes, step.ms)?, it.threads)))))
    }
}
