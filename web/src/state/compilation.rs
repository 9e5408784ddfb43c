//! The compiler's worker: its state as views read it, what happens to it, and the work that follows.
//!
//! It is asked after each edit. Its answers are shown when they still fit.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_page_model::arrival::loaded;
use isobar_page_model::compilation::{
    CompileFacts, CompilerEffect, CompilerEvent, CompilerFailure, CompilerState, StageView, n_errors,
};
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

/// The newest answer, and what is lit in it.
#[derive(Clone, Copy, Debug)]
pub struct Compilation {
    project: Project,
    layout: PageLayout,
    compiler: RwSignal<CompilerState>,
    worker: StoredValue<Option<Worker>, LocalStorage>,

    // Parts of the compiler's state, for views.
    /// Whether compiling waits, because the page ended twice before the compiler answered.
    pub is_safe: Memo<bool>,
    /// The edit that was answered last; 0 before the first answer. Each answer is news, also about the same edit.
    pub revision: Signal<u64>,
    pub diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    /// The stencils of the text.
    pub stencils: Memo<Arc<Vec<String>>>,
    pub stencil: Memo<Option<String>>,
    pub signature: Memo<Option<Arc<Signature>>>,
    pub remarks: Memo<Arc<Vec<Remark>>>,
    pub tombstones: Memo<Arc<Vec<Tombstone>>>,
    pub timings: Memo<Arc<Vec<StepTime>>>,
    pub defaults: Memo<Arc<Defaults>>,
    /// In the order of [`Stage::ALL`].
    stages: [Memo<StageView>; Stage::ALL.len()],
    pub trouble: Memo<Option<CompilerFailure>>,
    /// How much of the compiler's program has arrived of how much, in kB, until it has answered.
    pub loading: Memo<Option<[u64; 2]>>,

    /// Where the caret is.
    pub caret: RwSignal<Position>,
    /// The statements under the pointer in a stage, and those that were clicked there.
    pub pointed: RwSignal<Option<Links>>,
    pub pinned: RwSignal<Option<Links>>,
}

impl Compilation {
    pub(crate) fn new(project: Project, layout: PageLayout) -> Self {
        let compiler = RwSignal::new(CompilerState::new(Stage::ALL.map(Stage::name)));
        let answered = Memo::new(move |_| compiler.with(|it| (it.answer.revision, it.answer.count)));
        Self {
            project,
            layout,
            compiler,
            worker: StoredValue::new_local(None),
            is_safe: Memo::new(move |_| compiler.with(|it| it.is_safe)),
            revision: Signal::derive(move || answered.get().0),
            diagnostics: shared(move || compiler.with(|it| it.answer.diagnostics.clone())),
            stencils: shared(move || compiler.with(|it| it.answer.stencils.clone())),
            stencil: Memo::new(move |_| compiler.with(|it| it.answer.stencil.clone())),
            signature: Memo::new(move |_| compiler.with(|it| it.answer.signature.clone())),
            remarks: shared(move || compiler.with(|it| it.answer.remarks.clone())),
            tombstones: shared(move || compiler.with(|it| it.answer.tombstones.clone())),
            timings: shared(move || compiler.with(|it| it.answer.timings.clone())),
            defaults: shared(move || compiler.with(|it| it.answer.defaults.clone())),
            stages: Stage::ALL.map(|stage| Memo::new(move |_| compiler.with(|it| it.stage(stage.name())))),
            trouble: Memo::new(move |_| compiler.with(|it| it.failure().cloned())),
            loading: Memo::new(move |_| compiler.with(|it| it.loading)),
            caret: RwSignal::default(),
            pointed: RwSignal::default(),
            pinned: RwSignal::default(),
        }
    }

    /// The shown text of a stage.
    #[must_use]
    pub fn stage(self, stage: Stage) -> Memo<StageView> {
        self.stages[Stage::ALL.iter().position(|it| *it == stage).unwrap_or(0)]
    }

    /// Whether the text that was compiled last is a class, and so a program of several stencils.
    #[must_use]
    pub fn is_program(self) -> bool {
        self.defaults.with(|it| it.is_program)
    }

    /// The stages that the present text may have, in their order: a stencil is no program.
    #[must_use]
    pub fn shown_stages(self) -> Vec<Stage> {
        let is_program = self.is_program();
        Stage::ALL.into_iter().filter(|it| *it != Stage::PROGRAM || is_program).collect()
    }

    /// Errors among the diagnostics.
    #[must_use]
    pub fn n_errors(self) -> usize {
        self.diagnostics.with(|it| n_errors(it))
    }

