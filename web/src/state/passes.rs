//! The passes of the levels: which one is looked at, what it did, and which ones are left out.
//!
//! Watching the passes takes longer than compiling, so a worker of its own does it, and typing does not wait
//! for it. It is asked only where a list of passes is open, after the compiler's answer to the newest text
//! and a moment of rest.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_page_model::difference::DiffView;
use isobar_page_model::passes::{PassesEffect, PassesEvent, PassesState};
use isobar_page_model::picks::Pick;
use isobar_page_model::remarks::{self, DecisionKind, RemarkEntry};
use isobar_page_model::run::WorkerGone;
use isobar_protocol::passes::{Moment, PassDiff, PassStep};
use isobar_protocol::worker::Ask;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::compilation::{Compilation, shared};
use super::project::Project;
use crate::bridge::asker::Asker;
use crate::bridge::locale::t;

/// How long the keyboard rests before the passes are watched again and the remarks on the text are renewed.
const REST: Duration = Duration::from_millis(150);

/// The view of the passes in one pane.
#[derive(Clone, Copy, Debug)]
pub struct PassesView {
    /// Whether the list of passes is open.
    pub is_open: Memo<bool>,
    pub pick: Memo<Pick>,
    pub side: Memo<DiffView>,
    /// The level around the pick; around the previous pick, until the answer comes.
    pub around: Memo<Option<Arc<PassDiff>>>,
}

impl PassesView {
    fn new(passes: RwSignal<PassesState>, stage: Stage) -> Self {
        let of = move |it: &PassesState| it.look(stage.name()).cloned().unwrap_or_default();
        Self {
            is_open: Memo::new(move |_| passes.with(|it| of(it).is_open())),
            pick: Memo::new(move |_| passes.with(|it| of(it).pick())),
            side: Memo::new(move |_| passes.with(|it| of(it).side)),
            around: Memo::new(move |_| passes.with(|it| of(it).around())),
        }
    }
}

/// The passes of all levels.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    project: Project,
    compilation: Compilation,
    passes: RwSignal<PassesState>,
    asker: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    /// Which decisions are listed.
    pub shown: RwSignal<DecisionKind>,

    // Parts of the state, for views.
    /// In the order of [`Stage::ALL`].
    looks: [PassesView; Stage::ALL.len()],
    /// The outcome of each pass, in the last answer.
    pub steps: Memo<Arc<Vec<PassStep>>>,
    /// The edit that `steps` belongs to, and whether the worker is still asked about a newer one.
    pub revision: Memo<u64>,
    pub is_asked: Memo<bool>,
    /// Why there is no answer.
    pub trouble: Memo<Option<String>>,
    /// Remarks and tombstones of the last compilation that a rest of the keyboard followed.
    pub entries: Memo<Arc<Vec<RemarkEntry>>>,
    /// Counts how often they were told, unchanged ones included.
    pub n_told: Memo<u64>,
    /// Whether they are of a text from before an edit with errors.
    pub are_stale: Memo<bool>,
}

impl Passes {
    pub(crate) fn new(project: Project, compilation: Compilation) -> Self {
        let passes = RwSignal::new(PassesState::new(Stage::ALL.map(Stage::name)));
        Self {
            project,
            compilation,
            passes,
            asker: StoredValue::new_local(None),
            shown: RwSignal::default(),
            looks: Stage::ALL.map(|it| PassesView::new(passes, it)),
            steps: shared(move || passes.with(|it| it.steps.clone())),
            revision: Memo::new(move |_| passes.with(|it| it.revision)),
            is_asked: Memo::new(move |_| passes.with(PassesState::is_asked)),
            trouble: Memo::new(move |_| passes.with(|it| it.trouble.as_ref().and_then(trouble_in_words))),
            entries: shared(move || passes.with(|it| it.told.entries.clone())),
            n_told: Memo::new(move |_| passes.with(|it| it.told.count)),
            are_stale: Memo::new(move |_| passes.with(|it| it.told.are_stale)),
        }
    }

    /// The view of the passes in the pane of a stage.
    #[must_use]
    pub fn look(self, stage: Stage) -> PassesView {
        self.looks[Stage::ALL.iter().position(|it| *it == stage).unwrap_or(0)]
    }

    /// The outcome of a pass.
    #[must_use]
    pub fn step(self, pass: &str) -> Option<PassStep> {
        self.steps.with(|it| it.iter().find(|it| it.pass == pass).cloned())
    }

