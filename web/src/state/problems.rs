//! The diagnostics that are shown: those of the newest answer, once the keyboard rests.
//!
//! A user who types is not told of each intermediate text: the shown diagnostics change after a moment of
//! rest. Those of the word that is being typed wait until the caret leaves it, or the keyboard rests longer.
//! Text that comes from elsewhere is not waited for.

use std::sync::Arc;
use std::time::Duration;

use isobar_page_model::diagnostics::{touches, word_at};
use isobar_protocol::diagnostic::Diagnostic;
use leptos::prelude::*;

use super::compilation::Compilation;
use super::project::Project;
use crate::bridge::page;

/// How long the keyboard rests before problems are shown.
const REST_MS: f64 = 150.0;
/// How long the keyboard rests before those of the word that is being typed are shown.
const LONG_REST_MS: f64 = 1_000.0;

/// The diagnostics that are shown.
#[derive(Clone, Copy, Debug)]
pub struct Problems {
    project: Project,
    compilation: Compilation,
    pub shown: RwSignal<Arc<Vec<Diagnostic>>>,
    /// The edit that they belong to.
    pub revision: RwSignal<u64>,
    /// When a key was pressed last, unless another text was opened since.
    typed_ms: StoredValue<Option<f64>>,
    /// Whether some are held back.
    is_sparing: StoredValue<bool>,
    later: StoredValue<Option<TimeoutHandle>>,
}

impl Problems {
    pub(crate) fn new(project: Project, compilation: Compilation) -> Self {
        Self {
            project,
            compilation,
            shown: RwSignal::default(),
            revision: RwSignal::new(0),
            typed_ms: StoredValue::new(None),
            is_sparing: StoredValue::new(false),
            later: StoredValue::new(None),
        }
    }

    /// Hears of an edit of the user.
    pub(crate) fn typed(self) {
        self.typed_ms.set_value(Some(page::now_ms()));
    }

    /// Milliseconds since the last key; none where nobody typed.
    fn rested_ms(self) -> Option<f64> {
        self.typed_ms.get_value().map(|it| page::now_ms() - it)
    }

    /// Shows problems from now on.
    pub(crate) fn follow(self) {
        Effect::new(move |_| {
            self.project.revision.track();
            self.compilation.revision.track();
            let left_ms = self.rested_ms().map_or(0.0, |it| (REST_MS - it).max(0.0));
            self.show_problems_in(left_ms);
        });
        Effect::new(move |_| {
            // A caret that leaves its word lets go of what was spared.
            self.compilation.caret.track();
            if self.is_sparing.get_value() && self.rested_ms().is_none_or(|it| it >= REST_MS) {
                self.show_problems_in(0.0);
            }
        });
        Effect::new(move |_| {
            self.project.opened.track();
            self.typed_ms.set_value(None);
        });
    }

    fn show_problems_in(self, ms: f64) {
        if let Some(waiting) = self.later.get_value() {
            waiting.clear();
        }
        let wait = Duration::from_secs_f64(ms.max(0.0) / 1e3);
        let handle = set_timeout_with_handle(move || self.show_problems(self.rested_ms()), wait);
        self.later.set_value(handle.ok());
    }

    /// Shows those of the newest answer; it was typed `rested_ms` ago.
    fn show_problems(self, rested_ms: Option<f64>) {
        let revision = self.compilation.revision.get_untracked();
        if revision != self.project.revision.get_untracked() {
            // The answer comes here again.
            return;
        }
        let is_typing = rested_ms.is_some_and(|it| it < LONG_REST_MS);
        let main = self.project.shown.get_untracked();
        let word = is_typing.then(|| {
            let caret = self.compilation.caret.get_untracked();
            self.project.text.with_untracked(|text| word_at(text, caret))
        });
        let mut shown = self.compilation.diagnostics.with_untracked(|it| it.to_vec());
        let n_all = shown.len();
        if let Some(word) = word {
            shown.retain(|it| it.file != main || !touches(it, word));
        }
        let is_sparing = shown.len() < n_all;
        self.is_sparing.set_value(is_sparing);
        self.revision.set(revision);
        if self.shown.with_untracked(|it| **it != shown) {
            self.shown.set(Arc::new(shown));
        }
        if let (true, Some(rested_ms)) = (is_sparing, rested_ms) {
            self.show_problems_in(LONG_REST_MS - rested_ms);
        }
    }

    /// Shows all of them at once, when the user asks for a fix or goes to the next problem.
    pub(crate) fn show_all(self) {
        self.show_problems(None);
    }
}
