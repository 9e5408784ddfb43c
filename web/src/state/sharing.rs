//! Share links: making one, handing it on, and what came of opening one.

use isobar_page_model::filenames::folder;
use isobar_protocol::share::decode::{LinkError, Note};
use isobar_protocol::share::{self, State, around, encode, zip};
use js_sys::Uint8Array;
use leptos::prelude::*;

use super::compilation::CompilerFailure;
use super::{App, broken};
use crate::bridge::locale::t;
use crate::bridge::page;
use crate::bridge::workspaces::{self as kept, SavedText};

/// The offer of the share dialog, made when it opens.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    state: State,
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
    pub(super) fn new() -> Self {
        Self {
            offer: RwSignal::default(),
            said: RwSignal::default(),
            broken: RwSignal::default(),
            notes: RwSignal::default(),
        }
    }

    pub(super) fn refuse(self, why: LinkError) {
        self.broken.set(Some(broken::why(why)));
    }

    pub(super) fn tell(self, notes: &[Note]) {
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

impl App {
    /// Makes a link of the present state and offers it.
    pub fn share(self) {
        let state = untrack(|| self.shared_state());
        let link = link_to(&state);
        let command = around::command(&link);
        self.sharing.said.set("");
        self.sharing.offer.set(Some(Offer { state, link, command }));
    }

    /// Copies what somebody needs who is told that the compiler crashed: versions, the texts, and a link to them.
    pub fn copy_report(self) {
        let what = match self.compilation.trouble.get_untracked() {
            Some(CompilerFailure::TookTooLong) => "took too long over this text and was stopped",
            _ => "crashed over this text",
        };
        let state = untrack(|| self.shared_state());
        let link = link_to(&state);
        let (version, browser) = (env!("CARGO_PKG_VERSION"), page::browser());
        let texts = around::markdown(&state, &link);
        self.copy_text(format!("Isobar {version} {what}, in {browser}.\n\n{texts}"));
    }

    /// Saves every text of this browser in one archive, each in a folder of its own.
    pub fn save_all_texts(self) {
        self.write_now();
        leptos::task::spawn_local(async move {
            let mut all = Vec::new();
            for SavedText { id, title, .. } in kept::list().await {
                let state = kept::load(&id).await.and_then(|it| share::kept(it.as_bytes()));
                all.extend(state.map(|state| (folder(&title, all.len() + 1), state)));
            }
            let bytes = Uint8Array::from(zip::archive_of_all(&all).as_slice());
            let is_saved = page::save("isobar-texts.zip", "application/zip", &bytes);
            self.status.say(if is_saved { t!("state-share-saved") } else { t!("state-share-not-saved") });
        });
    }

    /// Copies any text, as that of a stage.
    pub fn copy_text(self, text: String) {
        leptos::task::spawn_local(async move {
            let is_copied = page::copy(&text).await;
            self.status.say(if is_copied {
                t!("state-share-copied")
            } else {
                t!("state-share-no-clipboard")
            });
        });
    }
}

/// The address of this page, with all of it.
fn link_to(state: &State) -> String {
    format!("{}#{}", page::address(), encode(state))
}
