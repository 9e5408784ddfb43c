//! Share links: making one, and what came of opening one.

use leptos::prelude::*;

use super::App;
use crate::bridge::page;
use crate::share::decode::Broken;
use crate::share::encode;

/// Links made and opened.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// The link that is offered, while its dialog is open.
    pub link: RwSignal<Option<String>>,
    /// Whether the clipboard took it; `None` before anybody tried.
    pub is_copied: RwSignal<Option<bool>>,
    /// Why the address's link could not be opened.
    pub broken: RwSignal<Option<Broken>>,
    /// What was left out of the link that was opened.
    pub notes: RwSignal<Vec<String>>,
}

impl Sharing {
    pub(super) fn new() -> Self {
        Self {
            link: RwSignal::default(),
            is_copied: RwSignal::default(),
            broken: RwSignal::default(),
            notes: RwSignal::default(),
        }
    }

    pub(super) fn refuse(self, broken: Broken) {
        self.broken.set(Some(broken));
    }

    pub(super) fn tell(self, notes: Vec<String>) {
        self.broken.set(None);
        self.notes.set(notes);
    }
}

impl App {
    /// Makes a link of the present state and offers it.
    pub fn share(self) {
        let state = untrack(|| self.shared_state());
        self.sharing.link.set(Some(format!("{}#{}", page::address(), encode(&state))));
        self.sharing.is_copied.set(None);
    }

    /// Copies the offered link.
    pub fn copy_link(self) {
        let Some(link) = self.sharing.link.get_untracked() else { return };
        leptos::task::spawn_local(async move {
            self.sharing.is_copied.set(Some(page::copy(&link).await));
        });
    }

    /// Copies any text, as that of a stage.
    pub fn copy_text(self, text: String) {
        leptos::task::spawn_local(async move {
            let is_copied = page::copy(&text).await;
            self.run.say(if is_copied { "Copied." } else { "The browser refused the clipboard." });
        });
    }
}
