//! Runs on the runner: a job, what it tells on its way, and how it can fail.

use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, EventKind, StageState};
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use isobar_protocol::worker::Which;
use js_sys::ArrayBuffer;
use leptos::prelude::*;

use super::{AbortedRun, Failure, RunProgress, RunResult, at_cell, unexpected};
use crate::bridge::locale::t;
use crate::bridge::runner::{Runner, RunnerError};
use crate::state::App;
use crate::state::runner::RunnerLink;

impl App {
    /// The runner, once it has said what it can do.
    pub(in crate::state) async fn reached(self) -> Result<Runner, AbortedRun> {
        let Some(runner) = self.connection.runner() else {
            return Err(Failure::new(t!("state-runner-none")).into());
        };
        self.run.work(t!("state-runner-asked"));
        self.connection.connect(&runner).await.map_err(|error| self.lost_runner(error))?;
        Ok(runner)
    }

    fn lost_runner(self, error: RunnerError) -> AbortedRun {
        self.connection.note(&error);
        AbortedRun::from(failure_of(error))
    }

    /// Has the runner do a job, and waits for its end; answers the job's name. Why it ended is heard here, all else
    /// by `hear`.
    pub(in crate::state) async fn job(
        self,
        runner: &Runner,
        request: &Request,
        mut hear: impl FnMut(EventKind),
    ) -> Result<String, AbortedRun> {
        let ticket = runner.submit(request).await.map_err(|error| self.lost_runner(error))?;
        self.run.job.set_value(Some(ticket.job.clone()));
        if self.run.is_stopping.get_untracked() {
            self.stop();
        }
        let mut ended = None;
        let mut failure = Failure::default();
        let followed = runner.follow(&ticket.job, |event| match event {
            EventKind::Ended { reason, problem } => ended = Some((reason, problem)),
            EventKind::Diagnostic { diagnostic } => failure.diagnostics.push(diagnostic),
            EventKind::Trap { message, diagnostic, cell } => {
                failure.message = at_cell(&message, cell);
                failure.diagnostics.extend(diagnostic);
            }
            other => hear(other),
        });
        followed.await.map_err(|error| self.lost_runner(error))?;
        match ended {
            Some((EndReason::Ok, _)) => Ok(ticket.job),
            Some((EndReason::Cancelled, _)) => Err(AbortedRun::Cancelled),
            Some((reason, problem)) => Err(explained(failure, reason, problem).into()),
            None => Err(unexpected().into()),
        }
    }

    pub(super) async fn remote(self, backend: &str) -> Result<(), AbortedRun> {
        let runner = self.reached().await?;
        self.run.part.set_value(t!("state-run-part-runner", backend = backend));
        let domain = untrack(|| self.domain());
        let request = self.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let mut fields: Vec<FieldInfo> = Vec::new();
        let hear = |event: EventKind| match event {
            EventKind::Field { field } => fields.push(field),
            // It begins anew.
            EventKind::Restarted { .. } => fields.clear(),
            EventKind::Timing { name, ms, bytes } => self.run.time(name, ms, bytes),
            EventKind::Memory { memory } => self.run.measures.update(|it| it.memory = Some(memory)),
            EventKind::Copy { copy } => self.run.measures.update(|it| it.copy = Some(copy)),
            EventKind::Steps { steps } => self.run.measures.update(|it| it.steps = steps),
            EventKind::Tuned { tuned } => self.run.measures.update(|it| it.tuned = Some(tuned)),
            other => self.hear(other),
        };
        let job = self.job(&runner, &request, hear).await?;

        let buffers = self.fetch(&runner, &job, &fields).await?;
        let machine = self.connection.link.with_untracked(|it| match it {
            RunnerLink::Connected(found) => t!("state-run-machine-cores", cores = found.cores),
            RunnerLink::None | RunnerLink::Idle | RunnerLink::Lost => {
                t!("state-run-machine-runner").to_owned()
            }
        });
        let outcome = RunResult {
            backend: backend.to_owned(),
            machine,
            precision,
            domain,
            revision,
            fields,
            step: None,
        };
        self.keep_result(Which::B, outcome, buffers).await?;
        self.run.say(t!("state-run-ran-remote", backend = backend));
        Ok(())
    }

