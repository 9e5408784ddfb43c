//! The diagnostics that are shown: those of the newest answer, once the keyboard rests.
//!
//! A user who types is not told of each intermediate text: the shown diagnostics change after a moment of
//! rest. Those of the word that is being typed wait until the caret leaves it, or the keyboard rests longer.
//! Text that comes from elsewhere is not waited for.

use std::sync::Arc;

use isobar_protocol::diagnostic::{Diagnostic, Position};

use crate::diagnostics::{touches, word_at};

/// How long the keyboard rests before problems are shown.
const REST_MS: f64 = 150.0;
/// How long the keyboard rests before those of the word that is being typed are shown.
const LONG_REST_MS: f64 = 1_000.0;

/// All that the page knows about the diagnostics that are shown.
#[derive(Clone, Debug, Default)]
pub struct ProblemsState {
    pub shown: Arc<Vec<Diagnostic>>,
    /// The edit that they belong to.
    pub revision: u64,
    /// When a key was pressed last, unless another text was opened since.
    typed_ms: Option<f64>,
    /// Whether some are held back.
    is_sparing: bool,
}

/// Something that happened, and when.
#[derive(Clone, Debug)]
pub enum ProblemsEvent {
    /// A key of the user has changed the text.
    Typed(f64),
    /// Another text is opened.
    Opened,
    /// The text is another edit, or the compiler has answered.
    Changed(f64),
    CaretMoved(f64),
    /// The time has come that was waited for.
    Due(Box<ProblemFacts>),
    /// The user asks for all of them at once.
    AllWanted(Box<ProblemFacts>),
}

/// The newest answer and the text, at the moment when diagnostics are to be shown.
#[derive(Clone, Debug)]
pub struct ProblemFacts {
    pub now_ms: f64,
    /// The edit that was answered last, and the newest one.
    pub answered: u64,
    pub revision: u64,
    pub diagnostics: Arc<Vec<Diagnostic>>,
    /// The file that the editor shows, its text, and where the caret is.
    pub file: String,
    pub text: String,
    pub caret: Position,
}

/// Something that the page has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProblemsEffect {
    /// Tell when so many milliseconds are over, in the place of the time that is waited for.
    Wait(f64),
}

impl ProblemsState {
    /// Takes an event, and tells what the page has to do now.
    pub fn take(&mut self, event: ProblemsEvent) -> Option<ProblemsEffect> {
        match event {
            ProblemsEvent::Typed(now) => self.typed_ms = Some(now),
            ProblemsEvent::Opened => self.typed_ms = None,
            ProblemsEvent::Changed(now) => {
                let left_ms = self.rested_ms(now).map_or(0.0, |it| (REST_MS - it).max(0.0));
                return Some(ProblemsEffect::Wait(left_ms));
            }
            // A caret that leaves its word lets go of those that were spared.
            ProblemsEvent::CaretMoved(now) => {
                let has_rested = self.rested_ms(now).is_none_or(|it| it >= REST_MS);
                return (self.is_sparing && has_rested).then_some(ProblemsEffect::Wait(0.0));
            }
            ProblemsEvent::Due(facts) => {
                let rested_ms = self.rested_ms(facts.now_ms);
                return self.show(&facts, rested_ms);
            }
            ProblemsEvent::AllWanted(facts) => return self.show(&facts, None),
        }
        None
    }

    /// Milliseconds since the last key; none where nobody typed.
    fn rested_ms(&self, now_ms: f64) -> Option<f64> {
        self.typed_ms.map(|it| now_ms - it)
    }

    /// Shows those of the newest answer; it was typed `rested_ms` ago.
    fn show(&mut self, facts: &ProblemFacts, rested_ms: Option<f64>) -> Option<ProblemsEffect> {
        if facts.answered != facts.revision {
            // The answer comes here again.
            return None;
        }
        let mut shown = facts.diagnostics.to_vec();
        if rested_ms.is_some_and(|it| it < LONG_REST_MS) {
            let word = word_at(&facts.text, facts.caret);
            shown.retain(|it| it.file != facts.file || !touches(it, word));
        }
        self.is_sparing = shown.len() < facts.diagnostics.len();
        self.revision = facts.answered;
        if *self.shown != shown {
            self.shown = Arc::new(shown);
        }
        let left_ms = LONG_REST_MS - rested_ms.filter(|_| self.is_sparing)?;
        Some(ProblemsEffect::Wait(left_ms.max(0.0)))
    }
}

#[cfg(test)]
mod tests;
