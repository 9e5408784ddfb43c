//! The compiler's answers to the editor's questions about its text.
//!
//! A worker of its own answers, so that neither a compilation nor a run makes the editor wait.

use std::rc::Rc;

use isobar_page_model::offsets::Offsets;
use isobar_protocol::compile::SourceRange;
use isobar_protocol::diagnostic::Edit;
use isobar_protocol::service::{Query, QueryAnswer};
use isobar_protocol::worker::{AnswerBody, Ask};
use leptos::prelude::*;
use serde::Serialize;

use super::App;
use crate::bridge::asker::Asker;

/// The worker, from the first question on.
#[derive(Clone, Copy, Debug)]
pub struct EditorWorker {
    asker: StoredValue<Option<Rc<Asker>>, LocalStorage>,
}

/// An answer with the file that the editor shows.
#[derive(Serialize)]
struct EditorAnswer {
    file: String,
    told: QueryAnswer,
}

impl EditorWorker {
    pub(super) fn new() -> Self {
        Self { asker: StoredValue::new_local(None) }
    }

    /// The worker; another one where the last has ended.
    fn asker(self) -> Option<Rc<Asker>> {
        let is_gone = self.asker.with_value(|it| it.as_ref().is_none_or(|it| it.is_gone()));
        if is_gone {
            self.asker.set_value(Asker::start(|_, _| {}).ok());
        }
        self.asker.get_value()
    }
}

impl App {
    /// Answers a question of the editor; nothing where nobody answers.
    pub(super) async fn tell(self, query: String) -> Option<String> {
        let query: Query = serde_json::from_str(&query).ok()?;
        let request = untrack(|| self.project.request());
        let file = untrack(|| self.project.shown());
        let asker = self.editor.teller.asker()?;
        let (said, _) =
            asker.ask(Ask::Service { request, file: file.clone(), query }, Vec::new()).await.ok()?;
        let AnswerBody::Told { told } = said else { return None };
        serde_json::to_string(&EditorAnswer { file, told }).ok()
    }

    /// Shows a place of another file.
    pub(super) fn elsewhere(self, place: &str) {
        if let Ok(place) = serde_json::from_str::<SourceRange>(place) {
            self.reveal_in(&place.file, place.start);
        }
    }

    /// Changes files that the editor does not show.
    pub(super) fn edit_others(self, edits: &str) {
        let Ok(edits) = serde_json::from_str::<Vec<Edit>>(edits) else { return };
        let mut places: Vec<&Edit> = edits.iter().collect();
        // From the last on, so that the places before stay where they are.
        places.sort_by_key(|it| std::cmp::Reverse((&it.file, it.start)));
        for Edit { file, start, end, text } in places {
            self.project.edit_other(file, |before| {
                let offsets = Offsets::new(before);
                let units: Vec<u16> = before.encode_utf16().collect();
                let (start, end) = (offsets.offset(*start), offsets.offset(*end));
                let (head, tail) = (units.get(..start)?, units.get(end..)?);
                Some(String::from_utf16_lossy(head) + text + &String::from_utf16_lossy(tail))
            });
        }
    }
}
