//! Measuring: the runner calls back ends in turn, round after round, as `isobar bench` does.

use std::collections::BTreeSet;
use std::sync::Arc;

use isobar_protocol::bench::Benchmark;
use isobar_protocol::job::EventKind;
use isobar_protocol::request::{Bench, Request};
use leptos::prelude::*;

use super::App;
use super::run::{AbortedRun, Failure, RunProgress, unexpected};
use crate::bridge::locale::t;

/// The result of a measurement, with its precision and its edit.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkResult {
    pub benchmark: Benchmark,
    pub precision: u32,
    /// The edit it belongs to.
    pub revision: u64,
}

/// The settings of the next measurement, and the result of the last one.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    pub rounds: RwSignal<u32>,
    /// Back ends that are not measured.
    pub left_out: RwSignal<BTreeSet<String>>,
    pub found: RwSignal<Option<Arc<BenchmarkResult>>>,
}

impl Measurement {
    pub(super) fn new() -> Self {
        Self {
            rounds: RwSignal::new(Bench::ROUNDS),
            // One call of the interpreter takes as long as a thousand of others.
            left_out: RwSignal::new(BTreeSet::from(["debug".to_owned()])),
            found: RwSignal::default(),
        }
    }

    pub fn choose_rounds(self, rounds: u32) {
        self.rounds.set(rounds.clamp(1, Bench::MOST_ROUNDS));
    }

    pub fn toggle(self, backend: &str) {
        self.left_out.update(|it| {
            if !it.remove(backend) {
                it.insert(backend.to_owned());
            }
        });
    }
}

impl App {
    /// Measures the chosen back ends of the runner. The result before stays until there is another.
    pub fn measure(self) {
        self.start_run("benchmark".to_owned(), async move {
            let number = self.run.number();
            let found = self.measured().await;
            // Where another text was opened meanwhile, nothing of this is shown any more.
            if self.run.number() == number {
                // Times and memory below the picture are those of the run that it shows.
                self.run.keep_measures();
                if let Ok(found) = &found {
                    self.measurement.found.set(Some(Arc::new(found.clone())));
                    self.run.say(t!("state-bench-done"));
                }
            }
            found.map(|_| "benchmark".to_owned())
        });
    }

    async fn measured(self) -> Result<BenchmarkResult, AbortedRun> {
        let runner = self.reached().await?;
        let left_out = self.measurement.left_out.get_untracked();
        let mut backends = untrack(|| self.connection.backends());
        backends.retain(|it| !left_out.contains(it));
        let Some(first) = backends.first().cloned() else {
            let next = vec![t!("state-bench-none-next").to_owned()];
            let message = t!("state-bench-none").to_owned();
            return Err(Failure { message, next, ..Failure::default() }.into());
        };
        let rounds = Some(self.measurement.rounds.get_untracked());
        let request = Request {
            bench: Some(Bench { backends, rounds, layouts: Vec::new() }),
            ..self.run_request(&first, untrack(|| self.domain()))
        };
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let mut found = None;
        self.job(&runner, &request, |event| match event {
            EventKind::Benchmark { benchmark } => found = Some(benchmark),
            EventKind::Progress { done, total } => {
                let text = t!("state-bench-rounds").to_owned();
                self.run.progress.set(Some(RunProgress { text, steps: Some((done, total)) }));
            }
            other => self.hear(other),
        })
        .await?;
        let benchmark = *found.ok_or_else(|| AbortedRun::from(unexpected()))?;
        Ok(BenchmarkResult { benchmark, precision, revision })
    }
}