    /// Watches the passes as long as somebody looks at them, and keeps what was said about the text in order.
    pub(crate) fn follow(self) {
        let (told, later) =
            (StoredValue::new(None::<TimeoutHandle>), StoredValue::new(None::<TimeoutHandle>));
        Effect::new(move |before: Option<()>| {
            self.compilation.revision.track();
            if let Some(waiting) = told.get_value() {
                waiting.clear();
            }
            // Signs in the margin move with the text, and can wait until nobody types.
            let rest = if before.is_none() { Duration::ZERO } else { REST };
            told.set_value(set_timeout_with_handle(move || self.tell_entries(), rest).ok());
        });
        let looked_at = Memo::new(move |_| self.passes.with(PassesState::looked_at));
        Effect::new(move |before: Option<u64>| {
            let revision = self.compilation.revision.get();
            let is_open = looked_at.with(Option::is_some);
            if let Some(waiting) = later.get_value() {
                waiting.clear();
                later.set_value(None);
            }
            if is_open && revision > 0 {
                // A pick is answered at once; behind an edit another one may follow.
                let rest = if before == Some(revision) { Duration::ZERO } else { REST };
                let due = move || self.happened(PassesEvent::Due);
                later.set_value(set_timeout_with_handle(due, rest).ok());
            }
            revision
        });
    }

    fn tell_entries(self) {
        let opened = self.project.opened.get_untracked();
        let has_errors = untrack(|| self.compilation.n_errors()) > 0;
        let entries = self.compilation.remarks.with_untracked(|remarks| {
            self.compilation.tombstones.with_untracked(|tombstones| remarks::entries(remarks, tombstones))
        });
        self.happened(PassesEvent::Rested { opened, has_errors, entries });
    }

    /// Tells the state what happened, and does what follows from it.
    fn happened(self, event: PassesEvent) {
        let mut effects = Vec::new();
        self.passes.update(|it| effects = it.take(event));
        for effect in effects {
            match effect {
                PassesEffect::Ask(moments) => self.ask(moments),
            }
        }
    }

    fn ask(self, moments: Vec<Moment>) {
        let revision = self.compilation.revision.get_untracked();
        let request = self.compilation.completed(untrack(|| self.project.request()));
        let worker = match self.worker() {
            Ok(worker) => worker,
            Err(message) => return self.happened(PassesEvent::Gone(WorkerGone::Refused(message))),
        };
        spawn_local(async move {
            let answer = worker.ask(Ask::Passes { request, moments }, Vec::new()).await;
            self.happened(match answer {
                Ok((said, _)) => PassesEvent::Said(revision, Box::new(said)),
                Err(gone) => PassesEvent::Gone(gone.into()),
            });
        });
    }

    /// The worker for passes and graphs, so that the worker that answers each edit stays free.
    pub(crate) fn worker(self) -> Result<Rc<Asker>, String> {
        if let Some(worker) = self.asker.get_value().filter(|it| !it.is_gone()) {
            return Ok(worker);
        }
        let worker = Asker::start(|_, _| {})?;
        self.asker.set_value(Some(worker.clone()));
        Ok(worker)
    }

    /// Opens or closes the list of passes of a level.
    pub fn toggle(self, stage: Stage) {
        self.happened(PassesEvent::Toggled(stage.name()));
    }

    /// Opens the list of passes of a level.
    pub(crate) fn open(self, stage: Stage) {
        self.happened(PassesEvent::ListOpened(stage.name()));
    }

    /// Shows a level around a pass.
    pub fn pick(self, stage: Stage, pick: Pick) {
        self.happened(PassesEvent::Picked(stage.name(), pick));
    }

    /// Chooses the part of a level that is shown around a pass.
    pub fn choose_side(self, stage: Stage, side: DiffView) {
        self.happened(PassesEvent::SideChosen(stage.name(), side));
    }
}

fn trouble_in_words(gone: &WorkerGone) -> Option<String> {
    match gone {
        WorkerGone::Refused(message) => Some(message.clone()),
        WorkerGone::NotLoaded(why) => Some(t!("state-passes-not-started", why = why)),
        WorkerGone::Crashed(why) => Some(t!("state-passes-fell-over", why = why)),
        WorkerGone::Stopped => None,
    }
}
