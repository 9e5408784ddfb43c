//! Each event, and its effects on the runs.

use std::sync::Arc;

use isobar_protocol::field::FieldInfo;
use isobar_protocol::lesson::LessonResult;
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::worker::{AnswerBody, Which};

use super::event::{JobAsk, RunEffect, RunEvent, TabAsk, WorkerGone};
use super::failure::{Aborted, Advice, Cause, Failure};
use super::measures::{Measures, RunPart, Timing};
use super::plan::{PlanStep, RunFacts, RunPlan};
use super::results::{BenchmarkResult, Machine, RunResult};
use super::state::{
    ActiveRun, AfterStop, JobKind, Leaving, Outcome, Part, Prepared, RunState, Runs, StepPart, Ticket,
};
use super::steps::refused;
use super::words::{Activity, Notice, RunProgress};

/// Where a run goes from an event: on with its part, to its next part, or to its end.
enum Turn {
    Stays,
    Next,
    Ends(Aborted),
}

impl<B> Runs<B> {
    /// Takes an event, and tells what the page has to do now, in this order.
    pub fn take(&mut self, event: RunEvent<B>) -> Vec<RunEffect<B>> {
        let mut out = Vec::new();
        self.take_into(event, &mut out);
        out
    }

    fn take_into(&mut self, event: RunEvent<B>, out: &mut Vec<RunEffect<B>>) {
        match event {
            RunEvent::Asked(plan) => self.begin(plan, out),
            RunEvent::StopAsked => self.stop(AfterStop::Rest, out),
            RunEvent::InsteadAsked => self.stop(AfterStop::RunChosen, out),
            RunEvent::TargetChosen(place) => self.choice.place = place,
            RunEvent::BackendChosen(backend) => self.choice.backend = backend,
            RunEvent::Forgotten => self.forget(out),
            RunEvent::TextChanged(revision) => {
                // The text that is shown decides: another one has another run.
                if self.revision != revision && self.clock.is_playing() {
                    self.clock.pause();
                }
                self.revision = revision;
            }
            RunEvent::StepAsked => {
                self.clock.pause();
                self.step(false, 1, out);
            }
            RunEvent::RestartAsked => {
                self.step(true, 1, out);
            }
            RunEvent::PlayAsked => self.play(None, out),
            RunEvent::PauseAsked => self.clock.pause(),
            RunEvent::Slid => self.slid(out),
            RunEvent::RunWhenCompiled(until) => self.clock.run_when_compiled(until),
            RunEvent::FrameDue(frame) => self.frame_due(frame, out),
            RunEvent::Compiled { is_newest, has_errors, has_steps } => {
                self.has_errors = has_errors;
                self.has_steps = has_steps;
                self.compiled(is_newest, out);
            }
            RunEvent::Answered => match std::mem::take(&mut self.state) {
                RunState::Waiting(run) => {
                    self.state = RunState::Running(run);
                    self.turn(|_, _, _, _| Turn::Next, out);
                }
                state => self.state = state,
            },
            RunEvent::Seen(generation) => {
                self.step_seen(generation, out);
                self.turn(|runs, run, _, _| runs.seen(run, generation), out);
            }
            RunEvent::Progress(done, total) => self.in_this_tab(done, total),
            RunEvent::KeeperGone(how) => self.lose_results(how, out),
            RunEvent::Prepared(ticket, ..)
            | RunEvent::Recorded(ticket, _)
            | RunEvent::Said(ticket, ..)
            | RunEvent::TookLong(ticket)
            | RunEvent::Gone(ticket, _)
            | RunEvent::Checked(ticket, ..)
            | RunEvent::Reached(ticket)
            | RunEvent::JobNamed(ticket, _)
            | RunEvent::Heard(ticket, _)
            | RunEvent::Followed(ticket)
            | RunEvent::Fetching(ticket, _)
            | RunEvent::Fetched(ticket, ..)
            | RunEvent::RunnerFailed(ticket, _) => self.answered(ticket, event, out),
        }
    }

