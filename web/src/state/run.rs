//! Runs as views read them, their events in turn, and their workers.
//!
//! One worker runs, and is ended when the user stops it. Another one keeps the last two results.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use isobar_page_model::run::{
    BenchmarkResult, Measures, Phase, RunEffect, RunEvent, RunResult, RunTarget, Runs, StepClock, WorkerGone,
};
use isobar_protocol::field::Difference;
use js_sys::ArrayBuffer;
use leptos::prelude::*;

use super::sentences::{self, FailureText};
use crate::bridge::asker::{Asker, WorkerEnd};

/// The elements of fields.
pub(crate) type Buffers = Vec<ArrayBuffer>;

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
    pub(crate) clock: Memo<StepClock>,
}

/// Events that are taken one after the other: what the page does for one can be the cause of the next.
#[derive(Debug, Default)]
struct EventQueue {
    waiting: VecDeque<RunEvent<Buffers>>,
    is_taken: bool,
}

impl Run {
    pub(crate) fn new() -> Self {
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
    pub(crate) fn keeper(self) -> Option<Rc<Asker>> {
        self.keeper.get_value().filter(|it| !it.is_gone())
    }

    /// The same; another one where there is none, or none any more.
    pub(crate) fn started_keeper(self) -> Result<Rc<Asker>, String> {
        started(self.keeper, |_, _| {})
    }

    /// The worker that runs; another one where there is none, or none any more.
    pub(crate) fn started_runner(
        self,
        on_progress: impl Fn(u64, u64) + 'static,
    ) -> Result<Rc<Asker>, String> {
        started(self.runner, on_progress)
    }

    /// Ends the worker that runs in the midst of whatever it does.
    pub(crate) fn stop_worker(self) {
        if let Some(worker) = self.runner.get_value() {
            worker.stop();
        }
    }

    /// Whether one of the results that were compared is of another text; tracked.
    pub(crate) fn is_comparison_old(self, revision: u64) -> bool {
        self.runs.with(|it| it.results.is_comparison_old(revision))
    }

    /// Puts an event behind those that wait.
    pub(crate) fn post(self, event: RunEvent<Buffers>) {
        self.events.update_value(|it| it.waiting.push_back(event));
    }

    /// Takes the next event at an edit. Returns what to do before [`Self::taken`]; none while another one is taken.
    pub(crate) fn take_next(self, revision: u64) -> Option<Vec<RunEffect<Buffers>>> {
        let mut next = None;
        self.events.update_value(|it| {
            if !it.is_taken {
                next = it.waiting.pop_front();
                it.is_taken = next.is_some();
            }
        });
        let event = next?;
        let mut effects = Vec::new();
        self.runs.update(|runs| {
            if runs.revision != revision {
                effects = runs.take(RunEvent::TextChanged(revision));
            }
            effects.extend(runs.take(event));
        });
        Some(effects)
    }

    /// All is done that the last event asked for.
    pub(crate) fn taken(self) {
        self.events.update_value(|it| it.is_taken = false);
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

/// The worker in `slot`; another one where there is none, or none any more.
fn started(
    slot: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    on_progress: impl Fn(u64, u64) + 'static,
) -> Result<Rc<Asker>, String> {
    if let Some(worker) = slot.get_value().filter(|it| !it.is_gone()) {
        return Ok(worker);
    }
    let worker = Asker::start(on_progress)?;
    slot.set_value(Some(worker.clone()));
    Ok(worker)
}
