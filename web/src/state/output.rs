//! The kept messages of the page: each sentence of the status line, the newest last.

use leptos::prelude::*;

use super::run::Run;
use super::status::StatusLine;

/// Most sentences that are kept.
const MOST: usize = 200;

/// A sentence, and how often it was said in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLine {
    /// Counts the sentences.
    pub number: u64,
    pub text: String,
}

/// The sentences.
#[derive(Clone, Copy, Debug)]
pub struct OutputLog {
    pub lines: RwSignal<Vec<OutputLine>>,
    n_said: StoredValue<u64>,
}

impl OutputLog {
    pub(crate) fn new() -> Self {
        Self { lines: RwSignal::default(), n_said: StoredValue::new(0) }
    }

    fn keep(self, text: String) {
        if text.is_empty() {
            return;
        }
        self.n_said.update_value(|it| *it += 1);
        let number = self.n_said.get_value();
        self.lines.update(|all| {
            all.push(OutputLine { number, text });
            let over = all.len().saturating_sub(MOST);
            all.drain(..over);
        });
    }

    pub fn clear(self) {
        self.lines.set(Vec::new());
    }
}

impl OutputLog {
    /// Keeps what is said from now on, and why runs fail.
    pub(crate) fn follow(self, status: StatusLine, run: Run) {
        Effect::new(move |_| self.keep(status.text.get()));
        Effect::new(move |_| {
            if let Some(failure) = run.failure.get() {
                self.keep(failure.message);
            }
        });
    }
}
