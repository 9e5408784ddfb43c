//! Fixes, and the way from problem to problem.

use std::time::Duration;

use isobar_page_model::diagnostics::markdown;
use isobar_protocol::diagnostic::{Diagnostic, Fix};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::App;

impl App {
    /// Carries out a fix of a problem.
    pub fn mend(self, file: &str, fix: &Fix) {
        let is_newest = self.problems.revision.get_untracked() == self.project.revision.get_untracked();
        if is_newest {
            self.editor.apply(file, &serde_json::to_string(&fix.edits).unwrap_or_default());
        } else {
            self.status.say(t!("state-problems-fix-old"));
        }
    }

    /// Offers the fixes of the caret's line, at the caret.
    pub fn quick_fix(self) {
        self.problems.show_all();
        self.layout.tab.set(crate::state::layout::Tab::Code);
        // The editor hears of new problems by an effect, which runs first.
        set_timeout(move || self.editor.offer_fixes(), Duration::ZERO);
    }

    /// Copies those that are shown as a list in Markdown.
    pub fn copy_problems(self) {
        self.copy_text(self.problems.shown.with_untracked(|it| markdown(it)));
    }

    /// Goes to the problem after or before the caret, round the end, and says which it is.
    pub(super) fn next_problem(self, by: isize) {
        self.problems.show_all();
        let caret = self.compilation.caret.get_untracked();
        let main = self.project.shown.get_untracked();
        let mut all: Vec<Diagnostic> = self
            .problems
            .shown
            .with_untracked(|it| it.iter().filter(|it| it.file == main).cloned().collect());
        all.sort_by_key(|it| it.start);
        let next = if by > 0 {
            all.iter().position(|it| it.start > caret).or((!all.is_empty()).then_some(0))
        } else {
            all.iter().rposition(|it| it.start < caret).or(all.len().checked_sub(1))
        };
        match next {
            Some(at) => {
                let found = &all[at];
                self.reveal(found.start);
                let message = found.message.replace('`', "");
                self.status.say(t!("state-problems-which", at = at + 1, of = all.len(), message = message));
            }
            None => self.status.say(t!("state-problems-none")),
        }
    }
}
