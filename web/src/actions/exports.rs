//! Files and clipboard texts that leave the page.

use isobar_page_model::filenames::file_name;
use isobar_protocol::worker::{AnswerBody, Ask, Which};
use js_sys::Uint8Array;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::bridge::asker::WorkerEnd;
use crate::bridge::locale::t;
use crate::bridge::page;
use crate::state::{App, why};

impl App {
    /// Hands a file to the browser, and says so.
    pub fn save_file(self, name: &str, mime: &str, bytes: &[u8]) {
        let is_saved = page::save(name, mime, &Uint8Array::from(bytes));
        self.status.say(if is_saved {
            t!("state-export-saved", name = name)
        } else {
            t!("state-export-refused", name = name)
        });
    }

    /// All fields of the result that is looked at, as a file that `numpy.load` reads; of a difference, those of A.
    pub fn save_archive(self) {
        let of = match self.view.which.get_untracked() {
            Which::B => Which::B,
            Which::A | Which::Difference | Which::Relative | Which::Ulp => Which::A,
        };
        let letter = if of == Which::B { "B" } else { "A" };
        let Some(worker) = self.run.keeper() else { return };
        spawn_local(async move {
            match worker.ask(Ask::Archive { of }, Vec::new()).await {
                Ok((AnswerBody::Archive, buffers)) => {
                    if let Some(buffer) = buffers.first() {
                        let stencil = untrack(|| self.archive_name());
                        let name = format!("{stencil}-{letter}.npz");
                        let is_saved = page::save(&name, "application/zip", &Uint8Array::new(buffer));
                        self.status.say(if is_saved {
                            t!("state-export-archive-saved", name = &name, letter = letter)
                        } else {
                            t!("state-export-refused", name = &name)
                        });
                    }
                }
                Ok((AnswerBody::Failed { why }, _)) => self.status.say(why::in_words(&why)),
                Ok(_) => {}
                Err(gone) => self.lose_results(gone),
            }
        });
    }

    /// The graph of the stencil that is shown, as a file that DaCe reads.
    pub fn save_graph(self) {
        let request = self.compilation.completed(untrack(|| self.project.request()));
        let worker = match self.passes.worker() {
            Ok(worker) => worker,
            Err(why) => return self.status.say(why),
        };
        spawn_local(async move {
            let answer = worker.ask(Ask::Graph { request }, Vec::new()).await;
            match answer {
                Ok((AnswerBody::Graph { text: Some(text) }, _)) => {
                    let stencil = untrack(|| self.compilation.stencil.get());
                    let name = format!("{}.sdfg", file_name(&stencil.unwrap_or_else(|| self.archive_name())));
                    self.save_file(&name, "application/json", text.as_bytes());
                }
                Ok((AnswerBody::Failed { why }, _)) => self.status.say(why::in_words(&why)),
                Ok(_) => self.status.say(t!("state-export-no-graph")),
                Err(WorkerEnd::Stopped) => {}
                Err(WorkerEnd::NotLoaded(why) | WorkerEnd::Crashed(why)) => {
                    self.status.say(t!("state-export-graph-gone", why = why));
                }
            }
        });
    }

    /// The name for the files of this stencil, without an extension.
    #[must_use]
    pub fn archive_name(self) -> String {
        let named = self.project.stencil.get().or_else(|| self.project.gallery.get());
        file_name(&named.unwrap_or_else(|| "fields".to_owned()))
    }
}