    /// Takes an answer, unless it is late.
    fn answered(&mut self, ticket: Ticket, event: RunEvent<B>, out: &mut Vec<RunEffect<B>>) {
        match &self.state {
            RunState::Stepping(_, step) if step.part.ticket() == Some(ticket) => {
                self.step_answered(event, out);
            }
            RunState::Running(run) | RunState::Stopping(run, _) if run.part.ticket() == Some(ticket) => {
                self.turn(|runs, run, is_stopping, out| runs.run_answered(run, event, is_stopping, out), out);
            }
            RunState::Rest(_)
            | RunState::Waiting(_)
            | RunState::Running(_)
            | RunState::Stopping(..)
            | RunState::Stepping(..) => self.answered_late(ticket, event, out),
        }
    }

    fn step_answered(&mut self, event: RunEvent<B>, out: &mut Vec<RunEffect<B>>) {
        match event {
            RunEvent::Prepared(_, facts) => self.step_prepared(facts, out),
            RunEvent::Said(_, said, buffers, _) => self.step_said(*said, buffers, out),
            RunEvent::Gone(_, how) => self.step_gone(how, out),
            RunEvent::Recorded(_, now) => self.step_ends(Ok(now), out),
            RunEvent::TookLong(_) => {
                if let RunState::Stepping(_, step) = &mut self.state
                    && let StepPart::Asked { .. } = step.part
                {
                    step.is_long = true;
                }
            }
            _ => {}
        }
    }

    fn run_answered(
        &mut self,
        run: &mut ActiveRun<B>,
        event: RunEvent<B>,
        is_stopping: bool,
        out: &mut Vec<RunEffect<B>>,
    ) -> Turn {
        match event {
            RunEvent::Prepared(ticket, facts) => self.prepared(run, ticket, facts, out),
            RunEvent::Said(_, said, buffers, now) => self.said(run, *said, buffers, now, out),
            RunEvent::Checked(_, checked, buffers) => self.checked(run, checked, buffers, out),
            RunEvent::TookLong(_) => {
                if let Part::Here { is_long, .. } = &mut run.part {
                    *is_long = true;
                }
                Turn::Stays
            }
            RunEvent::Gone(_, how) => self.gone(run, how, out),
            RunEvent::Reached(_) => {
                if let Part::Reaching(_, kind) = &run.part {
                    run.rest.push_front(PlanStep::Job(kind.clone()));
                }
                Turn::Next
            }
            RunEvent::JobNamed(_, job) => {
                run.job = Some(job.clone());
                if is_stopping {
                    out.extend([RunEffect::Say(Notice::AskedToStop), RunEffect::Cancel(job)]);
                }
                Turn::Stays
            }
            RunEvent::Heard(_, event) => {
                self.heard(run, *event, out);
                Turn::Stays
            }
            RunEvent::Followed(_) => self.followed(run, out),
            RunEvent::Fetching(_, field) => {
                self.work(Activity::Fetches(field));
                Turn::Stays
            }
            RunEvent::Fetched(_, buffers, cores) => self.fetched(run, buffers, cores, out),
            RunEvent::RunnerFailed(_, trouble) => Turn::Ends(Failure::from(trouble).into()),
            _ => Turn::Stays,
        }
    }

    /// Takes what comes of something of before.
    fn answered_late(&mut self, ticket: Ticket, event: RunEvent<B>, out: &mut Vec<RunEffect<B>>) {
        match (self.leaving.take(), event) {
            (Some(Leaving::Run(left)), event) if left == ticket => match event {
                RunEvent::JobNamed(_, job) => {
                    self.leaving = Some(Leaving::Run(left));
                    out.push(RunEffect::Cancel(job));
                }
                RunEvent::Heard(..) | RunEvent::Fetching(..) | RunEvent::TookLong(_) => {
                    self.leaving = Some(Leaving::Run(left));
                }
                _ if self.is_working() => {}
                _ => out.push(RunEffect::Say(Notice::Stopped)),
            },
            (Some(Leaving::Step(left, result)), RunEvent::Said(_, said, ..)) if left == ticket => {
                if *said == AnswerBody::Stored {
                    self.results.differences = None;
                    self.results.generation += 1;
                    out.push(RunEffect::Look(Which::A, result.fields.clone()));
                    self.results.a = Some(Arc::new(*result));
                }
            }
            (leaving, _) => self.leaving = leaving,
        }
    }

