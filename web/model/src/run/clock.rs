//! Time steps one after the other: played, paused, and taken again for another scalar.

use super::event::RunEffect;
use super::plan::RunPlan;
use super::state::{RunState, Runs, Ticket};

/// No more pictures are shown in a second than one each so many milliseconds.
const FRAME_MS: f64 = 40.0;
/// A first visit plays so many steps and then rests.
pub const FIRST_STEPS: u64 = 240;
/// Steps from the beginning are taken again for another scalar, as long as that takes no longer.
const AGAIN_MS: f64 = 250.0;

/// Where a run is in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepClock {
    /// The steps since the beginning; nothing where the result is of a single run.
    pub step: Option<u64>,
    /// The time of one step, in milliseconds.
    pub ms: Option<f64>,
    pace: Pace,
    awaited: Option<AwaitedRun>,
    /// Whether a scalar changed while a step was taken.
    is_due: bool,
}

/// Whether step follows step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pace {
    #[default]
    Paused,
    Playing {
        /// The step at which it ends by itself.
        until: Option<u64>,
        /// The next picture, while it is waited for.
        frame: Option<Ticket>,
    },
}

/// The text that comes next runs when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AwaitedRun {
    /// It plays up to this step.
    until: Option<u64>,
}

impl StepClock {
    #[must_use]
    pub fn is_playing(&self) -> bool {
        matches!(self.pace, Pace::Playing { .. })
    }

    /// Whether a run waits for its text to be compiled.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.awaited.is_some()
    }

    /// Ends the playing; what is shown stays.
    pub(super) fn pause(&mut self) {
        self.pace = Pace::Paused;
        if let Some(awaited) = &mut self.awaited {
            awaited.until = None;
        }
    }

    /// Nothing is known of any step.
    pub(super) fn forget(&mut self) {
        self.pause();
        self.step = None;
        self.ms = None;
    }

    pub(super) fn run_when_compiled(&mut self, until: Option<u64>) {
        self.awaited = Some(AwaitedRun { until });
    }

    /// No change of a scalar has to be shown any more.
    pub(super) fn settle(&mut self) {
        self.is_due = false;
    }
}

impl<B> Runs<B> {
    /// The compiler has answered: what waited for that runs.
    pub(super) fn compiled(&mut self, is_newest: bool, out: &mut Vec<RunEffect<B>>) {
        if !is_newest {
            return;
        }
        let Some(awaited) = self.clock.awaited.take() else { return };
        if self.has_errors || self.is_working() {
            return;
        }
        match (self.has_steps, awaited.until) {
            (true, Some(until)) => self.play(Some(until), out),
            (true, None) => {
                self.clock.pause();
                self.step(false, 1, out);
            }
            (false, _) => self.begin(RunPlan::Here(self.choice.backend.to_owned()), out),
        }
    }

    /// Takes step after step until it is paused.
    pub(super) fn play(&mut self, until: Option<u64>, out: &mut Vec<RunEffect<B>>) {
        let can_step = self.has_steps && !self.has_errors && !self.is_working();
        if self.clock.is_playing() || !can_step {
            return;
        }
        self.clock.pace = Pace::Playing { until, frame: None };
        if !self.step(false, 1, out) {
            self.clock.pause();
        }
    }

    pub(super) fn frame_due(&mut self, frame: Ticket, out: &mut Vec<RunEffect<B>>) {
        let Pace::Playing { until, frame: Some(awaited) } = self.clock.pace else { return };
        if awaited != frame {
            return;
        }
        self.clock.pace = Pace::Playing { until, frame: None };
        // One that is taken anyway is followed by others.
        if !matches!(self.state, RunState::Stepping(..)) && !self.step(false, 1, out) {
            self.clock.pause();
        }
    }

    /// A scalar changed: what is shown is computed once more.
    pub(super) fn slid(&mut self, out: &mut Vec<RunEffect<B>>) {
        if self.clock.is_playing() {
            // The next step takes the new value.
            return;
        }
        if let RunState::Stepping(..) = self.state {
            self.clock.is_due = true;
        } else {
            self.again(out);
        }
    }

    fn again(&mut self, out: &mut Vec<RunEffect<B>>) {
        if self.results.a.as_ref().is_none_or(|it| it.revision != self.revision) {
            return;
        }
        match (self.clock.step, self.clock.ms) {
            #[expect(clippy::cast_precision_loss, reason = "an estimate of a time")]
            (Some(step), Some(ms)) if step as f64 * ms <= AGAIN_MS => self.step(true, step.max(1), out),
            (Some(_), _) => self.step(false, 1, out),
            // A single run is the first step of one, which no step has to follow.
            (None, _) => self.step(true, 1, out),
        };
    }

    /// A step that began then is over, and was taken or not; others may follow.
    pub(super) fn step_over(&mut self, since_ms: f64, taken_ms: Option<f64>, out: &mut Vec<RunEffect<B>>) {
        if let Pace::Playing { until, .. } = self.clock.pace {
            let is_over = until.is_some_and(|it| self.clock.step >= Some(it));
            match taken_ms.filter(|_| !is_over) {
                None => self.clock.pause(),
                Some(now) => {
                    let frame = self.ticket();
                    self.clock.pace = Pace::Playing { until, frame: Some(frame) };
                    out.push(RunEffect::Wait(frame, (FRAME_MS - (now - since_ms)).max(0.0)));
                }
            }
        }
        if std::mem::take(&mut self.clock.is_due) {
            self.again(out);
        }
    }
}
