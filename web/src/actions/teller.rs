//! The compiler's answers to the editor's questions.

use isobar_page_model::project::ProjectEvent;
use isobar_protocol::compile::SourceRange;
use isobar_protocol::diagnostic::Edit;
use isobar_protocol::service::{Query, QueryAnswer};
use isobar_protocol::worker::{AnswerBody, Ask};
use leptos::prelude::*;
use serde::Serialize;

use crate::state::App;

/// An answer with the file that the editor shows.
#[derive(Serialize)]
struct EditorAnswer {
    file: String,
    told: QueryAnswer,
}

impl App {
    /// Answers a question of the editor; nothing where nobody answers.
    pub(super) async fn tell(self, query: String) -> Option<String> {
        let query: Query = serde_json::from_str(&query).ok()?;
        let request = untrack(|| self.project.request());
        let file = self.project.shown.get_untracked();
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
        self.project.happened(ProjectEvent::OthersEdited(edits));
    }
}
