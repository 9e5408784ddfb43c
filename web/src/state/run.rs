//! Runs: the page does what their model asks for, and tells it what happens.
//!
//! One worker runs, and is ended when the user stops it. Another one keeps the last two results.

mod effects;
mod remote;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use isobar_page_model::run::{
    BenchmarkResult, HERE, Measures, Phase, RunEvent, RunPlan, RunResult, RunTarget, Runs, StepClock,
    WorkerGone,
};
use isobar_protocol::field::Difference;
use js_sys::ArrayBuffer;
use leptos::prelude::*;

use super::App;
use super::layout::Tab;
use super::sentences::{self, FailureText};
use crate::bridge::asker::{Asker, WorkerEnd};

/// The elements of fields.
type Buffers = Vec<ArrayBuffer>;

/// How far a run is, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressText {
    pub text: String,
    /// Steps done and all steps, where that is known.
    pub steps: Option<(u64, u64)>,
}

/// The last run and its results.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    runs: RwSignal<Runs<Buffers>, LocalStorage>,
    events: StoredValue<EventQueue, LocalStorage>,
    runner: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    keeper: StoredValue<Option<Rc<Asker>>, LocalStorage>,

    // Parts of the runs, for views.
    pub phase: Memo<Phase>,
    pub progress: Memo<Option<ProgressText>>,
    pub measures: Memo<Measures>,
    pub failure: Memo<Option<FailureText>>,
    pub is_failure_old: Memo<bool>,
    /// The result of this tab, and that of the runner.
    pub a: Memo<Option<Arc<RunResult>>>,
    pub b: Memo<Option<Arc<RunResult>>>,
    pub differences: Memo<Option<Vec<Difference>>>,
    pub benchmark: Memo<Option<Arc<BenchmarkResult>>>,
    /// Counts the results.
    pub generation: Memo<u64>,
    /// The back end of the tab, one of [`HERE`].
    pub backend: Memo<&'static str>,
    /// Where the next run is.
    pub place: Memo<RunTarget>,
    /// Whether the run in this tab takes so long that something else may be wanted.
    pub is_long: Memo<bool>,
    pub(super) clock: Memo<StepClock>,
}

/// Events that are taken one after the other: what the page does for one can be the cause of the next.
#[derive(Debug, Default)]
struct EventQueue {
    waiting: VecDeque<RunEvent<Buffers>>,
    is_taken: bool,
}

impl Run {
    pub(super) fn new() -> Self {
        let runs = RwSignal::new_local(Runs::default());
        Self {
            runs,
            events: StoredValue::new_local(EventQueue::default()),
            runner: StoredValue::new_local(None),
            keeper: StoredValue::new_local(None),
            phase: Memo::new(move |_| runs.with(Runs::phase)),
            progress: Memo::new(move |_| {
                runs.with(|it| {
                    let it = it.progress.as_ref()?;
                    Some(ProgressText { text: sentences::activity(&it.activity), steps: it.steps })
                })
            }),
            measures: Memo::new(move |_| runs.with(|it| it.results.measures.clone())),
            failure: Memo::new(move |_| runs.with(|it| it.failure().map(FailureText::of))),
            is_failure_old: Memo::new(move |_| runs.with(Runs::is_failure_old)),
            a: Memo::new(move |_| runs.with(|it| it.results.a.clone())),
            b: Memo::new(move |_| runs.with(|it| it.results.b.clone())),
            differences: Memo::new(move |_| runs.with(|it| it.results.differences.clone())),
            benchmark: Memo::new(move |_| runs.with(|it| it.results.benchmark.clone())),
            generation: Memo::new(move |_| runs.with(|it| it.results.generation)),
            backend: Memo::new(move |_| runs.with(|it| it.choice.backend)),
            place: Memo::new(move |_| runs.with(|it| it.choice.place)),
            is_long: Memo::new(move |_| runs.with(Runs::is_long)),
            clock: Memo::new(move |_| runs.with(|it| it.clock.clone())),
        }
    }

    /// Whether a run goes on; tracked, for views.
    #[must_use]
    pub fn is_working(self) -> bool {
        self.phase.with(|it| matches!(it, Phase::Working(_)))
    }

    /// The worker that keeps the fields, if there is one.
    pub(super) fn keeper(self) -> Option<Rc<Asker>> {
        self.keeper.get_value().filter(|it| !it.is_gone())
    }

    /// The next event; none while one is taken.
    fn next_event(self) -> Option<RunEvent<Buffers>> {
        let mut next = None;
        self.events.update_value(|it| {
            if !it.is_taken {
                next = it.waiting.pop_front();
                it.is_taken = next.is_some();
            }
        });
        next
    }
}

