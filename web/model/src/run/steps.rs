//! A time step: asked of this tab's worker, kept, drawn, and put into the chart.

use std::sync::Arc;

use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::worker::{AnswerBody, Which};

use super::event::{RunEffect, TabAsk, WorkerGone};
use super::failure::{Aborted, Advice, Cause, Failure};
use super::plan::RunFacts;
use super::results::{Machine, RunResult};
use super::state::{AfterStop, Outcome, RunState, Runs, StepPart, Ticket, TimeStep};
use super::words::Notice;

impl StepPart {
    /// The question that it waits for.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        match self {
            StepPart::Preparing { ticket, .. }
            | StepPart::Asked { ticket, .. }
            | StepPart::Storing { ticket, .. }
            | StepPart::Recording(ticket) => Some(*ticket),
            StepPart::Showing { .. } => None,
        }
    }
}

impl<B> Runs<B> {
    /// Begins a step, or several at once; tells whether it did.
    pub(super) fn step(&mut self, restart: bool, count: u64, out: &mut Vec<RunEffect<B>>) -> bool {
        if self.has_errors {
            return false;
        }
        let RunState::Rest(outcome) = &mut self.state else { return false };
        let before = std::mem::take(outcome);
        let ticket = self.ticket();
        let part = StepPart::Preparing { ticket, restart, count };
        self.state = RunState::Stepping(before, TimeStep { part, since_ms: 0.0, is_long: false, stop: None });
        out.push(RunEffect::Prepare(ticket));
        true
    }

    /// The page has told what the step is of.
    pub(super) fn step_prepared(&mut self, facts: RunFacts, out: &mut Vec<RunEffect<B>>) {
        let backend = self.step_backend();
        let RunState::Stepping(_, step) = &mut self.state else { return };
        let StepPart::Preparing { ticket, restart, count } = step.part else { return };
        step.since_ms = facts.now_ms;
        let points = facts.points();
        if points > TAB_POINTS {
            return self.step_ends(Err(Cause::TooManyPoints(points).into()), out);
        }
        step.part = StepPart::Asked { ticket, backend, facts };
        let ask = TabAsk::Step { backend, domain: facts.domain, restart, count };
        out.extend([RunEffect::Ask(ticket, ask), RunEffect::Remind(ticket)]);
    }

    /// The worker, or the keeper, has answered.
    pub(super) fn step_said(&mut self, said: AnswerBody, buffers: B, out: &mut Vec<RunEffect<B>>) {
        let RunState::Stepping(_, step) = &mut self.state else { return };
        match &step.part {
            StepPart::Asked { backend, facts, .. } => {
                let (backend, facts) = (*backend, *facts);
                // Another text has the picture now.
                if facts.revision != self.revision {
                    return self.step_ends(Err(Aborted::Cancelled), out);
                }
                match said {
                    AnswerBody::Stepped { step, fields, ms } => {
                        self.step_result(backend, facts, (step, ms), fields, buffers, out);
                    }
                    said => self.step_ends(Err(refused(said)), out),
                }
            }
            StepPart::Storing { .. } => match said {
                AnswerBody::Stored => self.step_stored(out),
                said => self.step_ends(Err(refused(said)), out),
            },
            StepPart::Preparing { .. } | StepPart::Showing { .. } | StepPart::Recording(_) => {}
        }
    }

    fn step_result(
        &mut self,
        backend: &str,
        facts: RunFacts,
        (number, ms): (u64, f64),
        fields: Vec<isobar_protocol::field::FieldInfo>,
        buffers: B,
        out: &mut Vec<RunEffect<B>>,
    ) {
        let ticket = self.ticket();
        let RunState::Stepping(_, step) = &mut self.state else { return };
        out.push(RunEffect::Store(ticket, Which::A, fields.clone(), buffers));
        let RunFacts { domain, precision, revision, .. } = facts;
        let (backend, machine) = (backend.to_owned(), Machine::Here(None));
        let result = RunResult { backend, machine, precision, domain, revision, fields, step: Some(number) };
        step.part = StepPart::Storing { ticket, result: Box::new(result), step: number, ms };
    }

