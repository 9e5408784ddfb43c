//! Time steps: wishes of the user, and news for them.

use isobar_page_model::inputs::ValueInput;
use isobar_page_model::run::{FIRST_STEPS, RunEvent};
use leptos::prelude::*;

use crate::bridge::page;
use crate::state::App;

impl App {
    /// Whether the stencil can be taken step by step: what it writes is what it reads next.
    #[must_use]
    pub fn has_steps(self) -> bool {
        let carries_on = |access: &str| access == "read-write";
        self.compilation.defaults.with(|it| it.has_steps)
            || self
                .compilation
                .signature
                .with(|it| it.as_ref().is_some_and(|it| it.fields.iter().any(|it| carries_on(&it.access))))
    }

    /// Whether a step can be taken at this moment.
    #[must_use]
    pub fn can_step(self) -> bool {
        self.has_steps() && self.compilation.n_errors() == 0 && !self.run.is_working()
    }

    pub fn toggle_playing(self) {
        let is_playing = self.clock.is_playing.get_untracked();
        self.happened(if is_playing { RunEvent::PauseAsked } else { RunEvent::PlayAsked });
    }

    /// Ends the playing; what is shown stays.
    pub(super) fn pause(self) {
        self.happened(RunEvent::PauseAsked);
    }

    /// Takes one step.
    pub fn step_once(self) {
        self.happened(RunEvent::StepAsked);
    }

    /// Goes back to the first step.
    pub fn restart(self) {
        self.happened(RunEvent::RestartAsked);
    }

    /// Has the text that is opened now run as soon as it is compiled; `plays` for as long as a first visit does.
    pub(super) fn run_when_compiled(self, plays: bool) {
        let until = (plays && !page::prefers_reduced_motion()).then_some(FIRST_STEPS);
        self.happened(RunEvent::RunWhenCompiled(until));
    }

    /// Tells what was compiled: what was asked for before runs then.
    pub(super) fn follow_clock(self) {
        Effect::new(move |_| {
            self.clock.is_awaited.track();
            self.happened(RunEvent::Compiled {
                is_newest: self.compilation.revision.get() == self.project.revision.get(),
                has_errors: self.compilation.n_errors() > 0,
                has_steps: self.has_steps(),
            });
        });
    }

    /// Sets a scalar by a slider, and shows what comes of it.
    pub fn slide(self, scalar: &ValueInput, text: &str) {
        if self.choose_scalar(scalar, text).is_ok() {
            self.happened(RunEvent::Slid);
        }
    }
}
