//! Runs: `debug` in a worker of this tab, other back ends on the runner, and the comparison of both.

use std::rc::Rc;
use std::sync::Arc;

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::job::{EndReason, EventKind, StageState};
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::problem::Problem;
use isobar_protocol::worker::{Ask, Said, Which};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::App;
use super::runner::Link;
use crate::bridge::asker::{Asker, Gone};
use crate::bridge::page;
use crate::bridge::runner::{Runner, RunnerError};

/// How the last run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Empty,
    /// On this back end.
    Working(String),
    Done(String),
    Failed,
    Cancelled,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub backend: String,
    /// Where it ran, in words.
    pub machine: String,
    pub precision: u32,
    pub domain: [i64; 3],
    /// The edit it belongs to.
    pub revision: u64,
    pub fields: Vec<FieldInfo>,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub text: String,
    /// Steps done and all steps, where that is known.
    pub steps: Option<(u64, u64)>,
}

/// A time that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub name: String,
    pub ms: f64,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    pub message: String,
    pub diagnostics: Vec<Diagnostic>,
    pub next: Vec<String>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }
}

/// How a run ended without a result.
#[derive(Clone, Debug, PartialEq)]
enum Ended {
    Cancelled,
    Failed(Box<Failure>),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Ended::Failed(Box::new(failure))
    }
}

/// The last run and its results.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub phase: RwSignal<Phase>,
    pub progress: RwSignal<Option<Progress>>,
    pub timings: RwSignal<Vec<Timing>>,
    pub failure: RwSignal<Option<Failure>>,
    /// What goes on or ended last, in a line.
    pub status: RwSignal<String>,
    /// The result of `debug`, and that of the runner.
    pub a: RwSignal<Option<Arc<Outcome>>>,
    pub b: RwSignal<Option<Arc<Outcome>>>,
    pub differences: RwSignal<Option<Vec<Difference>>>,
    /// Counts the results.
    pub generation: RwSignal<u64>,
    /// Whether the user asked for the end.
    pub is_stopping: RwSignal<bool>,
    worker: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    job: StoredValue<Option<String>>,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            phase: RwSignal::default(),
            progress: RwSignal::default(),
            timings: RwSignal::default(),
            failure: RwSignal::default(),
            status: RwSignal::default(),
            a: RwSignal::default(),
            b: RwSignal::default(),
            differences: RwSignal::default(),
            generation: RwSignal::default(),
            is_stopping: RwSignal::default(),
            worker: StoredValue::new_local(None),
            job: StoredValue::new(None),
        }
    }

    /// Whether a run goes on, for whoever draws.
    #[must_use]
    pub fn is_working(self) -> bool {
        self.phase.with(|it| matches!(it, Phase::Working(_)))
    }

    /// The same at this moment, for whoever acts.
    fn is_busy(self) -> bool {
        untrack(|| self.is_working())
    }

    /// Says what goes on.
    pub fn say(self, text: impl Into<String>) {
        self.status.set(text.into());
    }

    /// The worker that keeps the fields, if one was started.
    pub(super) fn worker(self) -> Option<Rc<Asker>> {
        self.worker.get_value()
    }

    fn started_worker(self) -> Result<Rc<Asker>, Failure> {
        if let Some(worker) = self.worker() {
            return Ok(worker);
        }
        let on_progress = move |done: u64, total: u64| {
            if self.is_busy() {
                let text = "debug runs in this tab".to_owned();
                self.progress.set(Some(Progress { text, steps: Some((done, total)) }));
            }
        };
        let worker = Asker::start(on_progress).map_err(Failure::new)?;
        self.worker.set_value(Some(worker.clone()));
        Ok(worker)
    }

    /// Ends the worker, and with it the fields that it keeps.
    fn drop_worker(self) {
        if let Some(worker) = self.worker() {
            worker.stop();
        }
        self.worker.set_value(None);
        self.clear();
        self.make_ready();
    }

    /// Starts the worker before it is needed: whoever served it may be gone by then.
    pub(super) fn make_ready(self) {
        // A browser that refuses now is asked again, and told of, at the next run.
        drop(self.started_worker());
    }

    fn clear(self) {
        self.a.set(None);
        self.b.set(None);
        self.differences.set(None);
        self.generation.update(|it| *it += 1);
    }

    fn begin(self, backend: &str) {
        self.failure.set(None);
        self.timings.set(Vec::new());
        self.differences.set(None);
        self.is_stopping.set(false);
        self.progress.set(Some(Progress { text: format!("{backend}: begins"), steps: None }));
        self.phase.set(Phase::Working(backend.to_owned()));
        self.say(format!("{backend} runs …"));
    }

    fn work(self, text: impl Into<String>) {
        self.progress.set(Some(Progress { text: text.into(), steps: None }));
    }

    fn time(self, name: impl Into<String>, ms: f64) {
        self.timings.update(|it| it.push(Timing { name: name.into(), ms }));
    }

    fn end(self, result: Result<String, Ended>) {
        self.job.set_value(None);
        match result {
            Ok(backend) => {
                self.work(format!("{backend}: done"));
                self.phase.set(Phase::Done(backend));
            }
            Err(Ended::Cancelled) => {
                self.work("stopped");
                self.say("Stopped.");
                self.phase.set(Phase::Cancelled);
            }
            Err(Ended::Failed(failure)) => {
                self.work("ended without a result");
                self.say("The run ended without a result.");
                self.failure.set(Some(*failure));
                self.phase.set(Phase::Failed);
            }
        }
    }
}

