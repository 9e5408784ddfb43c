//! The answers of the compiler's worker about the text: asked for after each edit, shown when they still fit.

use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_page_model::arrival::loaded;
use isobar_page_model::links::{self, Links};
use isobar_protocol::compile::{Remark, Signature, StageText, StepTime, Tombstone};
use isobar_protocol::diagnostic::{Diagnostic, Position};
use isobar_protocol::request::Request;
use isobar_protocol::worker::{Answer, AnswerBody, Ask, Defaults, Question};
use leptos::prelude::*;

use super::layout::PageLayout;
use super::project::Project;
use crate::bridge::page;
use crate::bridge::worker::Worker;

/// A compilation that takes longer than this is given up.
const PATIENCE: Duration = Duration::from_secs(15);

/// Whether a stage's text belongs to the newest edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing came yet, or nobody asked: a stage that is not open is not made.
    #[default]
    Waiting,
    Fresh,
    /// The text is from before an edit with errors.
    Stale,
    /// There is no text, because of errors.
    Refused,
}

impl Freshness {
    /// As the end-to-end tests read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Freshness::Waiting => "waiting",
            Freshness::Fresh => "fresh",
            Freshness::Stale => "stale",
            Freshness::Refused => "refused",
        }
    }
}

/// The shown text of one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageView {
    pub freshness: Freshness,
    /// The edit that the text belongs to.
    pub revision: u64,
    pub text: Arc<StageText>,
}

/// Why nothing is compiled at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompilerFailure {
    /// The worker's program did not start.
    NotLoaded(String),
    /// It fell over this text.
    Crashed(String),
    TookTooLong,
}

/// The newest answer, and what is lit in it.
#[derive(Clone, Copy, Debug)]
pub struct Compilation {
    project: Project,
    layout: PageLayout,
    /// Whether compiling waits, because the page ended twice before the compiler answered.
    pub is_safe: RwSignal<bool>,
    /// The edit that was answered last; 0 before the first answer.
    pub revision: RwSignal<u64>,
    pub diagnostics: RwSignal<Vec<Diagnostic>>,
    /// The stencils of the text.
    pub stencils: RwSignal<Vec<String>>,
    pub stencil: RwSignal<Option<String>>,
    pub signature: RwSignal<Option<Signature>>,
    pub remarks: RwSignal<Vec<Remark>>,
    pub tombstones: RwSignal<Vec<Tombstone>>,
    pub timings: RwSignal<Vec<StepTime>>,
    pub defaults: RwSignal<Defaults>,
    /// In the order of [`Stage::ALL`].
    pub stages: [RwSignal<StageView>; Stage::ALL.len()],
    pub trouble: RwSignal<Option<CompilerFailure>>,
    /// How much of the compiler's program has arrived of how much, in kB, until it has answered.
    pub loading: RwSignal<Option<[u64; 2]>>,
    /// From question to answer, the worker's messages included.
    pub round_trip_ms: RwSignal<Option<f64>>,
    /// Where the caret is.
    pub caret: RwSignal<Position>,
    /// The statements under the pointer in a stage, and those that were clicked there.
    pub pointed: RwSignal<Option<Links>>,
    pub pinned: RwSignal<Option<Links>>,
    engine: StoredValue<Engine, LocalStorage>,
}

/// The worker and what it was asked.
#[derive(Debug, Default)]
struct Engine {
    worker: Option<Worker>,
    has_answered: bool,
    asked: Option<PendingRequest>,
    /// Counts the questions.
    n_asked: u64,
    /// Whether an edit came meanwhile.
    is_due: bool,
    /// The stages that were asked for in vain, until the second part of its program is there.
    half: Vec<String>,
    /// The request that the worker fell over; not tried again until some part of it changes.
    crashed_on: Option<Request>,
}

/// The question that the worker works on.
#[derive(Debug)]
struct PendingRequest {
    number: u64,
    request: Request,
    since_ms: f64,
}

impl Engine {
    /// Ends the worker over what it was asked last; tells whether something else is to be compiled.
    fn end_worker(&mut self) -> bool {
        self.worker = None;
        self.crashed_on = self.asked.take().map(|it| it.request);
        std::mem::take(&mut self.is_due)
    }
}

impl Compilation {
    pub(crate) fn new(project: Project, layout: PageLayout) -> Self {
        Self {
            project,
            layout,
            is_safe: RwSignal::default(),
            revision: RwSignal::new(0),
            diagnostics: RwSignal::default(),
            stencils: RwSignal::default(),
            stencil: RwSignal::default(),
            signature: RwSignal::default(),
            remarks: RwSignal::default(),
            tombstones: RwSignal::default(),
            timings: RwSignal::default(),
            defaults: RwSignal::default(),
            stages: std::array::from_fn(|_| RwSignal::default()),
            trouble: RwSignal::default(),
            loading: RwSignal::default(),
            round_trip_ms: RwSignal::default(),
            caret: RwSignal::default(),
            pointed: RwSignal::default(),
            pinned: RwSignal::default(),
            engine: StoredValue::new_local(Engine::default()),
        }
    }

