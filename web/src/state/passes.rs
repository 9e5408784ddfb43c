//! The passes of the levels: which one is looked at, what it did, and which ones are left out.
//!
//! Watching the passes takes longer than compiling, so a worker of its own does it, and typing does not wait
//! for it. It is asked only where a list of passes is open, after the compiler's answer to the newest text
//! and a moment of rest.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_protocol::passes::{Moment, PassDiff, PassStep};
use isobar_protocol::worker::{AnswerBody, Ask};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::compilation::Compilation;
use super::difference::DiffView;
use super::picks::Pick;
use super::project::Project;
use super::remarks::{self, DecisionKind, RemarkEntry};
use crate::bridge::asker::{Asker, WorkerEnd};
use crate::bridge::locale::t;

/// How long the keyboard rests before the passes are watched again and the remarks on the text are renewed.
const REST: Duration = Duration::from_millis(150);

/// The view of the passes in one pane.
#[derive(Clone, Copy, Debug)]
pub struct PassesView {
    /// Whether the list of passes is open.
    pub is_open: RwSignal<bool>,
    pub pick: RwSignal<Pick>,
    pub side: RwSignal<DiffView>,
    /// The level around the pick; around the previous pick, until the answer comes.
    pub around: RwSignal<Option<Arc<PassDiff>>>,
}

impl PassesView {
    fn new() -> Self {
        Self {
            is_open: RwSignal::new(false),
            pick: RwSignal::default(),
            side: RwSignal::default(),
            around: RwSignal::default(),
        }
    }

    /// The moment to ask for.
    fn moment(self, stage: Stage) -> Option<Moment> {
        let pass = match self.pick.get() {
            _ if !self.is_open.get() => return None,
            Pick::AfterAll => return None,
            Pick::BeforeAll => None,
            Pick::Pass(pass) => Some(pass),
        };
        Some(Moment { stage: stage.name().to_owned(), pass })
    }
}

/// The passes of all levels.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    project: Project,
    compilation: Compilation,
    /// In the order of [`Stage::ALL`].
    looks: [PassesView; Stage::ALL.len()],
    /// The outcome of each pass, in the last answer.
    pub steps: RwSignal<Arc<Vec<PassStep>>>,
    /// The edit that `steps` belongs to, and whether the worker is still asked about a newer one.
    pub revision: RwSignal<u64>,
    pub is_asked: RwSignal<bool>,
    /// Why there is no answer.
    pub trouble: RwSignal<Option<String>>,
    /// Remarks and tombstones of the last compilation that a rest of the keyboard followed.
    pub entries: RwSignal<Arc<Vec<RemarkEntry>>>,
    /// Counts how often they were told, unchanged ones included.
    pub n_told: RwSignal<u64>,
    /// Whether they are of a text from before an edit with errors.
    pub are_stale: RwSignal<bool>,
    /// The count of opened stencils that they belong to.
    told_of: StoredValue<u64>,
    /// Which of these are listed.
    pub shown: RwSignal<DecisionKind>,
    asker: StoredValue<Option<Rc<Asker>>, LocalStorage>,
    /// Whether something else is looked at since the worker was asked.
    is_due: StoredValue<bool>,
}

impl Passes {
    pub(crate) fn new(project: Project, compilation: Compilation) -> Self {
        Self {
            project,
            compilation,
            looks: std::array::from_fn(|_| PassesView::new()),
            steps: RwSignal::default(),
            revision: RwSignal::new(0),
            is_asked: RwSignal::new(false),
            trouble: RwSignal::default(),
            entries: RwSignal::default(),
            n_told: RwSignal::new(0),
            are_stale: RwSignal::new(false),
            told_of: StoredValue::new(0),
            shown: RwSignal::default(),
            asker: StoredValue::new_local(None),
            is_due: StoredValue::new(false),
        }
    }