    /// The elements of the written fields.
    async fn fetch(
        self,
        runner: &Runner,
        job: &str,
        fields: &[FieldInfo],
    ) -> Result<Vec<ArrayBuffer>, AbortedRun> {
        let mut buffers = Vec::with_capacity(fields.len());
        for field in fields {
            self.run.work(t!("state-runner-fetches", field = &field.name));
            let buffer = runner.field(job, &field.name).await.map_err(|error| {
                self.connection.note(&error);
                failure_of(error)
            })?;
            buffers.push(buffer);
        }
        Ok(buffers)
    }

    /// Shows how a job goes on, of whatever kind it is.
    pub(in crate::state) fn hear(self, event: EventKind) {
        match event {
            EventKind::Queued { position, of } => {
                self.run.work(t!("state-runner-waits", position = position, of = of));
            }
            EventKind::Stage { name, state: StageState::Begun, .. } => self.run.work(name),
            EventKind::Progress { done, total } => {
                let text = t!("state-runner-works").to_owned();
                self.run.progress.set(Some(RunProgress { text, steps: Some((done, total)) }));
            }
            EventKind::Log { text } => self.run.say(text),
            EventKind::Layout { layout } if !layout.is_plain() => self.run.say(layout.to_string()),
            EventKind::Accepted { .. }
            | EventKind::Restarted { .. }
            | EventKind::Stage { .. }
            | EventKind::Timing { .. }
            | EventKind::Memory { .. }
            | EventKind::Copy { .. }
            | EventKind::Layout { .. }
            | EventKind::Steps { .. }
            | EventKind::Tuned { .. }
            | EventKind::Field { .. }
            | EventKind::Benchmark { .. }
            | EventKind::Tuning { .. }
            | EventKind::Trap { .. }
            | EventKind::Diagnostic { .. }
            | EventKind::Ended { .. } => {}
        }
    }
}

fn failure_of(error: RunnerError) -> Failure {
    match error {
        RunnerError::Lost => Failure {
            message: t!("state-runner-lost").to_owned(),
            next: vec![t!("state-runner-lost-next").to_owned()],
            ..Failure::default()
        },
        RunnerError::Refused(problem) => of_problem(*problem),
        RunnerError::Garbled(what) => Failure {
            message: t!("state-runner-garbled", what = what),
            next: vec![t!("state-runner-garbled-next").to_owned()],
            ..Failure::default()
        },
    }
}

fn of_problem(problem: Problem) -> Failure {
    let mut message = if problem.detail.is_empty() { problem.title } else { problem.detail };
    if let Some(limit) = &problem.limit {
        message = t!(
            "state-runner-limit",
            message = message,
            name = &limit.name,
            unit = &limit.unit,
            allowed = limit.allowed,
            asked = limit.asked
        );
    }
    Failure { message, diagnostics: problem.diagnostics, next: problem.next }
}

fn explained(mut failure: Failure, reason: EndReason, problem: Option<Problem>) -> Failure {
    if let Some(problem) = problem {
        let of_problem = of_problem(problem);
        if failure.message.is_empty() {
            failure.message = of_problem.message;
        }
        failure.diagnostics.extend(of_problem.diagnostics);
        failure.next.extend(of_problem.next);
    }
    if failure.message.is_empty() {
        failure.message = match reason {
            EndReason::Limit => t!("state-runner-ended-limit"),
            EndReason::Trap => t!("state-runner-ended-trap"),
            EndReason::Crash => t!("state-runner-ended-crash"),
            EndReason::RunnerShutdown | EndReason::Interrupted => t!("state-runner-ended-shutdown"),
            EndReason::Ok | EndReason::Cancelled | EndReason::Error => t!("state-runner-ended-error"),
        }
        .to_owned();
    }
    failure
}