    /// The shown text of a stage.
    #[must_use]
    pub fn stage(self, stage: Stage) -> RwSignal<StageView> {
        self.stages[Stage::ALL.iter().position(|it| *it == stage).unwrap_or(0)]
    }

    /// Errors among the diagnostics.
    #[must_use]
    pub fn n_errors(self) -> usize {
        self.diagnostics.with(|it| it.iter().filter(|it| it.severity == "error").count())
    }

    /// The texts that were made of the newest edit, or are shown in their place.
    #[must_use]
    pub fn texts(self) -> Vec<Arc<StageText>> {
        let text = |it: &StageView| (it.freshness != Freshness::Waiting).then(|| it.text.clone());
        self.stages.iter().filter_map(|it| it.with(text)).collect()
    }

    /// The statements that are lit: pointed at, else clicked, else under the caret.
    #[must_use]
    pub fn lit(self, main: &str) -> Links {
        if let Some(links) = self.pointed.get().or_else(|| self.pinned.get()) {
            return links;
        }
        let texts = self.texts();
        links::at_place(texts.iter().map(AsRef::as_ref), main, self.caret.get())
    }

    /// Takes an answer, which holds those of the stages that it was `asked` for that were reached.
    fn accept(self, revision: u64, said: AnswerBody, asked: &[String]) {
        let AnswerBody::Compiled { compiled, defaults, is_half } = said else { return };
        let has_errors = compiled.diagnostics.iter().any(|it| it.severity == "error");
        let mut texts = compiled.stages;
        for (stage, shown) in Stage::ALL.into_iter().zip(self.stages) {
            if asked.iter().all(|it| it != stage.name()) {
                // The shown text may be older. The stage is asked for when it is opened.
                if shown.with_untracked(|it| it.freshness != Freshness::Waiting) {
                    shown.update(|it| it.freshness = Freshness::Waiting);
                }
                continue;
            }
            let text = texts.iter().position(|it| it.stage == stage.name()).map(|at| texts.swap_remove(at));
            shown.update(|view| match text {
                // A stage that was reached in spite of errors further down is as good as any.
                Some(text) => {
                    *view = StageView { freshness: Freshness::Fresh, revision, text: Arc::new(text) }
                }
                None if has_errors && !view.text.text.is_empty() => view.freshness = Freshness::Stale,
                None if is_half => view.freshness = Freshness::Waiting,
                None => *view = StageView { freshness: Freshness::Refused, revision, ..StageView::default() },
            });
        }
        renew(self.diagnostics, compiled.diagnostics);
        renew(self.stencils, compiled.stencils);
        renew(self.stencil, compiled.stencil);
        if !has_errors {
            renew(self.signature, compiled.signature);
        }
        renew(self.remarks, compiled.remarks);
        renew(self.tombstones, compiled.tombstones);
        // An answer from memory took no time; the times of its compilation still hold.
        if !compiled.timings.is_empty() {
            self.timings.set(compiled.timings);
        }
        renew(self.defaults, *defaults);
        self.revision.set(revision);
    }
}

/// Sets what has changed: nothing is drawn anew for an answer that says the same.
fn renew<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|it| *it != value) {
        signal.set(value);
    }
}

impl Compilation {
    /// Compiles now and after each change from now on.
    pub(crate) fn start(self) {
        self.start_worker();
        let later = StoredValue::new(None::<TimeoutHandle>);
        Effect::new(move |before: Option<()>| {
            // Whatever changes the request counts as an edit.
            self.project.revision.track();
            if before.is_none() {
                self.compile();
                return;
            }
            if let Some(waiting) = later.get_value() {
                waiting.clear();
            }
            // When the editor has drawn the key: a newer text waits for the answer to an older one anyway.
            later.set_value(set_timeout_with_handle(move || self.compile(), Duration::ZERO).ok());
        });
        let wanted = Memo::new(move |_| self.wanted_stages());
        Effect::new(move |_| {
            // Not tracked alone: a memo that nobody reads depends on nothing.
            wanted.get();
            self.compile_missing();
        });
    }

    /// The stages whose texts are made: those that are open, and the one that tells where each statement is written.
    fn wanted_stages(self) -> Vec<Stage> {
        let is_wanted =
            |it: &Stage| *it == Stage::DEFINITION || self.layout.open.with(|open| open.stages.contains(it));
        Stage::ALL.into_iter().filter(is_wanted).collect()
    }

    /// Asks for the open stages that have no text of the newest answer. While a question is under way nothing is
    /// asked: its answer comes here again.
    fn compile_missing(self) {
        let is_asked = self.engine.with_value(|it| it.asked.is_some());
        let half = self.engine.with_value(|it| it.half.clone());
        let is_waiting = |it: Stage| {
            let is_waiting = self.stage(it).with_untracked(|it| it.freshness == Freshness::Waiting);
            is_waiting && half.iter().all(|asked| asked != it.name())
        };
        if !is_asked && untrack(|| self.wanted_stages()).into_iter().any(is_waiting) {
            self.compile();
        }
    }