    /// Has a run go on from where it is. `turn` hears whether it is stopping.
    fn turn(
        &mut self,
        turn: impl FnOnce(&mut Self, &mut ActiveRun<B>, bool, &mut Vec<RunEffect<B>>) -> Turn,
        out: &mut Vec<RunEffect<B>>,
    ) {
        let (mut run, stop) = match std::mem::take(&mut self.state) {
            RunState::Running(run) => (run, None),
            RunState::Stopping(run, then) => (run, Some(then)),
            state @ (RunState::Rest(_) | RunState::Waiting(_) | RunState::Stepping(..)) => {
                self.state = state;
                return;
            }
        };
        let mut turned = turn(self, &mut run, stop.is_some(), out);
        loop {
            turned = match turned {
                Turn::Stays => break,
                Turn::Ends(_) if run.is_lenient => {
                    run.is_lenient = false;
                    Turn::Next
                }
                Turn::Ends(aborted) => return self.end(run, Err(aborted), stop, out),
                Turn::Next => match run.rest.pop_front() {
                    None => return self.end(run, Ok(()), stop, out),
                    Some(step) if stop.is_some() && step.computes() => Turn::Ends(Aborted::Cancelled),
                    Some(step) => self.next(&mut run, step, out),
                },
            };
        }
        self.state = match stop {
            None => RunState::Running(run),
            Some(then) => RunState::Stopping(run, then),
        };
    }

    /// Begins a run, unless one goes on.
    pub(super) fn begin(&mut self, plan: RunPlan, out: &mut Vec<RunEffect<B>>) {
        if self.is_working() {
            return;
        }
        if let RunState::Stepping(_, step) = std::mem::take(&mut self.state)
            && let StepPart::Storing { ticket, result, .. } = step.part
        {
            self.leaving = Some(Leaving::Step(ticket, result));
        }
        self.clock.pause();
        self.clock.settle();
        self.results.measures_before = std::mem::take(&mut self.results.measures);
        self.begun = self.revision;
        let backend = plan.first().to_owned();
        self.work(Activity::Begins(backend.clone()));
        out.extend([RunEffect::Say(Notice::Runs(backend.clone())), RunEffect::AwaitCompiler]);
        let rest = plan.steps();
        self.state = RunState::Waiting(ActiveRun {
            plan,
            backend,
            part: Part::Ahead,
            rest,
            job: None,
            is_lenient: false,
        });
    }

    fn next(&mut self, run: &mut ActiveRun<B>, step: PlanStep<B>, out: &mut Vec<RunEffect<B>>) -> Turn {
        match step {
            PlanStep::Name(backend) => {
                out.push(RunEffect::Say(Notice::Runs(backend.clone())));
                run.backend = backend;
                return Turn::Next;
            }
            PlanStep::Here { backend, which } => self.prepare(run, Prepared::Here { backend, which }, out),
            PlanStep::Remote(backend) => self.reach(run, JobKind::Run(backend), out),
            PlanStep::Measure => self.reach(run, JobKind::Measure, out),
            PlanStep::Job(kind) => self.prepare(run, Prepared::Job(kind), out),
            PlanStep::Check => self.prepare(run, Prepared::Checking, out),
            PlanStep::Keep { which, result, buffers } => self.store(run, which, *result, buffers, out),
            PlanStep::Compare { here, backend } => {
                self.work(Activity::Compares);
                let ticket = self.ticket();
                run.part = Part::Comparing { ticket, here, backend };
                out.push(RunEffect::Compare(ticket));
            }
            PlanStep::LookAtMismatch(field, at) => {
                out.push(RunEffect::LookAtMismatch(field, at));
                return Turn::Next;
            }
            PlanStep::Say(notice) => {
                out.push(RunEffect::Say(notice));
                return Turn::Next;
            }
        }
        Turn::Stays
    }

    fn prepare(&mut self, run: &mut ActiveRun<B>, what: Prepared, out: &mut Vec<RunEffect<B>>) {
        let ticket = self.ticket();
        run.part = Part::Preparing(ticket, what);
        out.push(RunEffect::Prepare(ticket));
    }

