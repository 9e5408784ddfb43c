//! The diagnostics that are shown: those of the newest answer, once the keyboard rests.
//!
//! Whoever types is not told of each text on the way: what is shown changes after a moment of rest, and a word that
//! is being typed is spared until the caret leaves it, or rests longer. Text that comes from elsewhere is not waited
//! for.

use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::diagnostic::{Diagnostic, Fix, Position};
use leptos::prelude::*;

use super::App;
use crate::bridge::locale::t;
use crate::bridge::page;

/// How long the keyboard rests before problems are shown.
const REST_MS: f64 = 150.0;
/// How long before those of the word that is being typed are.
const LONG_REST_MS: f64 = 1_000.0;

/// What is shown of the diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct Problems {
    pub shown: RwSignal<Arc<Vec<Diagnostic>>>,
    /// The edit that they belong to.
    pub revision: RwSignal<u64>,
    /// When a key was pressed last, unless another text was opened since.
    typed_ms: StoredValue<Option<f64>>,
    /// Whether some are spared.
    is_sparing: StoredValue<bool>,
    later: StoredValue<Option<TimeoutHandle>>,
}

impl Problems {
    pub(super) fn new() -> Self {
        Self {
            shown: RwSignal::default(),
            revision: RwSignal::new(0),
            typed_ms: StoredValue::new(None),
            is_sparing: StoredValue::new(false),
            later: StoredValue::new(None),
        }
    }

    /// Hears of an edit of the user.
    pub(super) fn typed(self) {
        self.typed_ms.set_value(Some(page::now_ms()));
    }

    /// Milliseconds since the last key; none where nobody typed.
    fn rested_ms(self) -> Option<f64> {
        self.typed_ms.get_value().map(|it| page::now_ms() - it)
    }
}

impl App {
    /// Shows problems from now on.
    pub(super) fn follow_problems(self) {
        Effect::new(move |_| {
            self.project.revision.track();
            self.compilation.revision.track();
            let left_ms = self.problems.rested_ms().map_or(0.0, |it| (REST_MS - it).max(0.0));
            self.show_problems_in(left_ms);
        });
        Effect::new(move |_| {
            // A caret that leaves its word lets go of what was spared.
            self.compilation.caret.track();
            if self.problems.is_sparing.get_value()
                && self.problems.rested_ms().is_none_or(|it| it >= REST_MS)
            {
                self.show_problems_in(0.0);
            }
        });
        Effect::new(move |_| {
            self.project.opened.track();
            self.problems.typed_ms.set_value(None);
        });
    }

    fn show_problems_in(self, ms: f64) {
        if let Some(waiting) = self.problems.later.get_value() {
            waiting.clear();
        }
        let wait = Duration::from_secs_f64(ms.max(0.0) / 1e3);
        let handle = set_timeout_with_handle(move || self.show_problems(self.problems.rested_ms()), wait);
        self.problems.later.set_value(handle.ok());
    }

    /// Shows those of the newest answer; it was typed `rested_ms` ago.
    fn show_problems(self, rested_ms: Option<f64>) {
        let revision = self.compilation.revision.get_untracked();
        if revision != self.project.revision.get_untracked() {
            // The answer comes here again.
            return;
        }
        let is_typing = rested_ms.is_some_and(|it| it < LONG_REST_MS);
        let main = untrack(|| self.project.shown());
        let word = is_typing.then(|| {
            let caret = self.compilation.caret.get_untracked();
            self.project.text.with_untracked(|text| word_at(text, caret))
        });
        let mut shown = self.compilation.diagnostics.get_untracked();
        let n_all = shown.len();
        if let Some(word) = word {
            shown.retain(|it| it.file != main || !touches(it, word));
        }
        let is_sparing = shown.len() < n_all;
        self.problems.is_sparing.set_value(is_sparing);
        self.problems.revision.set(revision);
        if self.problems.shown.with_untracked(|it| **it != shown) {
            self.problems.shown.set(Arc::new(shown));
        }
        if let (true, Some(rested_ms)) = (is_sparing, rested_ms) {
            self.show_problems_in(LONG_REST_MS - rested_ms);
        }
    }

    /// Shows all of them at once, for whoever asks for a remedy.
    pub(super) fn show_all_problems(self) {
        self.show_problems(None);
    }

    /// Carries out a fix of a problem.
    pub fn mend(self, file: &str, fix: &Fix) {
        let is_newest = self.problems.revision.get_untracked() == self.project.revision.get_untracked();
        if is_newest {
            self.editor.apply(file, &serde_json::to_string(&fix.edits).unwrap_or_default());
        } else {
            self.run.say(t!("state-problems-fix-old"));
        }
    }

