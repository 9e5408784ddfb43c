//! The texts that are kept in this browser, with their earlier states: opening one never loses another.
//!
//! A text is written twice. The browser's quick storage takes it at once, so that nothing typed is lost when
//! the tab closes. The database has room for all texts and their history, and has the typed text even if the
//! browser is killed (`keeping`). One tab writes a text; a second one that opens it has a copy.

use isobar_protocol::share::{self, State};
use leptos::prelude::*;

use super::keeping;
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf, StorageQuotaError};
use crate::bridge::workspaces as kept;
pub use crate::bridge::workspaces::SavedText;

/// Where the tab keeps which text it has, and the browser which one was there last.
const TAB: &str = "isobar.tab";
const LAST: &str = "isobar.last";
/// Those that quick storage has, the last one first.
const RECENT: &str = "isobar.recent";
/// Before texts had names of their own.
const BEFORE: &str = "isobar.workspace";
/// More texts than these are in the database alone.
const MOST_RECENT: usize = 5;

/// The texts of this browser.
#[derive(Clone, Copy, Debug)]
pub struct Workspaces {
    /// The name of the one that is shown.
    pub(crate) id: StoredValue<String>,
    pub list: RwSignal<Vec<SavedText>>,
    /// When earlier states of the one that is shown were kept, the last one first.
    pub states: RwSignal<Vec<f64>>,
    /// Whether it is a copy, because another tab has the text itself.
    pub is_copy: RwSignal<bool>,
    /// Whether somebody is here for the first time.
    pub(crate) is_first: RwSignal<bool>,
    /// The text that this tab had; a new tab has had none.
    pub(crate) of_tab: StoredValue<Option<String>>,
    /// When quick storage got what is shown; 0 where it has not got it.
    pub(crate) quick_at: StoredValue<f64>,
    /// The text as it was found, until it is known whether the database has a later one: what nobody changed is not
    /// written over that.
    pub(crate) undecided: StoredValue<Option<u64>>,
    /// Whether the database has taken what was written last.
    is_lasting: StoredValue<bool>,
    has_asked: StoredValue<bool>,
    /// Whether what is shown is this tab's to write; none until that is known.
    pub(crate) is_ours: StoredValue<Option<bool>>,
    /// Whether something is to be written once that is known.
    pub(crate) is_waiting: StoredValue<bool>,
}

impl Workspaces {
    pub(crate) fn new() -> Self {
        Self {
            id: StoredValue::new(String::new()),
            list: RwSignal::default(),
            states: RwSignal::default(),
            is_copy: RwSignal::default(),
            is_first: RwSignal::default(),
            of_tab: StoredValue::new(None),
            quick_at: StoredValue::new(0.0),
            undecided: StoredValue::new(None),
            is_lasting: StoredValue::new(false),
            has_asked: StoredValue::new(false),
            is_ours: StoredValue::new(None),
            is_waiting: StoredValue::new(false),
        }
    }

    /// The text that this tab had, or the last one of the browser.
    pub(crate) fn last(self) -> Option<State> {
        let of_tab = storage::load(Shelf::Tab, TAB);
        self.of_tab.set_value(of_tab.clone());
        self.quick_at.set_value(0.0);
        let Some(id) = of_tab.or_else(|| storage::load(Shelf::Lasting, LAST)) else {
            let text = storage::load(Shelf::Lasting, BEFORE)?;
            let state = share::kept(text.as_bytes())?;
            let id = kept::new_id();
            let at = page::time();
            // Where it cannot be written, the next visit finds it where it was.
            let _ = self.keep_quick(&id, &text, at);
            self.quick_at.set_value(at);
            self.take(id);
            return Some(state);
        };
        let text = storage::load(Shelf::Lasting, &key(&id));
        let state = text.and_then(|it| share::kept(it.as_bytes()));
        if state.is_some() {
            self.quick_at.set_value(keeping::quick_at(&key(&id)));
            self.take(id);
        } else {
            // Quick storage has the last few texts; this one is in the database.
            self.of_tab.set_value(Some(id));
        }
        state
    }