    /// The texts that were made of the newest edit, or are shown in their place.
    #[must_use]
    pub fn texts(self) -> Vec<Arc<StageText>> {
        self.stages.iter().filter_map(|it| it.with(|it| it.answered().cloned())).collect()
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

    /// Whether the compiler has spoken on the newest text, or will not.
    pub(crate) fn is_answered(self) -> bool {
        let revision = self.project.revision.get_untracked();
        self.compiler.with_untracked(|it| it.is_answered(revision))
    }

    /// The request with what was made up for the text that the compiler answered last.
    pub(crate) fn completed(self, request: Request) -> Request {
        self.compiler.with_untracked(|it| it.answer.completed(request))
    }
}

/// A part of an area's state. Another allocation is another value: contents are not compared.
pub(super) fn shared<T: Send + Sync + 'static>(
    read: impl Fn() -> Arc<T> + Send + Sync + 'static,
) -> Memo<Arc<T>> {
    Memo::new_with_compare(
        move |_| read(),
        |before, after| !before.zip(after).is_some_and(|(before, after)| Arc::ptr_eq(before, after)),
    )
}

// Events, and their effects.
impl Compilation {
    /// Compiles now and after each change from now on.
    pub(crate) fn start(self) {
        self.happened(CompilerEvent::Began);
        let later = StoredValue::new(None::<TimeoutHandle>);
        let wanted = Memo::new(move |_| self.wanted_stages());
        Effect::new(move |_| self.happened(CompilerEvent::StagesWanted(wanted.get())));
        Effect::new(move |before: Option<()>| {
            // Whatever changes the request counts as an edit. The first one is asked about with the first stages.
            self.project.revision.track();
            if let Some(waiting) = later.get_value() {
                waiting.clear();
            }
            // When the editor has drawn the key: a newer text waits for the answer to an older one anyway.
            let compile = move || self.happened(CompilerEvent::TextChanged);
            if before.is_some() {
                later.set_value(set_timeout_with_handle(compile, Duration::ZERO).ok());
            }
        });
    }

    /// The stages whose texts are made: those that are open, and the one that tells where each statement is written.
    fn wanted_stages(self) -> Vec<&'static str> {
        let is_wanted =
            |it: &Stage| *it == Stage::DEFINITION || self.layout.open.with(|open| open.place(*it).is_some());
        Stage::ALL.into_iter().filter(is_wanted).map(Stage::name).collect()
    }

    /// Compiles the text that the compiler fell over once more.
    pub fn try_again(self) {
        self.happened(CompilerEvent::RetryAsked);
    }

    /// Compiles nothing until the user wants it.
    pub(crate) fn begin_safe_mode(self) {
        self.happened(CompilerEvent::SafeModeBegan);
    }

    /// Compiles in spite of what happened before.
    pub(crate) fn leave_safe_mode(self) {
        self.happened(CompilerEvent::SafeModeLeft);
    }

    /// Tells the compiler's state what happened, and does what follows from it.
    fn happened(self, event: CompilerEvent) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let mut effects = Vec::new();
            self.compiler.update(|it| effects = it.take(event));
            events.extend(effects.into_iter().filter_map(|it| self.serve(it)));
        }
    }

    /// Carries an effect out; returns what happens at once.
    fn serve(self, effect: CompilerEffect) -> Option<CompilerEvent> {
        match effect {
            CompilerEffect::Prepare => {
                let request = untrack(|| self.project.request());
                let revision = self.project.revision.get_untracked();
                return Some(CompilerEvent::Prepared(Box::new(CompileFacts { request, revision })));
            }
            CompilerEffect::Start => {
                let on_answer = move |answer: Answer, _| self.happened(event_of(answer));
                let on_crash = move |message| self.happened(CompilerEvent::Crashed(message));
                let started = Worker::start(on_answer, on_crash);
                let refused = started.as_ref().err().cloned().map(CompilerEvent::Refused);
                self.worker.set_value(started.ok());
                return refused;
            }
            CompilerEffect::Stop => self.worker.set_value(None),
            CompilerEffect::Ask { revision, request } => self.worker.with_value(|worker| {
                if let Some(worker) = worker {
                    worker.ask(&Question { revision, ask: Ask::Compile { request: *request } }, &[]);
                }
            }),
            CompilerEffect::Remind(number) => {
                set_timeout(move || self.happened(CompilerEvent::TookTooLong(number)), PATIENCE);
            }
        }
        None
    }
}

fn event_of(Answer { revision, said }: Answer) -> CompilerEvent {
    match said {
        AnswerBody::Ready => CompilerEvent::Ready,
        AnswerBody::Loading { arrived, packed } => {
            CompilerEvent::Loading(loaded(arrived, packed, page::worker_bytes()))
        }
        AnswerBody::Whole => CompilerEvent::Whole,
        said => CompilerEvent::Said(revision, Box::new(said)),
    }
}
