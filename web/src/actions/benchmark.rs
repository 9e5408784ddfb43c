//! Measuring back ends of the runner.

use isobar_page_model::run::RunPlan;
use isobar_protocol::request::{Bench, Request};
use leptos::prelude::*;

use crate::state::App;

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
