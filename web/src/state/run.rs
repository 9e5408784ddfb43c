//! Runs: in a worker of this tab, on the runner, and the comparison of both.
//!
//! One worker runs, and is ended when the user stops it. Another one keeps the last two results; a run that
//! ends without a result leaves them as they were.

mod remote;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Ask, Which};
use js_sys::ArrayBuffer;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::layout::Tab;
use super::measures::{Measures, Timing};
use super::{App, why};
use crate::bridge::asker::{Asker, WorkerEnd};
use crate::bridge::locale::t;
use crate::bridge::page;

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

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    pub backend: String,
    /// Where it ran, in words.
    pub machine: String,
    pub precision: u32,
    pub domain: [i64; 3],
    /// The edit it belongs to.
    pub revision: u64,
    pub fields: Vec<FieldInfo>,
    /// The time steps that were taken, where it is no single run.
    pub step: Option<u64>,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunProgress {
    pub text: String,
    /// Steps done and all steps, where that is known.
    pub steps: Option<(u64, u64)>,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    pub message: String,
    pub diagnostics: Vec<Diagnostic>,
    pub next: Vec<String>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub(super) fn too_many_points(points: i64) -> Self {
        let message = t!("state-run-too-many-points", points = points, most = TAB_POINTS);
        let next = vec![t!("state-run-too-many-points-next").to_owned()];
        Self { message, next, ..Self::default() }
    }

    /// Why a run ended, and at which point.
    pub(super) fn at_cell(why: &Why, diagnostics: Vec<Diagnostic>, cell: Option<[i64; 3]>) -> Self {
        Self { message: at_cell(&why::in_words(why), cell), diagnostics, next: Vec::new() }
    }
}

/// Why a run ended, and at which point.
fn at_cell(message: &str, cell: Option<[i64; 3]>) -> String {
    match cell {
        Some([i, j, k]) => t!("state-run-at-cell", message = message, cell = format!("{i}, {j}, {k}")),
        None => message.to_owned(),
    }
}

/// How a run ended without a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AbortedRun {
    Cancelled,
    Failed(Box<Failure>),
}

impl From<Failure> for AbortedRun {
    fn from(failure: Failure) -> Self {
        AbortedRun::Failed(Box::new(failure))
    }
}

/// The back ends that run in a tab: the fast one, the one that defines the meaning, and two on the browser's
/// GPU. The first of these has the bits of `debug`; the other computes with f32 in place of f64.
pub const HERE: [&str; 4] = ["numpy", DEBUG, "webgpu", "webgpu-fast"];
/// The one that defines the meaning.
const DEBUG: &str = "debug";

/// Where the next run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunTarget {
    #[default]
    Here,
    Runner,
}

/// A run in this tab is asked about when it takes longer.
const LONG: Duration = Duration::from_secs(3);

