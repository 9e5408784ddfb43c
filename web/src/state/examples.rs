//! The texts of the gallery, each fetched once it is wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::gallery::{FIRST, FIRST_TEXT, GalleryEntry, entry};
use super::project::Project;
use super::status::StatusLine;
use crate::bridge::files;

/// The texts that are here.
#[derive(Clone, Copy, Debug)]
pub struct Gallery {
    project: Project,
    status: StatusLine,
    texts: RwSignal<BTreeMap<&'static str, Arc<str>>>,
    /// Whether one is on its way that will be opened.
    pub is_opening: RwSignal<bool>,
    /// Counts the openings, so that a late text is dropped.
    asked: StoredValue<u64>,
}

impl Gallery {
    pub(crate) fn new(project: Project, status: StatusLine) -> Self {
        let texts = BTreeMap::from([(FIRST, Arc::from(FIRST_TEXT))]);
        Self {
            project,
            status,
            texts: RwSignal::new(texts),
            is_opening: RwSignal::new(false),
            asked: StoredValue::new(0),
        }
    }

    /// The text of an entry, where it is here.
    #[must_use]
    pub fn text(self, name: &str) -> Option<Arc<str>> {
        self.texts.with(|it| it.get(name).cloned())
    }
}

impl Gallery {
    /// Opens an entry's text, at once where it is here.
    pub(crate) fn with_entry(self, entry: GalleryEntry, open: impl FnOnce(Arc<str>) + 'static) {
        let number = self.asked.get_value() + 1;
        self.asked.set_value(number);
        if let Some(text) = self.texts.with_untracked(|it| it.get(entry.name).cloned()) {
            self.is_opening.set(false);
            open(text);
            return;
        }
        self.is_opening.set(true);
        spawn_local(async move {
            let fetched = self.fetch_entry(entry).await;
            if self.asked.get_value() != number {
                return;
            }
            self.is_opening.set(false);
            match fetched {
                Ok(text) => open(text),
                Err(why) => self.status.say(why),
            }
        });
    }

    async fn fetch_entry(self, entry: GalleryEntry) -> Result<Arc<str>, String> {
        let text: Arc<str> = files::text(&format!("gallery/{}", entry.file())).await?.into();
        let kept = text.clone();
        self.texts.update(|it| {
            it.insert(entry.name, kept);
        });
        Ok(text)
    }

    /// Sees to it that the text is here of the entry that the workspace began as: it tells what was edited.
    pub(crate) fn follow(self) {
        Effect::new(move |_| {
            let Some(entry) = self.project.gallery.get().and_then(|it| entry(&it)) else { return };
            if self.texts.with_untracked(|it| it.contains_key(entry.name)) {
                return;
            }
            // Where it cannot be had, the text keeps its entry's name.
            spawn_local(async move { drop(self.fetch_entry(entry).await) });
        });
    }
}