    /// Offers the fixes of the caret's line, at the caret.
    pub fn quick_fix(self) {
        self.show_all_problems();
        self.layout.tab.set(super::layout::Tab::Code);
        // The editor hears of new problems by an effect, which runs first.
        set_timeout(move || self.editor.offer_fixes(), Duration::ZERO);
    }

    /// Copies those that are shown as a list in Markdown.
    pub fn copy_problems(self) {
        self.copy_text(self.problems.shown.with_untracked(|it| markdown(it)));
    }

    /// Goes to the problem after or before the caret, round the end, and says which it is.
    pub(super) fn next_problem(self, by: isize) {
        self.show_all_problems();
        let caret = self.compilation.caret.get_untracked();
        let main = untrack(|| self.project.shown());
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
                self.run.say(t!("state-problems-which", at = at + 1, of = all.len(), message = message));
            }
            None => self.run.say(t!("state-problems-none")),
        }
    }
}

/// A line for each, and its help below: as somebody asks others about them.
fn markdown(all: &[Diagnostic]) -> String {
    let mut out = String::new();
    for it in all {
        let place = match it.file.as_str() {
            "" => String::new(),
            file => format!(" `{}:{}:{}`", file.replace('`', "'"), it.start.line, it.start.col),
        };
        out += &format!("- **{} {}**{place}: {}\n", it.severity, it.code, it.message);
        let help = it.help.as_deref().map(|it| format!("help: {it}"));
        for note in it.notes.iter().cloned().chain(help) {
            out += &format!("  - {note}\n");
        }
    }
    out
}

/// The word that touches a place, from its first character to behind its last one.
fn word_at(text: &str, at: Position) -> [Position; 2] {
    let line: Vec<char> =
        text.lines().nth(at.line.saturating_sub(1) as usize).unwrap_or_default().chars().collect();
    let is_word = |it: &char| it.is_alphanumeric() || *it == '_';
    let col = (at.col.saturating_sub(1) as usize).min(line.len());
    let before = line[..col].iter().rev().take_while(|it| is_word(it)).count();
    let behind = line[col..].iter().take_while(|it| is_word(it)).count();
    let place = |col: usize| Position { line: at.line, col: u32::try_from(col + 1).unwrap_or(u32::MAX) };
    [place(col - before), place(col + behind)]
}

/// Whether a squiggle of the diagnostic would stand at the word.
fn touches(diagnostic: &Diagnostic, word: [Position; 2]) -> bool {
    diagnostic.start <= word[1] && diagnostic.end >= word[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, col: u32) -> Position {
        Position { line, col }
    }

    fn diagnostic(start: Position, end: Position) -> Diagnostic {
        Diagnostic { start, end, file: "main.py".to_owned(), ..Diagnostic::without_place("E1", "", "") }
    }

    #[test]
    fn a_word_is_found_from_either_end_and_from_within() {
        let text = "a\nq = flüx_1 + 2\n";
        for col in [5, 7, 11] {
            assert_eq!(word_at(text, at(2, col)), [at(2, 5), at(2, 11)], "{col}");
        }
        assert_eq!(word_at(text, at(2, 4)), [at(2, 4), at(2, 4)], "there is none between signs");
        assert_eq!(word_at(text, at(9, 4)), [at(9, 1), at(9, 1)]);
    }

    #[test]
    fn problems_are_a_list_in_markdown() {
        let one = Diagnostic {
            notes: vec!["seen before".to_owned()],
            help: Some("write `q`".to_owned()),
            ..diagnostic(at(2, 5), at(2, 11))
        };
        let other = Diagnostic::without_place("E91", "no call", "");
        let lines = "\
- **error E1** `main.py:2:5`: 
  - seen before
  - help: write `q`
- **error E91**: no call
";
        assert_eq!(markdown(&[one, other]), lines);
    }

    #[test]
    fn a_problem_of_the_word_is_spared_and_one_beside_it_is_not() {
        let word = [at(2, 5), at(2, 11)];
        assert!(touches(&diagnostic(at(2, 5), at(2, 11)), word));
        assert!(touches(&diagnostic(at(2, 11), at(2, 11)), word), "what is expected behind it");
        assert!(!touches(&diagnostic(at(2, 1), at(2, 4)), word));
        assert!(!touches(&diagnostic(at(3, 1), at(3, 4)), word));
    }
}
