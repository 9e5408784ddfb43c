//! The results that runs leave.

use std::sync::Arc;

use isobar_protocol::bench::Benchmark;
use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::worker::{OnGpu, Which};

use super::measures::Measures;

/// Where a run ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Machine {
    /// In this tab, on the browser's GPU where there is one here.
    Here(Option<OnGpu>),
    /// On the runner, with so many cores where it said so.
    Runner(Option<u32>),
    /// In this tab, for a lesson: the learner's text, and the solution.
    Learner,
    Solution,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    pub backend: String,
    pub machine: Machine,
    pub precision: u32,
    pub domain: [i64; 3],
    /// The edit it belongs to.
    pub revision: u64,
    pub fields: Vec<FieldInfo>,
    /// The time steps that were taken, where it is no single run.
    pub step: Option<u64>,
}

/// The result of a measurement, with its precision and its edit.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkResult {
    pub benchmark: Benchmark,
    pub precision: u32,
    /// The edit it belongs to.
    pub revision: u64,
}

/// The last results. A run that ends without one leaves them as they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunResults {
    /// The result of this tab, and that of the runner.
    pub a: Option<Arc<RunResult>>,
    pub b: Option<Arc<RunResult>>,
    pub differences: Option<Vec<Difference>>,
    /// Counts the results.
    pub generation: u64,
    pub measures: Measures,
    /// Those of the result that is shown, until the present run has one.
    pub(super) measures_before: Measures,
    pub benchmark: Option<Arc<BenchmarkResult>>,
}

impl RunResults {
    /// Forgets the fields, which the keeper has no more.
    pub(super) fn clear(&mut self) {
        self.a = None;
        self.b = None;
        self.differences = None;
        self.measures_before = Measures::default();
        self.generation += 1;
    }

    pub(super) fn slot(&mut self, which: Which) -> &mut Option<Arc<RunResult>> {
        if which == Which::B { &mut self.b } else { &mut self.a }
    }

    /// Whether one of the results that were compared is of another text.
    #[must_use]
    pub fn is_comparison_old(&self, revision: u64) -> bool {
        [&self.a, &self.b].into_iter().flatten().any(|it| it.revision != revision)
    }
}
