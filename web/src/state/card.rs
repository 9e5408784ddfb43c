//! How much of the head of the text is shown, in the text and on the card above it.

use leptos::prelude::*;

/// How the head is shown.
#[derive(Clone, Copy, Debug)]
pub struct HeadDisplay {
    /// Whether one line stands for it in the text.
    pub is_folded: RwSignal<bool>,
    /// Whether the card shows all of it.
    pub is_open: RwSignal<bool>,
}

impl HeadDisplay {
    pub(crate) fn new() -> Self {
        Self { is_folded: RwSignal::new(true), is_open: RwSignal::new(false) }
    }
}