/// The last run and its results.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub phase: RwSignal<Phase>,
    pub progress: RwSignal<Option<RunProgress>>,
    pub measures: RwSignal<Measures>,
    pub failure: RwSignal<Option<Failure>>,
    /// The present activity, or the last one, in a line.
    pub status: RwSignal<String>,
    /// The result of this tab, and that of the runner.
    pub a: RwSignal<Option<Arc<RunResult>>>,
    pub b: RwSignal<Option<Arc<RunResult>>>,
    pub differences: RwSignal<Option<Vec<Difference>>>,
    /// Counts the results.
    pub generation: RwSignal<u64>,
    /// Whether the user asked for the end.
    pub is_stopping: RwSignal<bool>,
    /// The back end of the tab, one of [`HERE`].
    pub backend: RwSignal<&'static str>,
    /// Where the next run is.
    pub place: RwSignal<RunTarget>,
    /// The edit that the failure belongs to.
    pub failed_revision: RwSignal<u64>,
    /// Whether the run in this tab takes so long that something else may be wanted.
    pub is_long: RwSignal<bool>,
    /// The part that runs at the moment, as the timings name it.
    part: StoredValue<String>,
    /// Whether what runs at the moment runs in this tab.
    is_here: StoredValue<bool>,
    /// Counts the questions to the worker of this tab.
    asked: StoredValue<u64>,
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
            place: RwSignal::default(),
            failed_revision: RwSignal::default(),
            is_long: RwSignal::default(),
            part: StoredValue::new(String::new()),
            is_here: StoredValue::new(false),
            asked: StoredValue::new(0),
            runner: StoredValue::new_local(None),
            keeper: StoredValue::new_local(None),
            job: StoredValue::new(None),
            begun: StoredValue::new(0),
            measures_before: StoredValue::new(Measures::default()),
        }
    }

    /// Whether a run goes on; tracked, for views.
    #[must_use]
    pub fn is_working(self) -> bool {
        self.phase.with(|it| matches!(it, Phase::Working(_)))
    }

    /// The same at this moment, untracked, for actions.
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

    pub(super) fn started_keeper(self) -> Result<Rc<Asker>, Failure> {
        started(self.keeper, |_, _| {})
    }

    pub(super) fn started_runner(self) -> Result<Rc<Asker>, Failure> {
        started(self.runner, move |done, total| {
            if self.is_busy() {
                let text = t!("state-run-in-this-tab", backend = self.backend.get_untracked());
                self.progress.set(Some(RunProgress { text, steps: Some((done, total)) }));
            }
        })
    }

    /// Starts the workers before they are needed, because the server of the page may be gone by then.
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
        self.progress.set(Some(RunProgress { text: t!("state-run-begins", backend = backend), steps: None }));
        self.phase.set(Phase::Working(backend.to_owned()));
        self.say(t!("state-run-runs", backend = backend));
        self.begun.update_value(|it| *it += 1);
        self.begun.get_value()
    }

    fn work(self, text: impl Into<String>) {
        self.progress.set(Some(RunProgress { text: text.into(), steps: None }));
    }

    fn time(self, name: impl Into<String>, ms: f64, bytes: Option<u64>) {
        let timing = Timing { name: name.into(), ms, bytes, part: self.part.get_value() };
        self.measures.update(|it| it.timings.push(timing));
    }

    /// That of the run which began last, or of what made its end uninteresting.
    pub(super) fn number(self) -> u64 {
        self.begun.get_value()
    }

    /// Restores the measurements from before this run, which gave no result.
    pub(super) fn keep_measures(self) {
        self.measures.set(self.measures_before.get_value());
    }

    /// The run that goes on from step to step is at rest, and so stands.
    pub(super) fn settle(self, phase: Phase) {
        if self.failure.with_untracked(Option::is_some) {
            self.failure.set(None);
        }
        if self.phase.with_untracked(|it| *it != phase) {
            self.phase.set(phase);
        }
    }

    /// A run that began without a bar of its own ended without a result.
    pub(super) fn fail(self, failure: Failure) {
        self.say(t!("state-run-said-without-result"));
        self.failure.set(Some(failure));
        self.phase.set(Phase::Failed);
    }

    fn end(self, result: Result<String, AbortedRun>) {
        self.job.set_value(None);
        match result {
            Ok(backend) => {
                self.work(t!("state-run-done", backend = &backend));
                self.phase.set(Phase::Done(backend));
            }
            Err(AbortedRun::Cancelled) => {
                self.work(t!("state-run-stopped"));
                // The shown result is still that of an earlier run.
                self.keep_measures();
                self.say(t!("state-run-said-stopped"));
                self.phase.set(Phase::Cancelled);
            }
            Err(AbortedRun::Failed(failure)) => {
                self.work(t!("state-run-without-result"));
                self.say(t!("state-run-said-without-result"));
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
        self.clock.forget();
        // Whatever comes of it, nobody hears.
        self.run.begun.update_value(|it| *it += 1);
        self.run.clear();
        self.run.phase.set(Phase::Empty);
        self.run.progress.set(None);
        self.run.failure.set(None);
        self.run.measures.set(Measures::default());
        self.measurement.found.set(None);
    }

    /// Shows the results of the run that is asked for: a narrow page shows one view at a time.
    fn show_results(self) {
        self.layout.tab.set(Tab::Result);
    }

    /// Runs what is chosen, where it is chosen.
    pub fn run_chosen(self) {
        self.show_results();
        match self.run.place.get_untracked() {
            RunTarget::Here => self.run_here(),
            RunTarget::Runner => self.run_on_runner(),
        }
    }

    /// Chooses where the next run is, as `here:numpy` or `runner:rayon`.
    pub fn choose_target(self, target: &str) {
        match target.split_once(':') {
            Some(("here", name)) => {
                self.run.backend.set(HERE.into_iter().find(|it| *it == name).unwrap_or(HERE[0]));
                self.run.place.set(RunTarget::Here);
            }
            Some(("runner", name)) => {
                self.connection.backend.set(name.to_owned());
                self.run.place.set(RunTarget::Runner);
            }
            _ => {}
        }
    }

    /// Ends the run in this tab, which takes long, and runs something faster in its place.
    pub fn run_instead(self, target: &str) {
        self.stop();
        self.choose_target(target);
        // When it has ended.
        set_timeout(move || self.run_chosen(), Duration::from_millis(50));
    }

    /// Whether the failure that is shown is of another text.
    #[must_use]
    pub fn is_failure_old(self) -> bool {
        self.run.failed_revision.get() != self.project.revision.get()
    }

    /// Whether one of the results that were compared is of another text.
    #[must_use]
    pub fn is_comparison_old(self) -> bool {
        let is_old = |it: &Option<Arc<RunResult>>| {
            it.as_ref().is_some_and(|it| it.revision != self.project.revision.get())
        };
        self.run.a.with(is_old) || self.run.b.with(is_old)
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
        self.show_results();
        let here = self.run.backend.get_untracked();
        self.start_run(here.to_owned(), async move {
            self.here(here, Which::A).await?;
            self.run.phase.set(Phase::Working(DEBUG.to_owned()));
            self.run.say(t!("state-run-runs", backend = DEBUG));
            self.here(DEBUG, Which::B).await?;
            self.differences(here, DEBUG).await.map(|()| DEBUG.to_owned())
        });
    }

    /// Runs the chosen back end on the runner.
    pub fn run_on_runner(self) {
        self.show_results();
        let backend = self.connection.backend.get_untracked();
        self.start_run(backend.clone(), async move { self.remote(&backend).await.map(|()| backend) });
    }

    /// Runs both and compares all fields, bit by bit.
    pub fn compare(self) {
        self.show_results();
        let backend = self.connection.backend.get_untracked();
        let here = self.run.backend.get_untracked();
        self.start_run(here.to_owned(), async move { self.compared(here, &backend).await.map(|()| backend) });
    }

    /// Starts a run that begins on `backend`, unless one goes on.
    pub(super) fn start_run(
        self,
        backend: String,
        work: impl Future<Output = Result<String, AbortedRun>> + 'static,
    ) {
        if self.run.is_busy() {
            return;
        }
        self.clock.pause();
        let number = self.run.begin(&backend);
        self.run.failed_revision.set(self.project.revision.get_untracked());
        spawn_local(async move {
            let result = match self.answered(number).await {
                Ok(()) => work.await,
                Err(ended) => Err(ended),
            };
            if self.run.begun.get_value() == number {
                self.run.end(result);
            } else if !self.run.is_busy() {
                self.run.say(t!("state-run-said-stopped"));
            }
        });
    }

    /// Waits for the compiler's word on the newest text, which tells what a run takes.
    async fn answered(self, number: u64) -> Result<(), AbortedRun> {
        loop {
            if self.run.is_stopping.get_untracked() || self.run.begun.get_value() != number {
                return Err(AbortedRun::Cancelled);
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
                self.run.say(t!("state-run-asked-to-stop"));
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

    async fn compared(self, here: &'static str, backend: &str) -> Result<(), AbortedRun> {
        self.here(here, Which::A).await?;
        self.run.phase.set(Phase::Working(backend.to_owned()));
        self.run.say(t!("state-run-runs", backend = backend));
        self.remote(backend).await?;
        self.differences(here, backend).await
    }

    /// Compares the two results, which these back ends gave.
    async fn differences(self, here: &str, backend: &str) -> Result<(), AbortedRun> {
        self.run.work(t!("state-run-compares"));
        let keeper = self.run.started_keeper()?;
        let differences = match self.kept(keeper.ask(Ask::Compare, Vec::new()).await)? {
            AnswerBody::Compared { differences } => differences,
            AnswerBody::Failed { why } => return Err(Failure::new(why::in_words(&why)).into()),
            _ => return Err(unexpected().into()),
        };
        let cells: u64 = differences.iter().map(|it| it.differing).sum();
        self.run.say(t!("state-run-compared", here = here, backend = backend, cells = cells));
        self.run.differences.set(Some(differences));
        if cells > 0 {
            self.view.which.set(Which::Difference);
        }
        Ok(())
    }

    /// Asks the worker that runs. A run or a step that takes long can be stopped.
    pub(super) async fn asked_here(
        self,
        backend: &'static str,
        ask: Ask,
    ) -> Result<(AnswerBody, Vec<ArrayBuffer>), AbortedRun> {
        let worker = self.run.started_runner()?;
        self.run.is_here.set_value(true);
        let asked = self.run.asked.get_value() + 1;
        self.run.asked.set_value(asked);
        set_timeout(
            move || {
                if self.run.is_here.get_value() && self.run.asked.get_value() == asked {
                    self.run.is_long.set(true);
                    if !self.run.is_busy() {
                        self.run.phase.set(Phase::Working(backend.to_owned()));
                    }
                }
            },
            LONG,
        );
        let answer = worker.ask(ask, Vec::new()).await;
        self.run.is_here.set_value(false);
        self.run.is_long.set(false);
        answer.map_err(|gone| self.lost_worker(gone, t!("state-run-fell-over-next-text")))
    }

    pub(super) async fn here(self, backend: &'static str, which: Which) -> Result<(), AbortedRun> {
        let domain = untrack(|| self.domain());
        let points = domain.iter().fold(1_i64, |n, &it| n.saturating_mul(it.max(0)));
        if points > TAB_POINTS {
            return Err(Failure::too_many_points(points).into());
        }
        let request = self.run_request(backend, domain);
        let revision = self.project.revision.get_untracked();
        let precision = self.project.precision.get_untracked();
        let since = page::now_ms();
        self.run.part.set_value(t!("state-run-part-here", backend = backend));
        let (said, buffers) = self.asked_here(backend, Ask::Run { request }).await?;
        match said {
            AnswerBody::Ran { fields, timings, gpu } => {
                for step in timings {
                    self.run.time(step.step, step.ms, step.bytes);
                }
                let ms = (page::now_ms() - since).round();
                self.run.say(t!("state-run-took", backend = backend, ms = ms));
                let machine = why::machine(gpu);
                let backend = backend.to_owned();
                let outcome = RunResult { backend, machine, precision, domain, revision, fields, step: None };
                self.keep_result(which, outcome, buffers).await
            }
            AnswerBody::RunEnded { why, diagnostics, cell } => {
                Err(Failure::at_cell(&why, diagnostics, cell).into())
            }
            AnswerBody::Failed { why } => Err(Failure::new(why::in_words(&why)).into()),
            _ => Err(unexpected().into()),
        }
    }

    /// Puts a result into the picture in place of the one before, and waits until it can be seen.
    pub(super) async fn keep_result(
        self,
        which: Which,
        outcome: RunResult,
        buffers: Vec<ArrayBuffer>,
    ) -> Result<(), AbortedRun> {
        let keeper = self.run.started_keeper()?;
        let slot = if which == Which::B { self.run.b } else { self.run.a };
        let ask = Ask::Store { which, fields: outcome.fields.clone() };
        let said = self.kept(keeper.ask(ask, buffers).await)?;
        // The result before is gone, whatever came of this one.
        slot.set(None);
        if which == Which::A {
            self.clock.forget();
        }
        self.run.differences.set(None);
        self.run.generation.update(|it| *it += 1);
        match said {
            AnswerBody::Stored => {}
            AnswerBody::Failed { why } => return Err(Failure::new(why::in_words(&why)).into()),
            _ => return Err(unexpected().into()),
        }
        self.look_at_result(which, &outcome.fields);
        slot.set(Some(Arc::new(outcome)));
        self.run.measures_before.set_value(self.run.measures.get_untracked());
        self.seen().await;
        if slot.with_untracked(Option::is_none) {
            let message = t!("state-run-fell-over-drawing").to_owned();
            let next = vec![t!("state-run-fell-over-drawing-next").to_owned()];
            return Err(Failure { message, next, ..Failure::default() }.into());
        }
        Ok(())
    }

    /// Returns the keeper's answer. If the keeper has fallen over, the results are gone with it.
    pub(super) fn kept<T>(self, reply: Result<(AnswerBody, T), WorkerEnd>) -> Result<AnswerBody, AbortedRun> {
        reply.map(|(said, _)| said).map_err(|gone| {
            self.run.clear();
            self.lost_worker(gone, t!("state-run-fell-over-next-domain"))
        })
    }

    /// Takes note that the keeper fell over while it was looked at: the results went with it.
    pub(super) fn lose_results(self, gone: WorkerEnd) {
        self.run.clear();
        let AbortedRun::Failed(failure) = self.lost_worker(gone, t!("state-run-fell-over-next-domain"))
        else {
            return;
        };
        // A run that goes on has a result of its own to show.
        if !self.run.is_busy() {
            self.run.measures.set(Measures::default());
            self.run.progress.set(None);
            self.run.say(t!("state-run-results-lost"));
            self.run.failure.set(Some(*failure));
            self.run.phase.set(Phase::Failed);
        }
    }

    /// How a run ends whose worker is gone; another one is made ready, and `advice` says what to do.
    pub(super) fn lost_worker(self, gone: WorkerEnd, advice: &str) -> AbortedRun {
        let (message, next) = match gone {
            WorkerEnd::Stopped => return AbortedRun::Cancelled,
            WorkerEnd::Crashed(message) => {
                self.run.make_ready();
                (t!("state-run-fell-over", why = message), advice.to_owned())
            }
            // It is started once more by the next run, and not over and over.
            WorkerEnd::NotLoaded(message) => {
                (t!("state-run-not-started", why = message), t!("state-run-not-started-next").to_owned())
            }
        };
        Failure { message, next: vec![next], ..Failure::default() }.into()
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
    Failure::new(t!("state-run-unexpected"))
}
