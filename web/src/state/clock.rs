//! Time steps: a run in this tab that goes on from where it was, played, stopped and taken step by step.

use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::worker::{AnswerBody, Ask, Which};
use leptos::prelude::*;

use super::inputs::ValueInput;
use super::run::{AbortedRun, Failure, Phase, RunResult, unexpected};
use super::{App, why};
use crate::bridge::locale::t;
use crate::bridge::page;

/// No more pictures are shown in a second than one each so many milliseconds.
const FRAME_MS: f64 = 40.0;
/// A first visit plays so many steps and then rests.
const FIRST_STEPS: u64 = 240;
/// Steps from the beginning are taken again for another scalar, as long as that takes no longer.
const AGAIN_MS: f64 = 250.0;

/// Where a run is in time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The steps since the beginning; nothing where the result is of a single run.
    pub step: RwSignal<Option<u64>>,
    pub is_playing: RwSignal<bool>,
    /// The time of one step, in milliseconds.
    pub ms: RwSignal<Option<f64>>,
    /// Whether the text that comes next is to be run when it is compiled.
    is_awaited: RwSignal<bool>,
    /// The step at which the playing ends by itself.
    until: StoredValue<Option<u64>>,
    /// Whether steps are being taken at this moment.
    is_stepping: StoredValue<bool>,
    /// Whether a scalar changed meanwhile.
    is_due: StoredValue<bool>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            step: RwSignal::default(),
            is_playing: RwSignal::default(),
            ms: RwSignal::default(),
            is_awaited: RwSignal::default(),
            until: StoredValue::new(None),
            is_stepping: StoredValue::new(false),
            is_due: StoredValue::new(false),
        }
    }

    /// Ends the playing; what is shown stays.
    pub fn pause(self) {
        self.until.set_value(None);
        if self.is_playing.get_untracked() {
            self.is_playing.set(false);
        }
    }

    /// Nothing is known of any step.
    pub(super) fn forget(self) {
        self.pause();
        self.step.set(None);
        self.ms.set(None);
    }
}

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

    /// Takes step after step until it is paused.
    pub fn play(self) {
        if self.clock.is_playing.get_untracked() || !untrack(|| self.can_step()) {
            return;
        }
        self.clock.is_playing.set(true);
        leptos::task::spawn_local(self.playing());
    }

    pub fn toggle_playing(self) {
        if self.clock.is_playing.get_untracked() { self.clock.pause() } else { self.play() }
    }

    /// Takes one step.
    pub fn step_once(self) {
        self.clock.pause();
        leptos::task::spawn_local(async move {
            self.steps(false, 1).await;
        });
    }

    /// Goes back to the first step.
    pub fn restart(self) {
        leptos::task::spawn_local(async move {
            self.steps(true, 1).await;
        });
    }

    /// Has the text that is opened now run as soon as it is compiled; `plays` for as long as a first visit does.
    pub(super) fn run_when_compiled(self, plays: bool) {
        self.clock.until.set_value((plays && !page::prefers_reduced_motion()).then_some(FIRST_STEPS));
        self.clock.is_awaited.set(true);
    }

    /// Runs what was asked for before it was compiled, and takes steps again when scalars change.
    pub(super) fn follow_clock(self) {
        Effect::new(move |_| {
            let is_compiled = self.compilation.revision.get() == self.project.revision.get();
            if !is_compiled || !self.clock.is_awaited.get() {
                return;
            }
            self.clock.is_awaited.set(false);
            if untrack(|| self.compilation.n_errors()) > 0 || untrack(|| self.run.is_working()) {
                return;
            }
            match (untrack(|| self.has_steps()), self.clock.until.get_value()) {
                (true, Some(_)) => self.play(),
                (true, None) => self.step_once(),
                (false, _) => self.run_here(),
            }
        });
        // The text that is shown decides: another one has another run.
        Effect::new(move |before: Option<u64>| {
            let now = self.project.revision.get();
            if before.is_some_and(|it| it != now) && self.clock.is_playing.get_untracked() {
                self.clock.pause();
            }
            now
        });
    }

    async fn playing(self) {
        while self.clock.is_playing.get_untracked() {
            let since = page::now_ms();
            if !self.steps(false, 1).await {
                self.clock.pause();
                break;
            }
            let is_over =
                self.clock.until.get_value().is_some_and(|it| self.clock.step.get_untracked() >= Some(it));
            if is_over {
                self.clock.pause();
            }
            let rest = FRAME_MS - (page::now_ms() - since);
            page::sleep(Duration::from_secs_f64(rest.max(0.0) / 1e3)).await;
        }
    }

    /// Sets a scalar by a slider, and shows what comes of it.
    pub fn slide(self, scalar: &ValueInput, text: &str) {
        if self.choose_scalar(scalar, text).is_err() || self.clock.is_playing.get_untracked() {
            // While it plays, the next step takes the new value.
            return;
        }
        self.clock.is_due.set_value(true);
        if !self.clock.is_stepping.get_value() {
            leptos::task::spawn_local(async move {
                while self.clock.is_due.get_value() {
                    self.clock.is_due.set_value(false);
                    self.again().await;
                }
            });
        }
    }

    /// Computes what is shown once more, with other scalars.
    async fn again(self) {
        let is_current = self.run.a.with_untracked(|it| {
            it.as_ref().is_some_and(|it| it.revision == self.project.revision.get_untracked())
        });
        if !is_current || untrack(|| self.run.is_working()) {
            return;
        }
        match (self.clock.step.get_untracked(), self.clock.ms.get_untracked()) {
            #[expect(clippy::cast_precision_loss, reason = "an estimate of a time")]
            (Some(step), Some(ms)) if step as f64 * ms <= AGAIN_MS => {
                self.steps(true, step.max(1)).await;
            }
            (Some(_), _) => {
                self.steps(false, 1).await;
            }
            (None, _) => {
                // A single run is the first step of one, which no step has to follow.
                self.steps(true, 1).await;
            }
        }
    }

    /// Takes steps and shows where they lead; tells whether they did.
    async fn steps(self, restart: bool, count: u64) -> bool {
        if self.clock.is_stepping.get_value()
            || untrack(|| self.run.is_working() || self.compilation.n_errors() > 0)
        {
            return false;
        }
        self.clock.is_stepping.set_value(true);
        let result = self.stepped(restart, count).await;
        self.clock.is_stepping.set_value(false);
        match result {
            Ok(()) => true,
            Err(AbortedRun::Cancelled) => {
                // A step that took long was stopped as a run is.
                if untrack(|| self.run.is_working()) && self.run.is_stopping.get_untracked() {
                    self.run.is_stopping.set(false);
                    self.run.say(t!("state-run-said-stopped"));
                    self.run.settle(Phase::Cancelled);
                }
                false
            }
            Err(AbortedRun::Failed(failure)) => {
                self.run.failed_revision.set(self.project.revision.get_untracked());
                self.run.fail(*failure);
                false
            }
        }
    }

    async fn stepped(self, restart: bool, count: u64) -> Result<(), AbortedRun> {
        let domain = untrack(|| self.domain());
        let points = domain.iter().fold(1_i64, |n, &it| n.saturating_mul(it.max(0)));
        if points > TAB_POINTS {
            return Err(Failure::too_many_points(points).into());
        }
        let backend = if self.run.backend.get_untracked() == "debug" { "debug" } else { "numpy" };
        let request = self.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let number = self.run.number();
        let (said, buffers) = self.asked_here(backend, Ask::Step { request, restart, count }).await?;
        // Another run, or another text, has the picture now.
        if self.run.number() != number || self.project.revision.get_untracked() != revision {
            return Err(AbortedRun::Cancelled);
        }
        let (step, fields, ms) = match said {
            AnswerBody::Stepped { step, fields, ms } => (step, fields, ms),
            AnswerBody::RunEnded { why, diagnostics, cell } => {
                return Err(Failure::at_cell(&why, diagnostics, cell).into());
            }
            AnswerBody::Failed { why } => return Err(Failure::new(why::in_words(&why)).into()),
            _ => return Err(unexpected().into()),
        };
        let outcome = RunResult {
            backend: backend.to_owned(),
            machine: t!("state-run-machine-here").to_owned(),
            precision,
            domain,
            revision,
            fields,
            step: Some(step),
        };
        self.show_step(outcome, buffers).await?;
        self.clock.step.set(Some(step));
        self.clock.ms.set(Some(ms));
        self.record_step(step).await;
        Ok(())
    }

    /// Puts a step into the picture in place of the one before, which stays until then.
    async fn show_step(
        self,
        outcome: RunResult,
        buffers: Vec<js_sys::ArrayBuffer>,
    ) -> Result<(), AbortedRun> {
        let keeper = self.run.started_keeper()?;
        let ask = Ask::Store { which: Which::A, fields: outcome.fields.clone() };
        match self.kept(keeper.ask(ask, buffers).await)? {
            AnswerBody::Stored => {}
            AnswerBody::Failed { why } => return Err(Failure::new(why::in_words(&why)).into()),
            _ => return Err(unexpected().into()),
        }
        if self.run.differences.with_untracked(Option::is_some) {
            self.run.differences.set(None);
        }
        self.look_at_result(Which::A, &outcome.fields);
        let backend = outcome.backend.clone();
        self.run.a.set(Some(Arc::new(outcome)));
        self.run.generation.update(|it| *it += 1);
        self.run.settle(Phase::Done(backend));
        self.seen().await;
        Ok(())
    }
}
