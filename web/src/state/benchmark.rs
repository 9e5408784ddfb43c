//! The settings of measurements: the runner calls back ends in turn, round after round, as `isobar bench` does.

use std::collections::BTreeSet;

use isobar_protocol::request::Bench;
use leptos::prelude::*;

/// The settings of the next measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    pub rounds: RwSignal<u32>,
    /// Back ends that are not measured.
    pub left_out: RwSignal<BTreeSet<String>>,
}

impl Measurement {
    pub(crate) fn new() -> Self {
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
