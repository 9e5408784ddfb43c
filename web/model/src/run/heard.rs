//! The events of a job on the runner, and its end.

use isobar_protocol::job::{EndReason, EventKind, StageState};
use isobar_protocol::problem::Problem;

use super::event::RunEffect;
use super::failure::{Aborted, Cause, Failure};
use super::measures::{RunPart, Timing};
use super::state::{ActiveRun, JobKind, Part, Runs, Told};
use super::words::{Activity, Notice, RunProgress};

impl<B> Runs<B> {
    /// Takes what a job tells.
    pub(super) fn heard(&mut self, run: &mut ActiveRun<B>, event: EventKind, out: &mut Vec<RunEffect<B>>) {
        let Part::Job { kind, told, .. } = &mut run.part else { return };
        let backend = match kind {
            JobKind::Run(backend) => Some(backend),
            JobKind::Measure => None,
        };
        let measures = &mut self.results.measures;
        match (event, backend) {
            (EventKind::Ended { reason, problem }, _) => told.ended = Some((reason, problem)),
            (EventKind::Diagnostic { diagnostic }, _) => told.diagnostics.push(diagnostic),
            (EventKind::Trap { message, diagnostic, cell }, _) => {
                told.trap = Some((message, cell));
                told.diagnostics.extend(diagnostic);
            }
            (EventKind::Field { field }, Some(_)) => told.fields.push(field),
            // It begins anew.
            (EventKind::Restarted { .. }, Some(_)) => told.fields.clear(),
            (EventKind::Timing { name, ms, bytes }, Some(backend)) => {
                measures.timings.push(Timing { name, ms, bytes, part: RunPart::Runner(backend.clone()) });
            }
            (EventKind::Memory { memory }, Some(_)) => measures.memory = Some(memory),
            (EventKind::Copy { copy }, Some(_)) => measures.copy = Some(copy),
            (EventKind::Steps { steps }, Some(_)) => measures.steps = steps,
            (EventKind::Calls { calls }, Some(_)) => measures.calls = calls,
            (EventKind::Tuned { tuned }, Some(_)) => measures.tuned = Some(tuned),
            (EventKind::Benchmark { benchmark }, None) => told.benchmark = Some(benchmark),
            (EventKind::Queued { position, of }, _) => self.work(Activity::Waits { position, of }),
            (EventKind::Stage { name, state: StageState::Begun, .. }, _) => {
                self.work(Activity::Stage(name));
            }
            (EventKind::Progress { done, total }, backend) => {
                let activity = if backend.is_some() { Activity::Works } else { Activity::Rounds };
                self.progress = Some(RunProgress { activity, steps: Some((done, total)) });
            }
            (EventKind::Log { text }, _) => out.push(RunEffect::Say(Notice::Text(text))),
            (EventKind::Layout { layout }, _) if !layout.is_plain() => {
                out.push(RunEffect::Say(Notice::Text(layout.to_string())));
            }
            (
                EventKind::Accepted { .. }
                | EventKind::Restarted { .. }
                | EventKind::Stage { .. }
                | EventKind::Timing { .. }
                | EventKind::Memory { .. }
                | EventKind::Copy { .. }
                | EventKind::Layout { .. }
                | EventKind::Steps { .. }
                | EventKind::Calls { .. }
                | EventKind::Tuned { .. }
                | EventKind::Field { .. }
                | EventKind::Benchmark { .. }
                | EventKind::Tuning { .. },
                _,
            ) => {}
        }
    }

    pub(super) fn work(&mut self, activity: Activity) {
        self.progress = Some(RunProgress { activity, steps: None });
    }
}

impl Told {
    /// The end of the job.
    ///
    /// # Errors
    ///
    /// Why it gave no result.
    pub(super) fn result(&mut self) -> Result<(), Aborted> {
        match self.ended.take() {
            Some((EndReason::Ok, _)) => Ok(()),
            Some((EndReason::Cancelled, _)) => Err(Aborted::Cancelled),
            Some((reason, problem)) => Err(self.explained(reason, problem).into()),
            None => Err(Cause::Unexpected.into()),
        }
    }

    /// The job's own word comes first, then the runner's, then the kind of end.
    fn explained(&mut self, reason: EndReason, problem: Option<Problem>) -> Failure {
        let trap = self.trap.take().map(|(message, cell)| Cause::Trap { message, cell });
        let of_problem = problem.map(Failure::from);
        let is_said = |it: &Cause| match it {
            Cause::Trap { message, cell } => !message.is_empty() || cell.is_some(),
            Cause::Runner { message, limit } => !message.is_empty() || limit.is_some(),
            _ => true,
        };
        let (of_runner, diagnostics, next) =
            of_problem.map_or_else(Default::default, |it| (Some(it.cause), it.diagnostics, it.next));
        let cause = trap.filter(is_said).or(of_runner.filter(is_said)).unwrap_or(Cause::Ended(reason));
        let mut all = std::mem::take(&mut self.diagnostics);
        all.extend(diagnostics);
        Failure { diagnostics: all, next, ..cause.into() }
    }
}
