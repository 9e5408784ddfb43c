//! Changes of the head of the text, from the card above it.

use leptos::prelude::*;

use crate::state::App;
use crate::state::head::{HeadLine, lines, plus, with};

impl App {
    /// The lines of the head of the text that is shown.
    #[must_use]
    pub fn head_lines(self) -> Vec<HeadLine> {
        self.project.text.with(|it| lines(it))
    }

    /// Changes a line of the head; an empty one is taken out.
    pub fn change_head(self, at: usize, word: &str, rest: &str) {
        let text = self.project.text.with_untracked(|it| with(it, at, word, rest));
        self.write_text(text);
    }

    /// Adds a line to the head.
    pub fn add_to_head(self, word: &str, rest: &str) {
        let text = self.project.text.with_untracked(|it| plus(it, &[(word, rest.to_owned())]));
        self.write_text(text);
    }

    /// The page's own edit of the text that is shown, as one step that can be undone.
    pub(super) fn write_text(self, text: String) {
        self.editor.show(&text);
        self.edit(text);
    }
}