    fn reach(&mut self, run: &mut ActiveRun<B>, kind: JobKind, out: &mut Vec<RunEffect<B>>) {
        self.work(Activity::AsksRunner);
        let ticket = self.ticket();
        run.part = Part::Reaching(ticket, kind);
        out.push(RunEffect::Reach(ticket));
    }

    fn prepared(
        &mut self,
        run: &mut ActiveRun<B>,
        ticket: Ticket,
        facts: RunFacts,
        out: &mut Vec<RunEffect<B>>,
    ) -> Turn {
        let part = std::mem::replace(&mut run.part, Part::Ahead);
        let Part::Preparing(_, what) = part else {
            run.part = part;
            return Turn::Stays;
        };
        let domain = facts.domain;
        match what {
            Prepared::Here { backend, which } => {
                let points = facts.points();
                if points > TAB_POINTS {
                    return Turn::Ends(Cause::TooManyPoints(points).into());
                }
                let ask = TabAsk::Run { backend: backend.clone(), domain };
                run.part = Part::Here { ticket, backend, which, facts, is_long: false };
                out.extend([RunEffect::Ask(ticket, ask), RunEffect::Remind(ticket)]);
            }
            Prepared::Job(kind) => {
                let job = match &kind {
                    JobKind::Run(backend) => JobAsk::Run { backend: backend.clone(), domain },
                    JobKind::Measure => JobAsk::Measure { domain },
                };
                run.part = Part::Job { ticket, kind, facts, told: Box::default() };
                out.push(RunEffect::Submit(ticket, job));
            }
            Prepared::Checking => {
                run.part = Part::Checking(ticket, facts);
                out.push(RunEffect::Ask(ticket, TabAsk::Check));
            }
        }
        Turn::Stays
    }

    /// The worker that runs, or the keeper, has answered.
    fn said(
        &mut self,
        run: &mut ActiveRun<B>,
        said: AnswerBody,
        buffers: B,
        now_ms: f64,
        out: &mut Vec<RunEffect<B>>,
    ) -> Turn {
        match (&run.part, said) {
            (Part::Here { backend, which, facts, .. }, AnswerBody::Ran { fields, timings, calls, gpu }) => {
                self.results.measures.calls = calls;
                let part = RunPart::Here(backend.clone());
                self.results.measures.timings.extend(timings.into_iter().map(|it| Timing {
                    name: it.step,
                    ms: it.ms,
                    bytes: it.bytes,
                    part: part.clone(),
                }));
                let ms = (now_ms - facts.now_ms).round();
                out.push(RunEffect::Say(Notice::Took { backend: backend.clone(), ms }));
                let (which, result) = (*which, result_of(backend, Machine::Here(gpu), facts, fields));
                self.store(run, which, result, buffers, out);
                Turn::Stays
            }
            (Part::Storing(..), said) => self.stored(run, said, out),
            (Part::Comparing { here, backend, .. }, AnswerBody::Compared { differences }) => {
                let cells = differences.iter().map(|it| it.differing).sum();
                let (here, backend) = (here.clone(), backend.clone());
                out.push(RunEffect::Say(Notice::Compared { here, backend, cells }));
                self.results.differences = Some(differences);
                if cells > 0 {
                    out.push(RunEffect::LookAtDifference);
                }
                Turn::Next
            }
            (Part::Checking(..), AnswerBody::Failed { why }) => Turn::Ends(Cause::LessonAtFault(why).into()),
            (Part::Comparing { .. }, AnswerBody::Failed { why }) => {
                Turn::Ends(Cause::Worker { why, cell: None }.into())
            }
            (Part::Here { .. }, said) => Turn::Ends(refused(said)),
            (_, _) => Turn::Ends(Cause::Unexpected.into()),
        }
    }

    fn store(
        &mut self,
        run: &mut ActiveRun<B>,
        which: Which,
        result: RunResult,
        buffers: B,
        out: &mut Vec<RunEffect<B>>,
    ) {
        let ticket = self.ticket();
        out.push(RunEffect::Store(ticket, which, result.fields.clone(), buffers));
        run.part = Part::Storing(ticket, which, Box::new(result));
    }

