//! The editor, once it is in the page.

use leptos::prelude::*;

use super::teller::EditorWorker;
use crate::bridge::editor::Editor;

/// The editor, once it is in the page.
#[derive(Clone, Copy, Debug)]
pub struct EditorState {
    pub(crate) editor: StoredValue<Option<Editor>, LocalStorage>,
    pub(crate) teller: EditorWorker,
}

impl EditorState {
    pub(crate) fn new() -> Self {
        Self { editor: StoredValue::new_local(None), teller: EditorWorker::new() }
    }

    /// Shows another text.
    pub(crate) fn show(self, text: &str) {
        self.with(|it| it.set_text(text));
    }

    /// Carries out the edits of a fix.
    pub(crate) fn apply(self, file: &str, edits: &str) {
        self.with(|it| it.apply(file, edits));
    }

    /// Offers the fixes of the caret's line.
    pub(crate) fn offer_fixes(self) {
        self.with(Editor::offer_fixes);
    }

    /// Shows a file in place of another one.
    pub(crate) fn open_file(self, name: &str, text: &str) {
        self.with(|it| it.open_file(name, text));
    }

    /// Tells which file the text is.
    pub(crate) fn name_file(self, name: &str) {
        self.with(|it| it.name_file(name));
    }

    /// Shows one line in place of the head of the text, or the head.
    pub(crate) fn fold_head(self, is_folded: bool) {
        self.with(|it| it.set_head_folded(is_folded));
    }

    /// Types a text where the caret is.
    pub(crate) fn insert(self, text: &str) {
        self.with(|it| it.insert(text));
    }

    /// Puts the caret somewhere and brings it into view; the keyboard stays where it is.
    pub(crate) fn put_caret(self, offset: usize) {
        self.with(|it| it.put_caret(offset));
    }

    pub(crate) fn with(self, act: impl FnOnce(&Editor)) {
        self.editor.with_value(|it| {
            if let Some(editor) = it {
                act(editor);
            }
        });
    }
}
