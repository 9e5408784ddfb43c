//! The diagnostics that are shown, as views read them, and the time that they wait for.

use std::sync::Arc;
use std::time::Duration;

use isobar_page_model::problems::{ProblemFacts, ProblemsEffect, ProblemsEvent, ProblemsState};
use isobar_protocol::diagnostic::Diagnostic;
use leptos::prelude::*;

use super::compilation::{Compilation, shared};
use super::project::Project;
use crate::bridge::page;

/// The diagnostics that are shown.
#[derive(Clone, Copy, Debug)]
pub struct Problems {
    project: Project,
    compilation: Compilation,
    problems: RwSignal<ProblemsState>,
    timer: StoredValue<Option<TimeoutHandle>>,

    // Parts of the state, for views.
    pub shown: Memo<Arc<Vec<Diagnostic>>>,
    /// The edit that they belong to.
    pub revision: Memo<u64>,
}

impl Problems {
    pub(crate) fn new(project: Project, compilation: Compilation) -> Self {
        let problems = RwSignal::new(ProblemsState::default());
        Self {
            project,
            compilation,
            problems,
            timer: StoredValue::new(None),
            shown: shared(move || problems.with(|it| it.shown.clone())),
            revision: Memo::new(move |_| problems.with(|it| it.revision)),
        }
    }

    /// Hears of an edit of the user.
    pub(crate) fn typed(self) {
        self.happened(ProblemsEvent::Typed(page::now_ms()));
    }

    /// Shows problems from now on.
    pub(crate) fn follow(self) {
        Effect::new(move |_| {
            self.project.revision.track();
            self.compilation.revision.track();
            self.happened(ProblemsEvent::Changed(page::now_ms()));
        });
        Effect::new(move |_| {
            self.compilation.caret.track();
            self.happened(ProblemsEvent::CaretMoved(page::now_ms()));
        });
        Effect::new(move |_| {
            self.project.opened.track();
            self.happened(ProblemsEvent::Opened);
        });
    }

    /// Shows all of them at once, when the user asks for a fix or goes to the next problem.
    pub(crate) fn show_all(self) {
        self.happened(ProblemsEvent::AllWanted(self.facts()));
    }

    fn facts(self) -> Box<ProblemFacts> {
        Box::new(ProblemFacts {
            now_ms: page::now_ms(),
            answered: self.compilation.revision.get_untracked(),
            revision: self.project.revision.get_untracked(),
            diagnostics: self.compilation.diagnostics.get_untracked(),
            file: self.project.shown.get_untracked(),
            text: self.project.text.get_untracked(),
            caret: self.compilation.caret.get_untracked(),
        })
    }

    /// Tells the state what happened, and does what follows from it.
    fn happened(self, event: ProblemsEvent) {
        let mut effect = None;
        self.problems.update(|it| effect = it.take(event));
        let Some(ProblemsEffect::Wait(ms)) = effect else { return };
        if let Some(waiting) = self.timer.get_value() {
            waiting.clear();
        }
        let due = move || self.happened(ProblemsEvent::Due(self.facts()));
        let timer = set_timeout_with_handle(due, Duration::from_secs_f64(ms / 1e3));
        self.timer.set_value(timer.ok());
    }
}