    /// The keeper has a step in place of the one before, which was shown until now.
    fn step_stored(&mut self, out: &mut Vec<RunEffect<B>>) {
        let RunState::Stepping(before, step) = &mut self.state else { return };
        let part = std::mem::replace(&mut step.part, StepPart::Recording(Ticket(0)));
        let StepPart::Storing { result, step: number, ms, .. } = part else { return };
        *before = Outcome::Done(result.backend.clone());
        step.is_long = false;
        self.results.generation += 1;
        let generation = self.results.generation;
        step.part = StepPart::Showing { generation, step: number, ms };
        self.results.differences = None;
        out.push(RunEffect::Look(Which::A, result.fields.clone()));
        self.results.a = Some(Arc::new(*result));
        out.push(RunEffect::Show(generation));
    }

    /// The result of a step is in the picture.
    pub(super) fn step_seen(&mut self, seen: u64, out: &mut Vec<RunEffect<B>>) {
        let ticket = self.ticket();
        let RunState::Stepping(_, step) = &mut self.state else { return };
        let StepPart::Showing { generation, step: number, ms } = step.part else { return };
        if seen < generation {
            return;
        }
        step.part = StepPart::Recording(ticket);
        self.clock.step = Some(number);
        self.clock.ms = Some(ms);
        out.push(RunEffect::Record(ticket, number));
    }

    /// The worker, or the keeper, of the step is gone.
    pub(super) fn step_gone(&mut self, how: WorkerGone, out: &mut Vec<RunEffect<B>>) {
        let RunState::Stepping(_, step) = &self.state else { return };
        let advice = match step.part {
            StepPart::Storing { .. } => Advice::SmallerDomain,
            StepPart::Preparing { .. }
            | StepPart::Asked { .. }
            | StepPart::Showing { .. }
            | StepPart::Recording(_) => Advice::AnotherText,
        };
        if advice == Advice::SmallerDomain && !matches!(how, WorkerGone::Refused(_)) {
            self.results.clear();
        }
        if let WorkerGone::Crashed(_) = how {
            out.push(RunEffect::MakeReady);
        }
        self.step_ends(Err(Aborted::gone(how, advice)), out);
    }

    /// Ends a step, which was over at that time where it was taken.
    pub(super) fn step_ends(&mut self, result: Result<f64, Aborted>, out: &mut Vec<RunEffect<B>>) {
        let state = std::mem::take(&mut self.state);
        let RunState::Stepping(before, step) = state else {
            self.state = state;
            return;
        };
        let taken_ms = result.as_ref().ok().copied();
        let outcome = match result {
            Ok(_) => before,
            // A step that took long was stopped as a run is.
            Err(Aborted::Cancelled) if step.stop.is_some() => {
                out.push(RunEffect::Say(Notice::Stopped));
                Outcome::Cancelled
            }
            Err(Aborted::Cancelled) => before,
            Err(Aborted::Failed(failure)) => {
                out.push(RunEffect::Say(Notice::WithoutResult));
                self.begun = self.revision;
                Outcome::Failed(Box::new(Failure { revision: self.revision, ..*failure }))
            }
        };
        self.state = RunState::Rest(outcome);
        if step.stop == Some(AfterStop::RunChosen) {
            out.push(RunEffect::RunChosen);
        }
        self.step_over(step.since_ms, taken_ms, out);
    }
}

/// How a run ends whose question has no result.
pub(super) fn refused(said: AnswerBody) -> Aborted {
    match said {
        AnswerBody::RunEnded { why, diagnostics, cell } => {
            Failure { diagnostics, ..Cause::Worker { why, cell }.into() }.into()
        }
        AnswerBody::Failed { why } => Cause::Worker { why, cell: None }.into(),
        _ => Cause::Unexpected.into(),
    }
}
