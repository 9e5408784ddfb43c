//! Explanations: pages of the manual, words of the glossary, drawings. Each is fetched when it is first
//! wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_lessons::glossary::{Glossary, Term};
use isobar_lessons::markdown::{self, Block};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::manual::PAGES;
use crate::bridge::files;
use crate::bridge::locale::t;
use crate::bridge::words::{self, HoveredWord};

/// The explanations that are open, and those that were fetched.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The page that is open, and its text once it is here.
    pub page: RwSignal<Option<String>>,
    pub blocks: RwSignal<Option<Arc<Vec<Block>>>>,
    pub trouble: RwSignal<Option<String>>,
    glossary: RwSignal<Option<Arc<Glossary>>>,
    /// The word whose card is open.
    word: RwSignal<Option<HoveredWord>>,
    /// Drawings by name.
    figures: RwSignal<BTreeMap<String, Arc<str>>>,
}

impl Reference {
    pub(crate) fn new() -> Self {
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
    pub fn card(self) -> Option<(HoveredWord, Term)> {
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

impl Reference {
    /// Shows cards of words from now on.
    pub(crate) fn follow_words(self) {
        words::on_word(move |word| {
            if word.is_some() && self.glossary.with_untracked(Option::is_none) {
                self.load_glossary();
            }
            if self.word.with_untracked(|it| *it != word) {
                self.word.set(word);
            }
        });
    }

    fn load_glossary(self) {
        spawn_local(async move {
            // Without it a word is a word.
            if let Ok(text) = files::text("lessons/glossary.toml").await
                && let Ok(glossary) = Glossary::read(&text)
            {
                self.glossary.set(Some(Arc::new(glossary)));
            }
        });
    }

    /// Fetches a drawing, unless it is here.
    pub fn load_figure(self, name: &str) {
        if self.figures.with_untracked(|it| it.contains_key(name)) {
            return;
        }
        let name = name.to_owned();
        spawn_local(async move {
            if let Ok(text) = files::text(&format!("lessons/figures/{name}.svg")).await {
                self.figures.update(|it| {
                    it.insert(name, text.into());
                });
            }
        });
    }

    /// Opens a page of the manual; without a name, the list of them.
    pub(crate) fn open_manual(self, page: Option<String>) {
        if self.page.get_untracked() == page && self.trouble.with_untracked(Option::is_none) {
            return;
        }
        self.page.set(page.clone());
        self.blocks.set(None);
        self.trouble.set(None);
        let Some(page) = page else { return };
        if PAGES.iter().all(|it| it.name != page) {
            self.trouble.set(Some(t!("state-manual-no-page", page = page)));
            return;
        }
        spawn_local(async move {
            let fetched = files::text(&format!("manual/{page}.md")).await;
            if self.page.with_untracked(|it| it.as_ref() != Some(&page)) {
                return;
            }
            match fetched {
                Ok(text) => self.blocks.set(Some(Arc::new(markdown::read(&text)))),
                Err(why) => self.trouble.set(Some(why)),
            }
        });
    }
}