impl App {
    /// Forgets results that belong to another text.
    pub(super) fn forget_results(self) {
        if self.run.is_busy() {
            self.stop();
        }
        self.run.clear();
        self.run.phase.set(Phase::Empty);
        self.run.progress.set(None);
        self.run.failure.set(None);
        self.run.timings.set(Vec::new());
    }

    /// Runs `debug` in this tab.
    pub fn run_debug(self) {
        if self.run.is_busy() {
            return;
        }
        self.run.begin("debug");
        spawn_local(async move {
            let result = self.debug().await;
            self.run.end(result.map(|()| "debug".to_owned()));
        });
    }

    /// Runs the chosen back end on the runner.
    pub fn run_on_runner(self) {
        if self.run.is_busy() {
            return;
        }
        let backend = self.connection.backend.get_untracked();
        self.run.begin(&backend);
        spawn_local(async move {
            let result = self.remote(&backend).await;
            self.run.end(result.map(|()| backend));
        });
    }

    /// Runs both and compares all fields, bit by bit.
    pub fn compare(self) {
        if self.run.is_busy() {
            return;
        }
        let backend = self.connection.backend.get_untracked();
        self.run.begin("debug");
        spawn_local(async move {
            let result = self.compared(&backend).await;
            self.run.end(result.map(|()| backend));
        });
    }

    /// Ends what runs.
    pub fn stop(self) {
        let Phase::Working(backend) = self.run.phase.get_untracked() else { return };
        self.run.is_stopping.set(true);
        match (self.run.job.get_value(), self.connection.runner()) {
            (Some(job), Some(runner)) => spawn_local(async move {
                self.run.say("The runner is asked to stop …");
                if let Err(error) = runner.cancel(&job).await {
                    self.connection.note(&error);
                }
            }),
            _ if backend == "debug" => self.run.drop_worker(),
            // The runner has not given the job a name yet: it is asked to stop when it has.
            _ => {}
        }
    }

    async fn compared(self, backend: &str) -> Result<(), Ended> {
        self.debug().await?;
        self.run.phase.set(Phase::Working(backend.to_owned()));
        self.run.say(format!("{backend} runs …"));
        self.remote(backend).await?;
        self.run.work("the two results are compared");
        let worker = self.run.started_worker()?;
        let differences = match self.reply(worker.ask(Ask::Compare, Vec::new()).await)? {
            Said::Compared { differences } => differences,
            Said::Failed { message } => return Err(Failure::new(message).into()),
            _ => return Err(unexpected().into()),
        };
        let cells: u64 = differences.iter().map(|it| it.differing).sum();
        self.run.say(format!("debug and {backend}: {cells} cells differ."));
        self.run.differences.set(Some(differences));
        if cells > 0 {
            self.view.which.set(Which::Difference);
        }
        Ok(())
    }

