//! What explains: pages of the manual, words of the glossary, drawings; each fetched when it is first wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_lessons::glossary::{Glossary, Term};
use isobar_lessons::markdown::{self, Block};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::App;
use crate::bridge::files;
use crate::bridge::locale::t;
use crate::bridge::words::{self, Word};

/// A page of the manual.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// As addresses name it, and its file.
    pub name: &'static str,
    pub title: fn() -> &'static str,
    /// What it tells.
    pub about: fn() -> &'static str,
}

const fn page_of(name: &'static str, title: fn() -> &'static str, about: fn() -> &'static str) -> Page {
    Page { name, title, about }
}

/// The pages of the manual, in the order in which they are listed.
pub const PAGES: [Page; 8] = [
    page_of("language", || t!("state-manual-language"), || t!("state-manual-about-language")),
    page_of("diagnostics", || t!("state-manual-diagnostics"), || t!("state-manual-about-diagnostics")),
    page_of("math", || t!("state-manual-math"), || t!("state-manual-about-math")),
    page_of("schedule", || t!("state-manual-schedule"), || t!("state-manual-about-schedule")),
    page_of("gpu", || t!("state-manual-gpu"), || t!("state-manual-about-gpu")),
    page_of("openmp", || t!("state-manual-openmp"), || t!("state-manual-about-openmp")),
    page_of("lessons", || t!("state-manual-lessons"), || t!("state-manual-about-lessons")),
    page_of("api", || t!("state-manual-api"), || t!("state-manual-about-api")),
];

/// What is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The page that is open, and its text once it is here.
    pub page: RwSignal<Option<String>>,
    pub blocks: RwSignal<Option<Arc<Vec<Block>>>>,
    pub trouble: RwSignal<Option<String>>,
    glossary: RwSignal<Option<Arc<Glossary>>>,
    /// The word whose card is open.
    word: RwSignal<Option<Word>>,
    /// Drawings by name.
    figures: RwSignal<BTreeMap<String, Arc<str>>>,
}

impl Reference {
    pub(super) fn new() -> Self {
        Self {
            page: RwSignal::default(),
            blocks: RwSignal::default(),
            trouble: RwSignal::default(),
            glossary: RwSignal::default(),
            word: RwSignal::default(),
            figures: RwSignal::default(),
        }
    }

    /// The word that is looked at, where it stands, and what it means.
    #[must_use]
    pub fn card(self) -> Option<(Word, Term)> {
        let word = self.word.get()?;
        let term = self.glossary.with(|it| it.as_ref()?.term(&word.word).cloned())?;
        Some((word, term))
    }

    /// Closes the card.
    pub fn close_card(self) {
        self.word.set(None);
    }

    /// A drawing, once it is here.
    #[must_use]
    pub fn figure(self, name: &str) -> Option<Arc<str>> {
        self.figures.with(|it| it.get(name).cloned())
    }
}

impl App {
    /// Shows cards of words from now on.
    pub(super) fn follow_words(self) {
        words::on_word(move |word| {
            if word.is_some() && self.reference.glossary.with_untracked(Option::is_none) {
                self.load_glossary();
            }
            if self.reference.word.with_untracked(|it| *it != word) {
                self.reference.word.set(word);
            }
        });
    }

    fn load_glossary(self) {
        spawn_local(async move {
            // Without it a word is a word.
            if let Ok(text) = files::text("lessons/glossary.toml").await
                && let Ok(glossary) = Glossary::read(&text)
            {
                self.reference.glossary.set(Some(Arc::new(glossary)));
            }
        });
    }

    /// Fetches a drawing, unless it is here.
    pub fn load_figure(self, name: &str) {
        if self.reference.figures.with_untracked(|it| it.contains_key(name)) {
            return;
        }
        let name = name.to_owned();
        spawn_local(async move {
            if let Ok(text) = files::text(&format!("lessons/figures/{name}.svg")).await {
                self.reference.figures.update(|it| {
                    it.insert(name, text.into());
                });
            }
        });
    }

    /// Opens a page of the manual; without a name, the list of them.
    pub(super) fn open_manual(self, page: Option<String>) {
        let reference = self.reference;
        if reference.page.get_untracked() == page && reference.trouble.with_untracked(Option::is_none) {
            return;
        }
        reference.page.set(page.clone());
        reference.blocks.set(None);
        reference.trouble.set(None);
        let Some(page) = page else { return };
        if PAGES.iter().all(|it| it.name != page) {
            reference.trouble.set(Some(t!("state-manual-no-page", page = page)));
            return;
        }
        spawn_local(async move {
            let fetched = files::text(&format!("manual/{page}.md")).await;
            if reference.page.with_untracked(|it| it.as_ref() != Some(&page)) {
                return;
            }
            match fetched {
                Ok(text) => reference.blocks.set(Some(Arc::new(markdown::read(&text)))),
                Err(why) => reference.trouble.set(Some(why)),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_the_pages_that_it_lists() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let index = include_str!("../../../static/index.html");
        for Page { name, .. } in PAGES {
            assert!(docs.join(format!("{name}.md")).exists(), "{name}");
            assert!(index.contains(&format!("../docs/{name}.md")), "the page does not carry {name}");
        }
    }

    #[test]
    fn every_stage_explains_itself() {
        let glossary = Glossary::read(include_str!("../../../static/lessons/glossary.toml")).unwrap();
        for stage in isobar_compiler::pipeline::Stage::ALL {
            assert!(glossary.term(stage.name()).is_some(), "{stage}");
        }
    }
}