    /// The keeper has dropped the result before, and has this one or a fault.
    fn stored(&mut self, run: &mut ActiveRun<B>, said: AnswerBody, out: &mut Vec<RunEffect<B>>) -> Turn {
        let Part::Storing(_, which, result) = std::mem::replace(&mut run.part, Part::Ahead) else {
            return Turn::Ends(Cause::Unexpected.into());
        };
        *self.results.slot(which) = None;
        if which == Which::A {
            self.clock.forget();
        }
        self.results.differences = None;
        self.results.generation += 1;
        match said {
            AnswerBody::Stored => {}
            AnswerBody::Failed { why } => return Turn::Ends(Cause::Worker { why, cell: None }.into()),
            _ => return Turn::Ends(Cause::Unexpected.into()),
        }
        out.push(RunEffect::Look(which, result.fields.clone()));
        *self.results.slot(which) = Some(Arc::from(result));
        self.results.measures_before = self.results.measures.clone();
        out.push(RunEffect::Show(self.results.generation));
        run.part = Part::Showing(which, self.results.generation);
        Turn::Stays
    }

    /// A run is done when its result can be seen.
    fn seen(&mut self, run: &ActiveRun<B>, seen: u64) -> Turn {
        match run.part {
            Part::Showing(which, generation) if seen >= generation => {
                if self.results.slot(which).is_none() {
                    return Turn::Ends(Cause::FellOverDrawing.into());
                }
                Turn::Next
            }
            _ => Turn::Stays,
        }
    }

    /// The checks of a lesson are answered.
    fn checked(
        &mut self,
        run: &mut ActiveRun<B>,
        mut checked: Box<LessonResult>,
        [found, expected]: [B; 2],
        out: &mut Vec<RunEffect<B>>,
    ) -> Turn {
        let Part::Checking(_, facts) = run.part else { return Turn::Stays };
        let shown = checked.shown.take();
        let is_passed = checked.is_passed();
        out.push(RunEffect::Judge(checked, facts.revision));
        let notice = if is_passed { Notice::Passed } else { Notice::NotPassed };
        out.push(RunEffect::Say(notice.clone()));
        if let Some(shown) = shown {
            let facts = RunFacts { domain: shown.domain, ..facts };
            let result = |machine, fields| Box::new(result_of(super::DEBUG, machine, &facts, fields));
            run.rest.extend([
                PlanStep::Keep {
                    which: Which::A,
                    result: result(Machine::Learner, shown.found),
                    buffers: found,
                },
                PlanStep::Keep {
                    which: Which::B,
                    result: result(Machine::Solution, shown.expected),
                    buffers: expected,
                },
                PlanStep::LookAtMismatch(shown.field, shown.cell[2]),
            ]);
        } else if is_passed {
            // The learner's text runs to show its result.
            run.is_lenient = true;
            let backend = self.choice.backend.to_owned();
            run.rest.extend([PlanStep::Here { backend, which: Which::A }, PlanStep::Say(notice)]);
        }
        Turn::Next
    }

    /// The worker that runs, or the keeper, is gone. If it was the keeper, the results are gone with it.
    fn gone(&mut self, run: &ActiveRun<B>, how: WorkerGone, out: &mut Vec<RunEffect<B>>) -> Turn {
        let advice = match run.part {
            Part::Checking(..) => {
                return Turn::Ends(match how {
                    WorkerGone::Stopped => Aborted::Cancelled,
                    WorkerGone::Crashed(why) | WorkerGone::NotLoaded(why) => Cause::NotChecked(why).into(),
                    WorkerGone::Refused(message) => Cause::Browser(message).into(),
                });
            }
            Part::Storing(..) | Part::Comparing { .. } => Advice::SmallerDomain,
            _ => Advice::AnotherText,
        };
        if advice == Advice::SmallerDomain && !matches!(how, WorkerGone::Refused(_)) {
            self.results.clear();
        }
        if let WorkerGone::Crashed(_) = how {
            out.push(RunEffect::MakeReady);
        }
        Turn::Ends(Aborted::gone(how, advice))
    }