    async fn debug(self) -> Result<(), Ended> {
        let domain = untrack(|| self.domain());
        let points = domain.iter().fold(1_i64, |n, &it| n.saturating_mul(it.max(0)));
        if points > TAB_POINTS {
            let message =
                format!("{points} points are more than this page runs in a tab, which is {TAB_POINTS}");
            let next = vec!["choose a smaller domain, or run on a runner".to_owned()];
            return Err(Failure { message, next, ..Failure::default() }.into());
        }
        let worker = self.run.started_worker()?;
        let request = self.project.run_request("debug", domain);
        let revision = self.project.revision.get_untracked();
        let since = page::now_ms();
        let said = self.reply(worker.ask(Ask::Run { request }, Vec::new()).await)?;
        match said {
            Said::Ran { fields, timings } => {
                for step in timings {
                    self.run.time(step.step, step.ms);
                }
                self.run.say(format!("debug ran in {:.0} ms.", page::now_ms() - since));
                self.run.a.set(Some(Arc::new(Outcome {
                    backend: "debug".to_owned(),
                    machine: "this tab".to_owned(),
                    precision: self.project.precision.get_untracked(),
                    domain,
                    revision,
                    fields: fields.clone(),
                })));
                self.look_at_result(Which::A, &fields);
                self.run.generation.update(|it| *it += 1);
                self.seen().await;
                Ok(())
            }
            Said::RunEnded { message, diagnostics, cell } => {
                let message = match cell {
                    Some([i, j, k]) => format!("{message} (at i, j, k = {i}, {j}, {k})"),
                    None => message,
                };
                Err(Failure { message, diagnostics, next: Vec::new() }.into())
            }
            Said::Failed { message } => Err(Failure::new(message).into()),
            _ => Err(unexpected().into()),
        }
    }

    fn reply<T>(self, reply: Result<(Said, T), Gone>) -> Result<Said, Ended> {
        match reply {
            Ok((said, _)) => Ok(said),
            Err(Gone::Stopped) => Err(Ended::Cancelled),
            Err(Gone::Crashed(message)) => {
                self.run.drop_worker();
                Err(Failure {
                    message: format!("the run crashed its worker: {message}"),
                    next: vec!["your source is safe; change the domain or the text and run again".to_owned()],
                    ..Failure::default()
                }
                .into())
            }
        }
    }

    async fn remote(self, backend: &str) -> Result<(), Ended> {
        let Some(runner) = self.connection.runner() else {
            return Err(
                Failure::new("this page is served without a runner; start one with `isobar serve`").into()
            );
        };
        let lost = |error: RunnerError| {
            self.connection.note(&error);
            Ended::from(failure_of(error))
        };
        self.run.work("the runner is asked");
        self.connection.connect(&runner).await.map_err(lost)?;
        let domain = untrack(|| self.domain());
        let request = self.project.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let ticket = runner.submit(&request).await.map_err(lost)?;
        self.run.job.set_value(Some(ticket.job.clone()));
        if self.run.is_stopping.get_untracked() {
            self.stop();
        }

        let mut fields: Vec<FieldInfo> = Vec::new();
        let mut ended = None;
        let mut failure = Failure::default();
        let followed = runner.follow(&ticket.job, |event| match event {
            EventKind::Field { field } => fields.push(field),
            EventKind::Ended { reason, problem } => ended = Some((reason, problem)),
            EventKind::Diagnostic { diagnostic } => failure.diagnostics.push(diagnostic),
            EventKind::Trap { message, diagnostic, cell } => {
                failure.message = match cell {
                    Some([i, j, k]) => format!("{message} (at i, j, k = {i}, {j}, {k})"),
                    None => message,
                };
                failure.diagnostics.extend(diagnostic);
            }
            other => self.hear(other),
        });
        followed.await.map_err(lost)?;
        match ended {
            Some((EndReason::Ok, _)) => {}
            Some((EndReason::Cancelled, _)) => return Err(Ended::Cancelled),
            Some((reason, problem)) => return Err(explained(failure, reason, problem).into()),
            None => return Err(unexpected().into()),
        }

        self.fetch(&runner, &ticket.job, &fields).await?;
        let machine = self.connection.link.with_untracked(|it| match it {
            Link::Connected(found) => format!("runner, {} cores", found.cores),
            Link::None | Link::Idle | Link::Lost => "runner".to_owned(),
        });
        self.run.b.set(Some(Arc::new(Outcome {
            backend: backend.to_owned(),
            machine,
            precision: self.project.precision.get_untracked(),
            domain,
            revision,
            fields: fields.clone(),
        })));
        self.look_at_result(Which::B, &fields);
        self.run.generation.update(|it| *it += 1);
        self.seen().await;
        self.run.say(format!("{backend} ran on the runner."));
        Ok(())
    }

