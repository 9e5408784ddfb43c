//! Runs: in a worker of this tab, on the runner, and the comparison of both.
//!
//! One worker runs, and is ended when the user stops it; another one keeps the last two results, which a run that
//! ends without one leaves as they were.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::bench::{CopyRate, GraphStep, Memory, gigabytes_per_second};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::job::{EndReason, EventKind, StageState};
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use isobar_protocol::tune::Tuned;
use isobar_protocol::worker::{Ask, Said, Which};
use js_sys::ArrayBuffer;
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
    /// What it had to move at least, where that is known.
    pub bytes: Option<u64>,
}

/// What was measured of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Step by step.
    pub timings: Vec<Timing>,
    /// What it needed at a time at most.
    pub memory: Option<Memory>,
    /// What its rate is held against.
    pub copy: Option<CopyRate>,
    /// Where the time of the call went.
    pub steps: Vec<GraphStep>,
    /// The schedule that was kept for it, where it had another than the compiler chooses.
    pub tuned: Option<Tuned>,
}

impl Measures {
    /// How fast a step moved what it had to, in words.
    #[must_use]
    pub fn rate(&self, step: &Timing) -> Option<String> {
        let bytes = step.bytes?;
        let rate = format!("{:.1} GB/s", gigabytes_per_second(bytes, step.ms)?);
        let part = self.copy.and_then(|it| Some((it.part(bytes, step.ms)?, it.threads)));
        Some(match part {
            Some((part, 0)) => format!("{rate}, {:.0} % of the GPU's copying", 100.0 * part),
            Some((part, _)) => format!("{rate}, {:.0} % of copying", 100.0 * part),
            None => rate,
        })
    }
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
pub(super) enum Ended {
    Cancelled,
    Failed(Box<Failure>),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Ended::Failed(Box::new(failure))
    }
}

/// The back ends that run in a tab: the fast one, the one that defines the meaning, and those of the browser's GPU, of
/// which the first has the bits of `debug`, and the other computes with f32 in place of f64.
pub const HERE: [&str; 4] = ["numpy", DEBUG, "webgpu", "webgpu-fast"];
/// The one that defines the meaning.
const DEBUG: &str = "debug";

