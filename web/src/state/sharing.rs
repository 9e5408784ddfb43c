//! Share links: making one, handing it on, and what came of opening one.

use isobar_protocol::share::decode::{LinkError, Note};
use isobar_protocol::share::{State, around, zip};
use js_sys::Uint8Array;
use leptos::prelude::*;

use super::broken;
use crate::bridge::locale::t;
use crate::bridge::page;

/// The offer of the share dialog, made when it opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub(crate) state: State,
    pub link: String,
    /// The command that opens the link on a command line.
    pub command: String,
}

/// Links made and opened.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// The present offer, while its dialog is open.
    pub offer: RwSignal<Option<Offer>>,
    /// The outcome of the last action in the dialog.
    pub said: RwSignal<&'static str>,
    /// Why the address's link could not be opened.
    pub broken: RwSignal<Option<&'static str>>,
    /// Notes about the parts that were left out of the opened link.
    pub notes: RwSignal<Vec<String>>,
}

impl Sharing {
    pub(crate) fn new() -> Self {
        Self {
            offer: RwSignal::default(),
            said: RwSignal::default(),
            broken: RwSignal::default(),
            notes: RwSignal::default(),
        }
    }

    pub(crate) fn refuse(self, why: LinkError) {
        self.broken.set(Some(broken::why(why)));
    }

    pub(crate) fn tell(self, notes: &[Note]) {
        self.broken.set(None);
        self.notes.set(notes.iter().map(|it| broken::left_out(*it).to_owned()).collect());
    }

    /// Copies a text of the dialog.
    fn copy(self, text: String) {
        leptos::task::spawn_local(async move {
            let is_copied = page::copy(&text).await;
            self.said.set(if is_copied { t!("state-share-copied") } else { t!("state-share-not-copied") });
        });
    }

    /// Copies the offered link.
    pub fn copy_link(self) {
        if let Some(offer) = self.offer.get_untracked() {
            self.copy(offer.link);
        }
    }

    /// Copies the texts and the link as Markdown.
    pub fn copy_markdown(self) {
        if let Some(offer) = self.offer.get_untracked() {
            self.copy(around::markdown(&offer.state, &offer.link));
        }
    }

    /// Copies the command that opens the link elsewhere.
    pub fn copy_command(self) {
        if let Some(offer) = self.offer.get_untracked() {
            self.copy(offer.command);
        }
    }

    /// Saves the files and the settings as an archive.
    pub fn save_zip(self) {
        let Some(offer) = self.offer.get_untracked() else { return };
        let bytes = Uint8Array::from(zip::archive(&offer.state).as_slice());
        let name = offer.state.stencil.filter(|it| it.chars().all(|it| it.is_alphanumeric() || it == '_'));
        let name = format!("{}.zip", name.as_deref().unwrap_or("stencil"));
        let is_saved = page::save(&name, "application/zip", &bytes);
        self.said.set(if is_saved { t!("state-share-saved") } else { t!("state-share-not-saved") });
    }
}
