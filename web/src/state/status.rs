//! The status line: the present activity of the page, or the last one, in a sentence.

use leptos::prelude::*;

/// The sentence.
#[derive(Clone, Copy, Debug)]
pub struct StatusLine {
    pub text: RwSignal<String>,
}

impl StatusLine {
    pub(crate) fn new() -> Self {
        Self { text: RwSignal::default() }
    }

    /// Says what goes on.
    pub fn say(self, text: impl Into<String>) {
        self.text.set(text.into());
    }
}