/// The last run and its results.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub phase: RwSignal<Phase>,
    pub progress: RwSignal<Option<Progress>>,
    pub measures: RwSignal<Measures>,
    pub failure: RwSignal<Option<Failure>>,
    /// What goes on or ended last, in a line.
    pub status: RwSignal<String>,
    /// The result of this tab, and that of the runner.
    pub a: RwSignal<Option<Arc<Outcome>>>,
    pub b: RwSignal<Option<Arc<Outcome>>>,
    pub differences: RwSignal<Option<Vec<Difference>>>,
    /// Counts the results.
    pub generation: RwSignal<u64>,
    /// Whether the user asked for the end.
    pub is_stopping: RwSignal<bool>,
    /// The back end of the tab, one of [`HERE`].
    pub backend: RwSignal<&'static str>,
    /// Whether what runs at the moment runs in this tab.
    is_here: StoredValue<bool>,
    runner: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    keeper: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    job: StoredValue<Option<String>>,
    /// Counts the runs, so that a late end is dropped.
    begun: StoredValue<u64>,
    /// Those of the result that is shown, until the present run has one.
    measures_before: StoredValue<Measures>,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            phase: RwSignal::default(),
            progress: RwSignal::default(),
            measures: RwSignal::default(),
            failure: RwSignal::default(),
            status: RwSignal::default(),
            a: RwSignal::default(),
            b: RwSignal::default(),
            differences: RwSignal::default(),
            generation: RwSignal::default(),
            is_stopping: RwSignal::default(),
            backend: RwSignal::new(HERE[0]),
            is_here: StoredValue::new(false),
            runner: StoredValue::new_local(None),
            keeper: StoredValue::new_local(None),
            job: StoredValue::new(None),
            begun: StoredValue::new(0),
            measures_before: StoredValue::new(Measures::default()),
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

    /// The worker that keeps the fields, if there is one.
    pub(super) fn keeper(self) -> Option<Rc<Asker>> {
        self.keeper.get_value().filter(|it| !it.is_gone())
    }

    fn started_keeper(self) -> Result<Rc<Asker>, Failure> {
        started(self.keeper, |_, _| {})
    }

    fn started_runner(self) -> Result<Rc<Asker>, Failure> {
        started(self.runner, move |done, total| {
            if self.is_busy() {
                let text = format!("{} runs in this tab", self.backend.get_untracked());
                self.progress.set(Some(Progress { text, steps: Some((done, total)) }));
            }
        })
    }

    /// Starts the workers before they are needed: whoever served them may be gone by then.
    pub(super) fn make_ready(self) {
        // One that the browser refuses now is asked for again, and told of, at the next run.
        drop(self.started_runner());
        drop(self.started_keeper());
    }

    fn clear(self) {
        self.a.set(None);
        self.b.set(None);
        self.differences.set(None);
        self.measures_before.set_value(Measures::default());
        self.generation.update(|it| *it += 1);
    }

    /// The number of the run that begins.
    fn begin(self, backend: &str) -> u64 {
        self.failure.set(None);
        self.measures_before.set_value(self.measures.get_untracked());
        self.measures.set(Measures::default());
        self.is_stopping.set(false);
        self.progress.set(Some(Progress { text: format!("{backend}: begins"), steps: None }));
        self.phase.set(Phase::Working(backend.to_owned()));
        self.say(format!("{backend} runs …"));
        self.begun.update_value(|it| *it += 1);
        self.begun.get_value()
    }

    fn work(self, text: impl Into<String>) {
        self.progress.set(Some(Progress { text: text.into(), steps: None }));
    }

    fn time(self, name: impl Into<String>, ms: f64, bytes: Option<u64>) {
        self.measures.update(|it| it.timings.push(Timing { name: name.into(), ms, bytes }));
    }

    /// That of the run which began last, or of what made its end uninteresting.
    pub(super) fn number(self) -> u64 {
        self.begun.get_value()
    }

    /// What is told of a run is again what was told before this one, which gave no result.
    pub(super) fn keep_measures(self) {
        self.measures.set(self.measures_before.get_value());
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
                // What is still shown is what ran before.
                self.keep_measures();
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
    /// Starts the workers of runs as soon as the compiler, for whom the user waits, has answered.
    pub(super) fn make_ready(self) {
        Effect::new(move |was_ready: Option<bool>| {
            let has_answered =
                self.compilation.revision.get() > 0 || self.compilation.trouble.with(Option::is_some);
            let is_ready = was_ready == Some(true);
            if has_answered && !is_ready {
                self.run.make_ready();
            }
            has_answered || is_ready
        });
    }

    /// Forgets results that belong to another text.
    pub(super) fn forget_results(self) {
        if self.run.is_busy() {
            self.stop();
        }
        // Whatever comes of it, nobody hears.
        self.run.begun.update_value(|it| *it += 1);
        self.run.clear();
        self.run.phase.set(Phase::Empty);
        self.run.progress.set(None);
        self.run.failure.set(None);
        self.run.measures.set(Measures::default());
        self.measurement.found.set(None);
    }

    /// Runs the chosen back end in this tab.
    pub fn run_here(self) {
        let backend = self.run.backend.get_untracked();
        self.start_run(backend.to_owned(), async move {
            self.here(backend, Which::A).await.map(|()| backend.to_owned())
        });
    }

    /// Runs the chosen back end of this tab and `debug`, and compares all fields, bit by bit.
    pub fn check(self) {
        let here = self.run.backend.get_untracked();
        self.start_run(here.to_owned(), async move {
            self.here(here, Which::A).await?;
            self.run.phase.set(Phase::Working(DEBUG.to_owned()));
            self.run.say(format!("{DEBUG} runs …"));
            self.here(DEBUG, Which::B).await?;
            self.differences(here, DEBUG).await.map(|()| DEBUG.to_owned())
        });
    }

    /// Runs the chosen back end on the runner.
    pub fn run_on_runner(self) {
        let backend = self.connection.backend.get_untracked();
        self.start_run(backend.clone(), async move { self.remote(&backend).await.map(|()| backend) });
    }

    /// Runs both and compares all fields, bit by bit.
    pub fn compare(self) {
        let backend = self.connection.backend.get_untracked();
        let here = self.run.backend.get_untracked();
        self.start_run(here.to_owned(), async move { self.compared(here, &backend).await.map(|()| backend) });
    }

    /// Starts a run that begins on `backend`, unless one goes on.
    pub(super) fn start_run(
        self,
        backend: String,
        work: impl Future<Output = Result<String, Ended>> + 'static,
    ) {
        if self.run.is_busy() {
            return;
        }
        let number = self.run.begin(&backend);
        spawn_local(async move {
            let result = match self.answered(number).await {
                Ok(()) => work.await,
                Err(ended) => Err(ended),
            };
            if self.run.begun.get_value() == number {
                self.run.end(result);
            } else if !self.run.is_busy() {
                self.run.say("Stopped.");
            }
        });
    }

    /// Waits for the compiler's word on the newest text, which tells what a run takes.
    async fn answered(self, number: u64) -> Result<(), Ended> {
        loop {
            if self.run.is_stopping.get_untracked() || self.run.begun.get_value() != number {
                return Err(Ended::Cancelled);
            }
            if self.is_answered() {
                return Ok(());
            }
            page::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends what runs; tells whether anything did.
    pub(super) fn stop_what_runs(self) -> bool {
        let is_running = matches!(self.run.phase.get_untracked(), Phase::Working(_));
        self.stop();
        is_running
    }

    /// Ends what runs.
    pub fn stop(self) {
        let Phase::Working(_) = self.run.phase.get_untracked() else { return };
        self.run.is_stopping.set(true);
        match (self.run.job.get_value(), self.connection.runner()) {
            (Some(job), Some(runner)) => spawn_local(async move {
                self.run.say("The runner is asked to stop …");
                if let Err(error) = runner.cancel(&job).await {
                    self.connection.note(&error);
                }
            }),
            _ if self.run.is_here.get_value() => {
                if let Some(worker) = self.run.runner.get_value() {
                    worker.stop();
                }
                self.run.make_ready();
            }
            // The runner has not given the job a name yet: it is asked to stop when it has.
            _ => {}
        }
    }

    async fn compared(self, here: &'static str, backend: &str) -> Result<(), Ended> {
        self.here(here, Which::A).await?;
        self.run.phase.set(Phase::Working(backend.to_owned()));
        self.run.say(format!("{backend} runs …"));
        self.remote(backend).await?;
        self.differences(here, backend).await
    }

    /// Compares the two results, which these back ends gave.
    async fn differences(self, here: &str, backend: &str) -> Result<(), Ended> {
        self.run.work("the two results are compared");
        let keeper = self.run.started_keeper()?;
        let differences = match self.kept(keeper.ask(Ask::Compare, Vec::new()).await)? {
            Said::Compared { differences } => differences,
            Said::Failed { message } => return Err(Failure::new(message).into()),
            _ => return Err(unexpected().into()),
        };
        let cells: u64 = differences.iter().map(|it| it.differing).sum();
        self.run.say(format!("{here} and {backend}: {cells} cells differ."));
        self.run.differences.set(Some(differences));
        if cells > 0 {
            self.view.which.set(Which::Difference);
        }
        Ok(())
    }

    async fn here(self, backend: &'static str, which: Which) -> Result<(), Ended> {
        let domain = untrack(|| self.domain());
        let points = domain.iter().fold(1_i64, |n, &it| n.saturating_mul(it.max(0)));
        if points > TAB_POINTS {
            let message =
                format!("{points} points are more than this page runs in a tab, which is {TAB_POINTS}");
            let next = vec!["choose a smaller domain, or run on a runner".to_owned()];
            return Err(Failure { message, next, ..Failure::default() }.into());
        }
        let worker = self.run.started_runner()?;
        let request = self.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let since = page::now_ms();
        self.run.is_here.set_value(true);
        let answer = worker.ask(Ask::Run { request }, Vec::new()).await;
        self.run.is_here.set_value(false);
        let (said, buffers) = match answer {
            Ok(answer) => answer,
            Err(Gone::Stopped) => return Err(Ended::Cancelled),
            Err(gone) => return Err(self.lost_worker(gone, "change the domain or the text")),
        };
        match said {
            Said::Ran { fields, timings, note } => {
                for step in timings {
                    self.run.time(step.step, step.ms, step.bytes);
                }
                self.run.say(format!("{backend} ran in {:.0} ms.", page::now_ms() - since));
                let machine =
                    if note.is_empty() { "this tab".to_owned() } else { format!("this tab, {note}") };
                let backend = backend.to_owned();
                let outcome = Outcome { backend, machine, precision, domain, revision, fields };
                self.keep_result(which, outcome, buffers).await
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

    /// Puts a result into the picture in place of the one before, and waits until it can be seen.
    async fn keep_result(
        self,
        which: Which,
        outcome: Outcome,
        buffers: Vec<ArrayBuffer>,
    ) -> Result<(), Ended> {
        let keeper = self.run.started_keeper()?;
        let slot = if which == Which::B { self.run.b } else { self.run.a };
        let ask = Ask::Store { which, fields: outcome.fields.clone() };
        let said = self.kept(keeper.ask(ask, buffers).await)?;
        // The result before is gone, whatever came of this one.
        slot.set(None);
        self.run.differences.set(None);
        self.run.generation.update(|it| *it += 1);
        match said {
            Said::Stored => {}
            Said::Failed { message } => return Err(Failure::new(message).into()),
            _ => return Err(unexpected().into()),
        }
        self.look_at_result(which, &outcome.fields);
        slot.set(Some(Arc::new(outcome)));
        self.run.measures_before.set_value(self.run.measures.get_untracked());
        self.seen().await;
        if slot.with_untracked(Option::is_none) {
            let message = "the worker of this tab fell over when the result was to be drawn".to_owned();
            let next = vec!["your source is safe; choose a smaller domain and run again".to_owned()];
            return Err(Failure { message, next, ..Failure::default() }.into());
        }
        Ok(())
    }

    /// What the keeper answers; the results go with it when it falls over.
    fn kept<T>(self, reply: Result<(Said, T), Gone>) -> Result<Said, Ended> {
        reply.map(|(said, _)| said).map_err(|gone| {
            self.run.clear();
            self.lost_worker(gone, "choose a smaller domain")
        })
    }

    /// Takes note that the keeper fell over while it was looked at: the results went with it.
    pub(super) fn lose_results(self, gone: Gone) {
        self.run.clear();
        let Ended::Failed(failure) = self.lost_worker(gone, "choose a smaller domain") else { return };
        // A run that goes on has a result of its own to show.
        if !self.run.is_busy() {
            self.run.measures.set(Measures::default());
            self.run.progress.set(None);
            self.run.say("The results are lost.");
            self.run.failure.set(Some(*failure));
            self.run.phase.set(Phase::Failed);
        }
    }

    /// How a run ends whose worker is gone; another one is made ready.
    fn lost_worker(self, gone: Gone, advice: &str) -> Ended {
        let (message, next) = match gone {
            Gone::Stopped => return Ended::Cancelled,
            Gone::Crashed(message) => {
                self.run.make_ready();
                let message = format!("the worker of this tab fell over: {message}");
                (message, format!("your source is safe; {advice} and run again"))
            }
            // It is started once more by the next run, and not over and over.
            Gone::NotLoaded(message) => {
                let message = format!("the worker of this tab could not be started: {message}");
                (
                    message,
                    "your source is safe; run again, or reload the page when its server is back".to_owned(),
                )
            }
        };
        Failure { message, next: vec![next], ..Failure::default() }.into()
    }

    /// The runner, once it has said what it can do.
    pub(super) async fn reached(self) -> Result<Runner, Ended> {
        let Some(runner) = self.connection.runner() else {
            return Err(
                Failure::new("this page is served without a runner; start one with `isobar serve`").into()
            );
        };
        self.run.work("the runner is asked");
        self.connection.connect(&runner).await.map_err(|error| self.lost_runner(error))?;
        Ok(runner)
    }

    fn lost_runner(self, error: RunnerError) -> Ended {
        self.connection.note(&error);
        Ended::from(failure_of(error))
    }

    /// Has the runner do a job, and waits for its end; answers the job's name. Why it ended is heard here, all else
    /// by `hear`.
    pub(super) async fn job(
        self,
        runner: &Runner,
        request: &Request,
        mut hear: impl FnMut(EventKind),
    ) -> Result<String, Ended> {
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
                failure.message = match cell {
                    Some([i, j, k]) => format!("{message} (at i, j, k = {i}, {j}, {k})"),
                    None => message,
                };
                failure.diagnostics.extend(diagnostic);
            }
            other => hear(other),
        });
        followed.await.map_err(|error| self.lost_runner(error))?;
        match ended {
            Some((EndReason::Ok, _)) => Ok(ticket.job),
            Some((EndReason::Cancelled, _)) => Err(Ended::Cancelled),
            Some((reason, problem)) => Err(explained(failure, reason, problem).into()),
            None => Err(unexpected().into()),
        }
    }

    async fn remote(self, backend: &str) -> Result<(), Ended> {
        let runner = self.reached().await?;
        let domain = untrack(|| self.domain());
        let request = self.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let mut fields: Vec<FieldInfo> = Vec::new();
        let hear = |event: EventKind| match event {
            EventKind::Field { field } => fields.push(field),
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
            Link::Connected(found) => format!("runner, {} cores", found.cores),
            Link::None | Link::Idle | Link::Lost => "runner".to_owned(),
        });
        let outcome = Outcome { backend: backend.to_owned(), machine, precision, domain, revision, fields };
        self.keep_result(Which::B, outcome, buffers).await?;
        self.run.say(format!("{backend} ran on the runner."));
        Ok(())
    }

    /// The elements of the written fields.
    async fn fetch(
        self,
        runner: &Runner,
        job: &str,
        fields: &[FieldInfo],
    ) -> Result<Vec<ArrayBuffer>, Ended> {
        let mut buffers = Vec::with_capacity(fields.len());
        for field in fields {
            self.run.work(format!("`{}` is fetched", field.name));
            let buffer = runner.field(job, &field.name).await.map_err(|error| {
                self.connection.note(&error);
                failure_of(error)
            })?;
            buffers.push(buffer);
        }
        Ok(buffers)
    }

    /// Shows how a job goes on, of whatever kind it is.
    pub(super) fn hear(self, event: EventKind) {
        match event {
            EventKind::Queued { position, of } => {
                self.run.work(format!("waits for its turn: {position} of {of}"));
            }
            EventKind::Stage { name, state: StageState::Begun, .. } => self.run.work(name),
            EventKind::Progress { done, total } => {
                let text = "the runner works".to_owned();
                self.run.progress.set(Some(Progress { text, steps: Some((done, total)) }));
            }
            EventKind::Log { text } => self.run.say(text),
            EventKind::Accepted { .. }
            | EventKind::Stage { .. }
            | EventKind::Timing { .. }
            | EventKind::Memory { .. }
            | EventKind::Copy { .. }
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

/// The worker in `slot`; another one where there is none, or none any more.
fn started(
    slot: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    on_progress: impl Fn(u64, u64) + 'static,
) -> Result<Rc<Asker>, Failure> {
    if let Some(worker) = slot.get_value().filter(|it| !it.is_gone()) {
        return Ok(worker);
    }
    let worker = Asker::start(on_progress).map_err(Failure::new)?;
    slot.set_value(Some(worker.clone()));
    Ok(worker)
}

pub(super) fn unexpected() -> Failure {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_where_bytes_and_time_are_known() {
        let step = |ms, bytes| Timing { name: "run".to_owned(), ms, bytes };
        let mut measures = Measures::default();
        assert_eq!(measures.rate(&step(2.0, None)), None);
        assert_eq!(measures.rate(&step(0.0, Some(1))), None);
        assert_eq!(measures.rate(&step(2.0, Some(8_000_000))).as_deref(), Some("4.0 GB/s"));
        measures.copy = Some(CopyRate { bytes_per_s: 8e9, threads: 2 });
        let rate = measures.rate(&step(2.0, Some(8_000_000)));
        assert_eq!(rate.as_deref(), Some("4.0 GB/s, 50 % of copying"));
    }
}
