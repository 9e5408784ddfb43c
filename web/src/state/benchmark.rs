//! Measuring: the runner calls back ends in turn, round after round, as `isobar bench` does.

use std::collections::BTreeSet;

use isobar_page_model::run::RunPlan;
use isobar_protocol::request::{Bench, Request};
use leptos::prelude::*;

use super::App;

/// The settings of the next measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    pub rounds: RwSignal<u32>,
    /// Back ends that are not measured.
    pub left_out: RwSignal<BTreeSet<String>>,
}

impl Measurement {
    pub(super) fn new() -> Self {
        Self {
            rounds: RwSignal::new(Bench::ROUNDS),
            // One call of the interpreter takes as long as a thousand of others.
            left_out: RwSignal::new(BTreeSet::from(["debug".to_owned()])),
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
        self.ask_run(RunPlan::Measure);
    }

    /// All that decides a measurement; nothing where no back end is left.
    pub(super) fn measure_request(self, domain: [i64; 3]) -> Option<Request> {
        let left_out = self.measurement.left_out.get_untracked();
        let mut backends = untrack(|| self.connection.backends());
        backends.retain(|it| !left_out.contains(it));
        let first = backends.first()?.clone();
        let rounds = Some(self.measurement.rounds.get_untracked());
        let bench = Some(Bench { backends, rounds, layouts: Vec::new() });
        Some(Request { bench, ..self.run_request(&first, domain) })
    }
}
