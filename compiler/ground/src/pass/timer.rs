//! The time that each step takes, by the clock of the caller.

use super::hook::{Hook, Step, StepKind};

/// A step, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedStep {
    pub step: Step,
    /// In milliseconds, or whatever the clock counts; what lies within a step counts to it.
    pub took: f64,
}

/// Measures doors, pipelines and passes.
#[derive(Clone, Debug)]
pub struct Timer<C> {
    clock: C,
    /// The steps that have begun, from outside in.
    open: Vec<(Step, f64)>,
    times: Vec<TimedStep>,
}

impl<C: FnMut() -> f64> Timer<C> {
    pub fn new(clock: C) -> Self {
        Self { clock, open: Vec::new(), times: Vec::new() }
    }

    /// Returns the measured times, in the order in which the steps ended.
    #[must_use]
    pub fn into_times(self) -> Vec<TimedStep> {
        self.times
    }
}

impl<C: FnMut() -> f64> Hook for Timer<C> {
    fn begin(&mut self, step: Step) {
        if step.kind != StepKind::Analysis {
            let now = (self.clock)();
            self.open.push((step, now));
        }
    }

    fn end(&mut self, step: Step) {
        if let Some((_, begun)) = self.open.pop_if(|(open, _)| *open == step) {
            self.times.push(TimedStep { step, took: (self.clock)() - begun });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_as_long_as_all_that_lies_within_it() {
        let mut now = 0.0;
        let mut timer = Timer::new(|| {
            now += 1.0;
            now
        });
        let pipeline = Step { kind: StepKind::Pipeline, name: "oir" };
        let pass = Step { kind: StepKind::Pass, name: "oir/fold-constants" };
        let analysis = Step { kind: StepKind::Analysis, name: "oir/extents" };
        timer.begin(pipeline);
        timer.begin(pass);
        timer.begin(analysis);
        timer.end(analysis);
        timer.end(pass);
        timer.end(pipeline);
        let timed = |step, took| TimedStep { step, took };
        assert_eq!(timer.into_times(), [timed(pass, 1.0), timed(pipeline, 3.0)]);
    }
}
