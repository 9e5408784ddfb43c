//! The passes of the levels: which one is looked at, what it did, and which ones are left out.
//!
//! Watching the passes takes longer than compiling, so a worker of its own does it, and typing does not wait
//! for it. It is asked only where a list of passes is open, after the compiler's answer to the newest text
//! and a moment of rest.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_protocol::passes::{Moment, PassDiff, PassOutcome, PassStep};
use isobar_protocol::worker::{AnswerBody, Ask};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::App;
use super::compilation::Compilation;
use super::difference::DiffView;
use super::layout::Tab;
use super::picks::{Pick, next_pick, picks};
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
    pub(super) fn new(project: Project, compilation: Compilation) -> Self {
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
    pub(super) fn follow(self) {
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
    pub(super) fn worker(self) -> Result<Rc<Asker>, String> {
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

impl App {
    /// Goes to another pass of the active stage; with `only_changes`, to one that changed something.
    pub(super) fn next_pass(self, by: isize, only_changes: bool) {
        let active = self.layout.open.with_untracked(|it| it.stages.get(it.active).copied());
        let Some(stage) = active.filter(|it| it.has_passes()) else {
            let known = Stage::ALL.into_iter().filter(|it| it.has_passes()).map(Stage::title);
            let known = known.collect::<Vec<_>>().join(", ");
            self.status.say(t!("state-passes-none-here", stages = known));
            return;
        };
        let look = self.passes.look(stage);
        let from = look.pick.get_untracked();
        let steps = self.passes.steps.get_untracked();
        let changed = |pass: &str| steps.iter().any(|it| it.pass == pass && it.went == PassOutcome::Changed);
        let is_wanted = |pass: &str| !only_changes || changed(pass);
        if steps.is_empty() {
            // They are told once the list is open.
            return look.is_open.set(true);
        }
        match next_pick(&picks(stage, &steps), &from, by, is_wanted) {
            Some(pick) => self.passes.pick(stage, pick),
            None => look.is_open.set(true),
        }
    }

    /// Leaves a pass out of every compilation and run from now on, or puts it back.
    pub fn toggle_skip(self, pass: &str) {
        self.project.changed();
        self.project.skipped.update(|it| {
            if !it.remove(pass) {
                it.insert(pass.to_owned());
            }
        });
        self.project.revision.update(|it| *it += 1);
    }

    /// Lets all passes run.
    pub fn skip_nothing(self) {
        self.project.changed();
        self.project.skipped.set(BTreeSet::new());
        self.project.revision.update(|it| *it += 1);
    }

    /// Lights what an entry is about, and shows its level around its pass.
    pub fn show_entry(self, at: usize) {
        let Some(entry) = self.passes.entries.with_untracked(|it| it.get(at).cloned()) else { return };
        self.layout.tab.set(Tab::Stages);
        if let Some(stage) = entry.stage() {
            self.layout.choose_stage(stage);
            // A pass that missed its goal changed nothing, so there is no change to show.
            let pick =
                if entry.shown == DecisionKind::Missed { Pick::AfterAll } else { Pick::Pass(entry.pass) };
            if pick != Pick::AfterAll || self.passes.look(stage).is_open.get_untracked() {
                self.passes.pick(stage, pick);
            }
        }
        self.pin(entry.links.into_iter().collect());
    }

    /// Goes to a place that an entry is about, and lights what it is about.
    pub fn show_place(self, at: usize, line: u32) {
        let Some(entry) = self.passes.entries.with_untracked(|it| it.get(at).cloned()) else { return };
        if let Some(place) = entry.places.iter().find(|it| it.start.line == line) {
            self.reveal(place.start);
        }
        self.pin(entry.links.into_iter().collect());
    }
}