impl From<WorkerEnd> for WorkerGone {
    fn from(end: WorkerEnd) -> Self {
        match end {
            WorkerEnd::Stopped => WorkerGone::Stopped,
            WorkerEnd::NotLoaded(message) => WorkerGone::NotLoaded(message),
            WorkerEnd::Crashed(message) => WorkerGone::Crashed(message),
        }
    }
}

impl App {
    /// Tells the runs what happened, and does what follows from it.
    pub(super) fn happened(self, event: RunEvent<Buffers>) {
        self.run.events.update_value(|it| it.waiting.push_back(event));
        while let Some(event) = self.run.next_event() {
            let revision = self.project.revision.get_untracked();
            let mut effects = Vec::new();
            self.run.runs.update(|runs| {
                if runs.revision != revision {
                    effects = runs.take(RunEvent::TextChanged(revision));
                }
                effects.extend(runs.take(event));
            });
            for effect in effects {
                self.serve_run(effect);
            }
            self.run.events.update_value(|it| it.is_taken = false);
        }
    }

    /// Tells the runs of edits, and of the compiler's answers. Starts the workers of runs as soon as the compiler, for
    /// whom the user waits, has answered.
    pub(super) fn follow_runs(self) {
        Effect::new(move |_| self.happened(RunEvent::TextChanged(self.project.revision.get())));
        Effect::new(move |_| {
            self.project.revision.track();
            self.compilation.revision.track();
            self.compilation.trouble.track();
            if self.compilation.is_answered() {
                self.happened(RunEvent::Answered);
            }
        });
        Effect::new(move |was_ready: Option<bool>| {
            let has_answered =
                self.compilation.revision.get() > 0 || self.compilation.trouble.with(Option::is_some);
            let is_ready = was_ready == Some(true);
            if has_answered && !is_ready {
                self.make_ready();
            }
            has_answered || is_ready
        });
    }

    /// Forgets results that belong to another text.
    pub(super) fn forget_results(self) {
        self.happened(RunEvent::Forgotten);
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
                let backend = HERE.into_iter().find(|it| *it == name).unwrap_or(HERE[0]);
                self.happened(RunEvent::BackendChosen(backend));
                self.happened(RunEvent::TargetChosen(RunTarget::Here));
            }
            Some(("runner", name)) => {
                self.connection.backend.set(name.to_owned());
                self.happened(RunEvent::TargetChosen(RunTarget::Runner));
            }
            _ => {}
        }
    }

    /// Ends the run in this tab, which takes long, and runs something faster in its place when it has ended.
    pub fn run_instead(self, target: &str) {
        self.choose_target(target);
        self.happened(RunEvent::InsteadAsked);
    }

    /// Whether one of the results that were compared is of another text.
    #[must_use]
    pub fn is_comparison_old(self) -> bool {
        let revision = self.project.revision.get();
        self.run.runs.with(|it| it.results.is_comparison_old(revision))
    }

    /// Runs the chosen back end in this tab.
    pub fn run_here(self) {
        self.ask_run(RunPlan::Here(self.backend_here()));
    }

    /// Runs the chosen back end of this tab and `debug`, and compares all fields, bit by bit.
    pub fn check(self) {
        self.show_results();
        self.ask_run(RunPlan::Check(self.backend_here()));
    }

    /// Runs the chosen back end on the runner.
    pub fn run_on_runner(self) {
        self.show_results();
        self.ask_run(RunPlan::Remote(self.connection.backend.get_untracked()));
    }

    /// Runs both and compares all fields, bit by bit.
    pub fn compare(self) {
        self.show_results();
        self.ask_run(RunPlan::Compare(self.backend_here(), self.connection.backend.get_untracked()));
    }

    fn backend_here(self) -> String {
        self.run.backend.get_untracked().to_owned()
    }

    /// Asks for a run. One that goes on goes on.
    pub(super) fn ask_run(self, plan: RunPlan) {
        self.happened(RunEvent::Asked(plan));
    }

    /// Ends what runs; tells whether anything did.
    pub(super) fn stop_what_runs(self) -> bool {
        let is_running = untrack(|| self.run.is_working());
        self.stop();
        is_running
    }

    /// Ends what runs.
    pub fn stop(self) {
        self.happened(RunEvent::StopAsked);
    }

    /// Takes note that the keeper fell over while it was looked at: the results went with it.
    pub(super) fn lose_results(self, gone: WorkerEnd) {
        self.happened(RunEvent::KeeperGone(gone.into()));
    }
}
