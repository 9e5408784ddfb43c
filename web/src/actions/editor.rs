//! The editor as a view of the state: text and marks go in, edits come out.

use isobar_page_model::links::{self, Links};
use isobar_page_model::offsets::Offsets;
use isobar_page_model::remarks::by_line;
use isobar_protocol::diagnostic::{Diagnostic, Position};
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::bridge::editor::{DiagnosticMark, Editor, InlineRemark, Listeners};
use crate::bridge::locale::t;
use crate::state::App;
use crate::state::remarks;
use crate::state::remedies::help_of;

impl App {
    /// Types a text where the caret is, in place of what is selected, as the user would.
    pub fn type_text(self, text: &str) {
        self.editor.insert(text);
    }

    /// Puts the editor into `parent` and keeps it in step.
    pub fn attach_editor(self, parent: &HtmlElement) {
        let listeners = Listeners {
            on_change: Box::new(move |text| self.edit(text)),
            on_cursor: Box::new(move |offset| self.caret_moved(offset)),
            on_ask: Box::new(move |query| Box::pin(self.tell(query))),
            on_elsewhere: Box::new(move |place| self.elsewhere(&place)),
            on_edits: Box::new(move |edits| self.edit_others(&edits)),
            on_remark: Box::new(move |number| self.show_entry(number)),
            on_head: Box::new(move || self.head.is_folded.set(false)),
        };
        let editor = Editor::new(parent, &self.project.text.get_untracked(), listeners);
        self.editor.editor.set_value(Some(editor));
        self.attach_files();

        Effect::new(move |_| {
            self.project.opened.track();
            self.project.shown.with(|_| ());
            let marks = self.problems.shown.with(|it| untrack(|| self.marks(it)));
            self.editor.with(|it| it.set_marks(&marks));
        });
        Effect::new(move |_| {
            // Also of the same ones: the text that they stand in may be another.
            self.passes.n_told.get();
            self.project.opened.track();
            self.project.shown.with(|_| ());
            let notes = untrack(|| self.notes());
            self.editor.with(|it| it.set_notes(&notes));
        });
        Effect::new(move |_| {
            let are_stale = self.passes.are_stale.get();
            self.editor.with(|it| it.set_notes_stale(are_stale));
        });
        Effect::new(move |_| {
            let wraps = self.settings.wraps_text.get();
            self.editor.with(|it| it.set_wrapping(wraps));
        });
        Effect::new(move |_| {
            let ranges = self.lit.with(|it| untrack(|| self.lit_ranges(it)));
            self.editor.with(|it| it.set_lit(&ranges));
        });
        Effect::new(move |_| {
            let theme = if self.settings.is_dark.get() { "dark" } else { "light" };
            self.editor.with(|it| it.set_theme(theme));
        });
    }

    /// The statements that are lit.
    #[must_use]
    pub fn lit(self) -> Links {
        self.lit.get()
    }

    /// Gives the editor the keyboard.
    pub fn focus_editor(self) {
        self.editor.with(Editor::focus);
    }

    /// Opens what the compiler did with the caret's line.
    pub fn open_remarks(self) {
        self.layout.tab.set(crate::state::layout::Tab::Code);
        let mut is_open = false;
        self.editor.with(|it| is_open = it.open_notes());
        if !is_open {
            self.status.say(t!("state-remarks-none-here"));
        }
    }

    /// Brings a place of the text into view and puts the caret there.
    pub fn reveal(self, at: Position) {
        let offset = self.project.text.with_untracked(|text| Offsets::new(text).offset(at));
        self.layout.tab.set(crate::state::layout::Tab::Code);
        self.editor.with(|it| it.reveal(offset));
    }

    /// Lights what the pointer rests on in a stage, for as long as it does.
    pub fn point_at(self, links: Option<Links>) {
        if self.compilation.pointed.with_untracked(|it| *it != links) {
            self.compilation.pointed.set(links);
        }
    }

    /// Lights what was clicked in a stage until the caret moves, and brings its source into view.
    pub fn pin(self, links: Links) {
        let main = self.project.shown.get_untracked();
        let texts = untrack(|| self.compilation.texts());
        let places = links::places_of(texts.iter().map(AsRef::as_ref), &links);
        if let Some(place) = places.iter().find(|it| it.file == main) {
            let offset = self.project.text.with_untracked(|text| Offsets::new(text).offset(place.start));
            self.editor.with(|it| it.scroll_to(offset));
        }
        self.compilation.pinned.set(Some(links).filter(|it| !it.is_empty()));
    }

    fn caret_moved(self, offset: usize) {
        let at = self.project.text.with_untracked(|text| Offsets::new(text).position(offset));
        self.compilation.pinned.set(None);
        if self.compilation.caret.get_untracked() != at {
            self.compilation.caret.set(at);
            self.follow_caret(at);
        }
    }

    fn marks(self, diagnostics: &[Diagnostic]) -> Vec<DiagnosticMark> {
        let main = self.project.shown.get();
        self.project.text.with(|text| {
            let offsets = Offsets::new(text);
            let here = diagnostics.iter().filter(|it| it.file == main);
            here.map(|it| DiagnosticMark {
                from: offsets.offset(it.start),
                to: offsets.offset(it.end),
                severity: it.severity.clone(),
                message: it.message.clone(),
                code: it.code.clone(),
                help: help_of(it),
                file: main.clone(),
                fixes: serde_json::to_string(&it.fixes).unwrap_or_default(),
            })
            .collect()
        })
    }

    /// The compiler's notes on each line, with the offset at which the line begins.
    fn notes(self) -> Vec<(usize, Vec<InlineRemark>)> {
        let main = self.project.shown.get();
        let entries = self.passes.entries.get();
        self.project.text.with(|text| {
            let offsets = Offsets::new(text);
            let lines = by_line(&entries, &main).into_iter().map(|(line, of_line)| {
                let notes = of_line.into_iter().filter_map(|number| {
                    let it = entries.get(number)?;
                    Some(InlineRemark {
                        number,
                        sign: it.sign(),
                        shown: it.shown.name(),
                        pass: it.pass.clone(),
                        text: remarks::text(it),
                        traffic: remarks::traffic(it),
                    })
                });
                (offsets.offset(Position { line, col: 1 }), notes.collect())
            });
            lines.collect()
        })
    }

    fn lit_ranges(self, links: &Links) -> Vec<(usize, usize)> {
        let main = self.project.shown.get();
        let texts = self.compilation.texts();
        let places = links::places_of(texts.iter().map(AsRef::as_ref), links);
        self.project.text.with(|text| {
            let offsets = Offsets::new(text);
            let here = places.iter().filter(|it| it.file == main);
            here.map(|it| (offsets.offset(it.start), offsets.offset(it.end))).collect()
        })
    }
}