    /// Compiles the text that the compiler fell over once more.
    pub fn try_again(self) {
        self.engine.update_value(|it| it.crashed_on = None);
        self.compile();
    }

    fn start_worker(self) {
        let on_answer = move |answer: Answer, _| self.take_answer(answer);
        let started = Worker::start(on_answer, move |message| self.worker_crashed(message));
        let trouble = started.as_ref().err().cloned();
        self.engine.update_value(|it| {
            it.worker = started.ok();
            it.asked = None;
            it.half.clear();
            it.has_answered = false;
        });
        if let Some(message) = trouble {
            self.trouble.set(Some(CompilerFailure::NotLoaded(message)));
        }
    }

    /// Whether the compiler has spoken on the newest text, or will not.
    pub(crate) fn is_answered(self) -> bool {
        let is_newest = self.revision.get_untracked() == self.project.revision.get_untracked();
        let is_asked = self.engine.with_value(|it| it.asked.is_some());
        is_newest || !is_asked && self.trouble.with_untracked(Option::is_some)
    }

    fn compile(self) {
        if self.is_safe.get_untracked() {
            return;
        }
        let mut request = untrack(|| self.project.request());
        let wanted = untrack(|| self.wanted_stages());
        request.stages = Some(wanted.into_iter().map(|it| it.name().to_owned()).collect());
        let revision = self.project.revision.get_untracked();
        if self.engine.with_value(|it| it.crashed_on.as_ref() == Some(&request)) {
            return;
        }
        if self.engine.with_value(|it| it.worker.is_none()) {
            self.start_worker();
        }
        let mut asked = None;
        self.engine.update_value(|engine| {
            engine.is_due = engine.asked.is_some();
            if let (None, Some(worker)) = (&engine.asked, &engine.worker) {
                worker.ask(&Question { revision, ask: Ask::Compile { request: request.clone() } }, &[]);
                engine.n_asked += 1;
                let number = engine.n_asked;
                engine.asked = Some(PendingRequest { number, request, since_ms: page::now_ms() });
                asked = Some(number);
            }
        });
        if let Some(number) = asked {
            set_timeout(move || self.give_up(number), PATIENCE);
        }
    }

    fn take_answer(self, Answer { revision, said }: Answer) {
        match said {
            AnswerBody::Ready => {
                // Where it waits for a change, nothing else would say so.
                self.loading.set(None);
                return;
            }
            AnswerBody::Loading { arrived, packed } => {
                self.loading.set(loaded(arrived, packed, page::worker_bytes()));
                return;
            }
            AnswerBody::Whole => {
                self.engine.update_value(|it| it.half.clear());
                self.compile();
                return;
            }
            _ => self.loading.set(None),
        }
        let mut is_due = false;
        let mut asked = None;
        self.engine.update_value(|engine| {
            engine.has_answered = true;
            engine.crashed_on = None;
            asked = engine.asked.take();
            is_due = std::mem::take(&mut engine.is_due);
        });
        // An answer for an older edit is dropped: the newest text is asked for at once.
        if is_due {
            self.compile();
            return;
        }
        self.trouble.set(None);
        self.round_trip_ms.set(asked.as_ref().map(|it| page::now_ms() - it.since_ms));
        let stages = asked.and_then(|it| it.request.stages).unwrap_or_default();
        if let AnswerBody::Compiled { is_half: true, .. } = said {
            self.engine.update_value(|it| it.half.clone_from(&stages));
        }
        self.accept(revision, said, &stages);
        // Other stages may have been opened meanwhile.
        self.compile_missing();
    }

    fn worker_crashed(self, message: String) {
        let mut has_answered = false;
        let mut is_due = false;
        self.engine.update_value(|engine| {
            has_answered = engine.has_answered || engine.asked.is_some() && message.contains("unreachable");
            is_due = engine.end_worker();
        });
        if has_answered {
            self.start_over(CompilerFailure::Crashed(message), is_due);
        } else {
            self.trouble.set(Some(CompilerFailure::NotLoaded(message)));
        }
    }

    fn give_up(self, number: u64) {
        let is_stuck = self.engine.with_value(|it| it.asked.as_ref().is_some_and(|it| it.number == number));
        if is_stuck {
            let mut is_due = false;
            self.engine.update_value(|it| is_due = it.end_worker());
            self.start_over(CompilerFailure::TookTooLong, is_due);
        }
    }

    /// Makes another worker ready for the next edit, which may have come already.
    fn start_over(self, trouble: CompilerFailure, is_due: bool) {
        self.trouble.set(Some(trouble));
        self.start_worker();
        if is_due {
            self.compile();
        } else {
            self.compile_missing();
        }
    }

    /// The request with what was made up for the text that the compiler answered last.
    pub(crate) fn completed(self, request: Request) -> Request {
        let mut request = self.defaults.with_untracked(|it| it.made.complete(request));
        // A request that gives nothing to make runs as it always did.
        if let Some(init) = &mut request.init {
            self.signature.with_untracked(|it| {
                let Some(signature) = it else { return };
                init.retain(|name, _| signature.fields.iter().any(|it| it.name == *name));
            });
        }
        request
    }
}