    /// The view of the passes in the pane of a stage.
    #[must_use]
    pub fn look(self, stage: Stage) -> PassesView {
        self.looks[Stage::ALL.iter().position(|it| *it == stage).unwrap_or(0)]
    }

    /// Whether any list of passes is open.
    fn is_open(self) -> bool {
        self.looks.iter().any(|it| it.is_open.get())
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
        let looked_at = Memo::new(move |_| {
            self.is_open().then(|| {
                let moments = Stage::ALL.into_iter().filter_map(|it| self.look(it).moment(it));
                moments.collect::<Vec<_>>()
            })
        });
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
                later.set_value(set_timeout_with_handle(move || self.ask_passes(), rest).ok());
            }
            revision
        });
    }

    fn tell_entries(self) {
        let opened = self.project.opened.get_untracked();
        // A text with errors does not get as far as its remarks: those of the text before it stay, and say so.
        let are_stale = self.told_of.get_value() == opened
            && untrack(|| self.compilation.n_errors()) > 0
            && self.entries.with_untracked(|it| !it.is_empty());
        if self.are_stale.get_untracked() != are_stale {
            self.are_stale.set(are_stale);
        }
        if are_stale {
            return;
        }
        self.told_of.set_value(opened);
        let all = self.compilation.remarks.with_untracked(|remarks| {
            self.compilation.tombstones.with_untracked(|tombstones| remarks::entries(remarks, tombstones))
        });
        if self.entries.with_untracked(|it| **it != all) {
            self.entries.set(Arc::new(all));
        }
        self.n_told.update(|it| *it += 1);
    }

    fn ask_passes(self) {
        if self.is_asked.get_untracked() {
            self.is_due.set_value(true);
            return;
        }
        let revision = self.compilation.revision.get_untracked();
        let request = self.compilation.completed(untrack(|| self.project.request()));
        let moments: Vec<Moment> =
            untrack(|| Stage::ALL.into_iter().filter_map(|it| self.look(it).moment(it)).collect());
        let worker = match self.worker() {
            Ok(worker) => worker,
            Err(message) => return self.trouble.set(Some(message)),
        };
        self.is_asked.set(true);
        spawn_local(async move {
            let answer = worker.ask(Ask::Passes { request, moments }, Vec::new()).await;
            self.is_asked.set(false);
            match answer {
                Ok((AnswerBody::Passes { steps, around }, _)) => self.take_passes(revision, steps, around),
                Ok(_) => {}
                Err(WorkerEnd::Stopped) => {}
                Err(WorkerEnd::NotLoaded(why)) => {
                    self.trouble.set(Some(t!("state-passes-not-started", why = why)));
                }
                Err(WorkerEnd::Crashed(why)) => {
                    self.trouble.set(Some(t!("state-passes-fell-over", why = why)));
                }
            }
            if self.is_due.get_value() {
                self.is_due.set_value(false);
                self.ask_passes();
            }
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

    fn take_passes(self, revision: u64, steps: Vec<PassStep>, around: Vec<PassDiff>) {
        self.trouble.set(None);
        self.revision.set(revision);
        self.steps.set(Arc::new(steps));
        for stage in Stage::ALL {
            let found = around.iter().find(|it| it.of.stage == stage.name()).cloned();
            let shown = self.look(stage).around;
            if shown.with_untracked(|it| it.as_deref() != found.as_ref()) {
                shown.set(found.map(Arc::new));
            }
        }
    }

    /// Opens or closes the list of passes of a level.
    pub fn toggle(self, stage: Stage) {
        let look = self.look(stage);
        look.is_open.update(|it| *it = !*it);
        look.pick.set(Pick::AfterAll);
        look.around.set(None);
    }

    /// Shows a level around a pass.
    pub fn pick(self, stage: Stage, pick: Pick) {
        let look = self.look(stage);
        look.is_open.set(true);
        if look.pick.with_untracked(|it| *it != pick) {
            if pick == Pick::AfterAll {
                look.around.set(None);
            }
            look.pick.set(pick);
        }
    }
}