    /// Brings the written fields into the worker.
    async fn fetch(self, runner: &Runner, job: &str, fields: &[FieldInfo]) -> Result<(), Ended> {
        let mut buffers = Vec::with_capacity(fields.len());
        for field in fields {
            self.run.work(format!("`{}` is fetched", field.name));
            let buffer = runner.field(job, &field.name).await.map_err(|error| {
                self.connection.note(&error);
                failure_of(error)
            })?;
            buffers.push(buffer);
        }
        let worker = self.run.started_worker()?;
        match self.reply(worker.ask(Ask::Store { fields: fields.to_vec() }, buffers).await)? {
            Said::Stored => Ok(()),
            Said::Failed { message } => Err(Failure::new(message).into()),
            _ => Err(unexpected().into()),
        }
    }

    /// Shows how a job goes on.
    fn hear(self, event: EventKind) {
        match event {
            EventKind::Queued { position, of } => {
                self.run.work(format!("waits for its turn: {position} of {of}"));
            }
            EventKind::Stage { name, state: StageState::Begun, .. } => self.run.work(name),
            EventKind::Timing { name, ms, .. } => self.run.time(name, ms),
            EventKind::Progress { done, total } => {
                let text = "the runner works".to_owned();
                self.run.progress.set(Some(Progress { text, steps: Some((done, total)) }));
            }
            EventKind::Log { text } => self.run.say(text),
            EventKind::Accepted { .. }
            | EventKind::Stage { .. }
            | EventKind::Field { .. }
            | EventKind::Trap { .. }
            | EventKind::Diagnostic { .. }
            | EventKind::Ended { .. } => {}
        }
    }
}

fn unexpected() -> Failure {
    Failure::new("an answer came that belongs to no question; this is a fault of the page")
}

fn failure_of(error: RunnerError) -> Failure {
    match error {
        RunnerError::Lost => Failure {
            message: "The runner stopped answering: it was ended, or cannot be reached any more.".to_owned(),
            next: vec![
                "start it again and open the address that it prints; everything else here goes on working"
                    .to_owned(),
            ],
            ..Failure::default()
        },
        RunnerError::Refused(problem) => of_problem(*problem),
        RunnerError::Garbled(what) => Failure {
            message: format!("the runner answered something that this page does not understand: {what}"),
            next: vec!["page and runner may be of different versions: reload the page".to_owned()],
            ..Failure::default()
        },
    }
}

fn of_problem(problem: Problem) -> Failure {
    let mut message = if problem.detail.is_empty() { problem.title } else { problem.detail };
    if let Some(limit) = &problem.limit {
        message.push_str(&format!(
            " ({}: {} {} allowed, {} asked for)",
            limit.name, limit.allowed, limit.unit, limit.asked
        ));
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
            EndReason::Limit => "the job reached a limit of the runner",
            EndReason::Trap => "the run stopped itself",
            EndReason::Crash => "the job crashed; the runner goes on",
            EndReason::RunnerShutdown => "the runner was shut down",
            EndReason::Ok | EndReason::Cancelled | EndReason::Error => "the job ended with an error",
        }
        .to_owned();
    }
    failure
}