    /// The job has told all.
    fn followed(&mut self, run: &mut ActiveRun<B>, out: &mut Vec<RunEffect<B>>) -> Turn {
        let Part::Job { kind, facts, told, .. } = &mut run.part else { return Turn::Stays };
        if let Err(aborted) = told.result() {
            return Turn::Ends(aborted);
        }
        let facts = *facts;
        match kind {
            JobKind::Run(backend) => {
                let (backend, fields) = (backend.clone(), std::mem::take(&mut told.fields));
                let ticket = self.ticket();
                let job = run.job.clone().unwrap_or_default();
                out.push(RunEffect::Fetch(ticket, job, fields.clone()));
                run.part = Part::Fetching { ticket, backend, facts, fields };
                Turn::Stays
            }
            JobKind::Measure => {
                let Some(benchmark) = told.benchmark.take() else {
                    return Turn::Ends(Cause::Unexpected.into());
                };
                let RunFacts { precision, revision, .. } = facts;
                let found = BenchmarkResult { benchmark: *benchmark, precision, revision };
                self.results.benchmark = Some(Arc::new(found));
                out.push(RunEffect::Say(Notice::Measured));
                Turn::Next
            }
        }
    }

    fn fetched(
        &mut self,
        run: &mut ActiveRun<B>,
        buffers: B,
        cores: Option<u32>,
        out: &mut Vec<RunEffect<B>>,
    ) -> Turn {
        let Part::Fetching { backend, facts, fields, .. } = &mut run.part else { return Turn::Stays };
        let result = result_of(backend, Machine::Runner(cores), facts, std::mem::take(fields));
        run.rest.push_front(PlanStep::Say(Notice::RanRemote(backend.clone())));
        self.store(run, Which::B, result, buffers, out);
        Turn::Stays
    }

    fn in_this_tab(&mut self, done: u64, total: u64) {
        let is_here = match &self.state {
            RunState::Running(run) | RunState::Stopping(run, _) => {
                matches!(run.part, Part::Here { .. } | Part::Checking(..))
            }
            RunState::Stepping(_, step) => step.is_long,
            RunState::Rest(_) | RunState::Waiting(_) => false,
        };
        if is_here {
            let activity = Activity::InThisTab(self.choice.backend.to_owned());
            self.progress = Some(RunProgress { activity, steps: Some((done, total)) });
        }
    }

    /// Ends what runs.
    fn stop(&mut self, then: AfterStop, out: &mut Vec<RunEffect<B>>) {
        match std::mem::take(&mut self.state) {
            RunState::Waiting(run) => self.end(run, Err(Aborted::Cancelled), Some(then), out),
            RunState::Running(run) => {
                stop_run(&run, out);
                self.state = RunState::Stopping(run, then);
            }
            RunState::Stopping(run, before) => {
                cancel_job(&run, out);
                let then = if then == AfterStop::RunChosen { then } else { before };
                self.state = RunState::Stopping(run, then);
            }
            RunState::Stepping(before, mut step) if step.is_long => {
                if step.stop.is_none() && matches!(step.part, StepPart::Asked { .. }) {
                    out.push(RunEffect::StopWorker);
                }
                step.stop = Some(then);
                self.state = RunState::Stepping(before, step);
            }
            state @ (RunState::Rest(_) | RunState::Stepping(..)) => {
                self.state = state;
                if then == AfterStop::RunChosen {
                    out.push(RunEffect::RunChosen);
                }
            }
        }
    }

    /// Forgets results that belong to another text. Nobody hears of what still comes of them.
    fn forget(&mut self, out: &mut Vec<RunEffect<B>>) {
        match std::mem::take(&mut self.state) {
            RunState::Waiting(_) => out.push(RunEffect::Say(Notice::Stopped)),
            RunState::Running(run) => {
                stop_run(&run, out);
                self.leave(&run, out);
            }
            RunState::Stopping(run, _) => {
                cancel_job(&run, out);
                self.leave(&run, out);
            }
            RunState::Stepping(_, step) if step.is_long && step.stop.is_none() => {
                out.push(RunEffect::StopWorker);
            }
            RunState::Stepping(..) | RunState::Rest(_) => {}
        }
        self.clock.forget();
        self.clock.settle();
        self.results.clear();
        self.progress = None;
        self.results.measures = Measures::default();
        self.results.benchmark = None;
    }

