//! Links, reports and archives of texts.

use isobar_page_model::compilation::CompilerFailure;
use isobar_page_model::filenames::folder;
use isobar_protocol::share::{self, State, around, encode, zip};
use js_sys::Uint8Array;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::bridge::page;
use crate::bridge::workspaces::{self as kept, SavedText};
use crate::state::App;
use crate::state::sharing::Offer;

impl App {
    /// Makes a link of the present state and offers it.
    pub fn share(self) {
        let state = untrack(|| self.shared_state());
        let link = link_to(&state);
        let command = around::command(&link);
        self.sharing.said.set("");
        self.sharing.offer.set(Some(Offer { state, link, command }));
    }

    /// Copies a report of a crash of the compiler: versions, the texts, and a link to them.
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