    /// From now on this is the text that is written.
    pub(crate) fn take(self, id: String) {
        // Where the tab keeps nothing, the browser's last text stands in.
        let _ = storage::save(Shelf::Tab, TAB, &id);
        let _ = storage::save(Shelf::Lasting, LAST, &id);
        self.id.set_value(id);
        self.is_ours.set_value(None);
        self.states.set(Vec::new());
    }

    /// There was no text before.
    pub(crate) fn welcome(self) {
        self.is_first.set(true);
    }

    /// Somebody was here before.
    pub(crate) fn dismiss(self) {
        self.is_first.set(false);
    }

    /// Begins another text, under a new name.
    pub(crate) fn begin(self) {
        self.is_copy.set(false);
        // The database has none of it.
        self.undecided.set_value(None);
        self.take(kept::new_id());
        // Nobody else has the name.
        self.is_ours.set_value(Some(true));
        let id = self.id.get_value();
        leptos::task::spawn_local(async move {
            kept::claim(&id).await;
        });
    }

    /// Whether the shown text can be written now: whether it is known which tab has it. If not, it is written
    /// as soon as that is known.
    pub(crate) fn may_write(self) -> bool {
        let is_known = self.is_ours.get_value().is_some();
        if !is_known {
            self.is_waiting.set_value(true);
        }
        is_known
    }

    /// Another text is shown; it is not known yet which tab has it.
    pub(crate) fn ask_again(self) {
        self.is_ours.set_value(None);
    }

    /// The page ends, or shows another text. A text that waits to be written becomes one of its own, because
    /// another tab may have the original. Tells whether something waited.
    pub(crate) fn wait_no_longer(self) -> bool {
        let has_waited = self.is_waiting.get_value() && self.is_ours.get_value().is_none();
        if has_waited {
            self.is_waiting.set_value(false);
            self.begin();
            self.is_copy.set(true);
        }
        has_waited
    }

    /// Where another tab writes what is shown, it becomes a text of its own here; tells whether.
    pub(crate) fn becomes_a_copy(self) -> bool {
        let is_elsewhere = self.is_ours.get_value() == Some(false);
        if is_elsewhere {
            self.begin();
            self.is_copy.set(true);
        }
        is_elsewhere
    }

    /// Writes a text: at once, and then for good.
    pub(crate) fn write(self, title: String, json: String, on_kept: impl Fn(bool) + 'static) {
        let id = self.id.get_value();
        let at = page::time();
        let quick = self.keep_quick(&id, &json, at);
        leptos::task::spawn_local(async move {
            let lasting = kept::keep(&id, &title, &json, at).await;
            self.is_lasting.set_value(lasting.is_ok());
            on_kept(quick.is_ok() || lasting.is_ok());
            if lasting.is_ok() && !self.has_asked.get_value() {
                self.has_asked.set_value(true);
                kept::ask_to_stay().await;
            }
        });
    }

    /// Writes to quick storage, where only the last few texts stay once the database has them.
    fn keep_quick(self, id: &str, json: &str, at: f64) -> Result<(), StorageQuotaError> {
        let before = storage::load(Shelf::Lasting, RECENT).unwrap_or_default();
        let mut recent = vec![id];
        recent.extend(before.split(' ').filter(|it| !it.is_empty() && *it != id));
        let may_forget = self.is_lasting.get_value();
        if may_forget {
            for it in recent.split_off(recent.len().min(MOST_RECENT)) {
                keeping::forget_quick(&key(it));
            }
        }
        // Without the list nothing of it is forgotten later.
        let _ = storage::save(Shelf::Lasting, RECENT, &recent.join(" "));
        keeping::keep_quick(&key(id), json, at).or_else(|full| {
            if !may_forget {
                return Err(full);
            }
            for it in &recent[1..] {
                keeping::forget_quick(&key(it));
            }
            keeping::keep_quick(&key(id), json, at)
        })
    }
}

pub(crate) fn key(id: &str) -> String {
    format!("isobar.text.{id}")
}

/// A time as the reader's clock tells it.
#[must_use]
pub fn time_in_words(at: f64) -> String {
    kept::in_words(at)
}