    fn leave(&mut self, run: &ActiveRun<B>, out: &mut Vec<RunEffect<B>>) {
        match run.part.ticket() {
            Some(ticket) => self.leaving = Some(Leaving::Run(ticket)),
            None => out.push(RunEffect::Say(Notice::Stopped)),
        }
    }

    /// The keeper fell over while it was looked at: the results went with it.
    fn lose_results(&mut self, how: WorkerGone, out: &mut Vec<RunEffect<B>>) {
        self.results.clear();
        if let WorkerGone::Crashed(_) = how {
            out.push(RunEffect::MakeReady);
        }
        let Aborted::Failed(failure) = Aborted::gone(how, Advice::SmallerDomain) else { return };
        // A run that goes on has a result of its own to show.
        if self.is_working() {
            return;
        }
        self.results.measures = Measures::default();
        self.progress = None;
        out.push(RunEffect::Say(Notice::ResultsLost));
        if let RunState::Rest(outcome) | RunState::Stepping(outcome, _) = &mut self.state {
            *outcome = Outcome::Failed(Box::new(Failure { revision: self.begun, ..*failure }));
        }
    }

    fn end(
        &mut self,
        run: ActiveRun<B>,
        result: Result<(), Aborted>,
        stop: Option<AfterStop>,
        out: &mut Vec<RunEffect<B>>,
    ) {
        // Times and memory below the picture are those of the result that it shows.
        if run.plan == RunPlan::Measure || matches!(result, Err(Aborted::Cancelled)) {
            self.results.measures = self.results.measures_before.clone();
        }
        let outcome = match result {
            Ok(()) => {
                let backend = run.plan.last().to_owned();
                self.work(Activity::Done(backend.clone()));
                Outcome::Done(backend)
            }
            Err(Aborted::Cancelled) => {
                self.work(Activity::Stopped);
                out.push(RunEffect::Say(Notice::Stopped));
                Outcome::Cancelled
            }
            Err(Aborted::Failed(failure)) => {
                self.work(Activity::WithoutResult);
                out.push(RunEffect::Say(Notice::WithoutResult));
                Outcome::Failed(Box::new(Failure { revision: self.begun, ..*failure }))
            }
        };
        self.state = RunState::Rest(outcome);
        if stop == Some(AfterStop::RunChosen) {
            out.push(RunEffect::RunChosen);
        }
    }
}

/// Asks for the end of a run where it is at the moment. A job without a name is cancelled when it has one.
fn stop_run<B>(run: &ActiveRun<B>, out: &mut Vec<RunEffect<B>>) {
    if run.job.is_some() {
        cancel_job(run, out);
    } else if let Part::Here { .. } = run.part {
        out.push(RunEffect::StopWorker);
    }
}

fn cancel_job<B>(run: &ActiveRun<B>, out: &mut Vec<RunEffect<B>>) {
    if let Some(job) = &run.job {
        out.extend([RunEffect::Say(Notice::AskedToStop), RunEffect::Cancel(job.clone())]);
    }
}

fn result_of(backend: &str, machine: Machine, facts: &RunFacts, fields: Vec<FieldInfo>) -> RunResult {
    let RunFacts { domain, precision, revision, .. } = *facts;
    RunResult { backend: backend.to_owned(), machine, precision, domain, revision, fields, step: None }
}

impl Part {
    /// The question that it waits for.
    fn ticket(&self) -> Option<Ticket> {
        match self {
            Part::Preparing(ticket, _)
            | Part::Here { ticket, .. }
            | Part::Reaching(ticket, _)
            | Part::Job { ticket, .. }
            | Part::Fetching { ticket, .. }
            | Part::Storing(ticket, ..)
            | Part::Comparing { ticket, .. }
            | Part::Checking(ticket, _) => Some(*ticket),
            Part::Ahead | Part::Showing(..) => None,
        }
    }
}
