//! The texts that are kept in this browser, with their earlier states: opening one never loses another.
//!
//! A text is written twice. The browser's quick storage takes it at once, so that nothing typed is lost when
//! the tab closes. The database has room for all texts and their history, and has the typed text even if the
//! browser is killed (`keeping`). One tab writes a text; a second one that opens it has a copy.

use isobar_page_model::workspaces::{Recent, WorkspaceEffect, WorkspaceEvent, WorkspaceState, WriteTarget};
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

/// The texts of this browser.
#[derive(Clone, Copy, Debug)]
pub struct Workspaces {
    kept: RwSignal<WorkspaceState>,
    pub list: RwSignal<Vec<SavedText>>,
    /// When earlier states of the one that is shown were kept, the last one first.
    pub states: RwSignal<Vec<f64>>,
    /// The text that this tab had; a new tab has had none.
    pub(crate) of_tab: StoredValue<Option<String>>,
    /// When quick storage got what is shown; 0 where it has not got it.
    pub(crate) quick_at: StoredValue<f64>,

    // Parts of the state, for views.
    /// Whether this is a workspace that a link opened, kept apart from the user's own.
    pub is_linked: Memo<bool>,
    /// Whether the text is that of a lesson, which is kept with the progress and not as a workspace.
    pub is_lesson: Memo<bool>,
    /// Whether it is a copy, because another tab has the text itself.
    pub is_copy: Memo<bool>,
    /// Whether somebody is here for the first time.
    pub is_first: Memo<bool>,
    /// Whether what is typed is kept nowhere, because the browser refuses it.
    pub is_unkept: Memo<bool>,
}

impl Workspaces {
    pub(crate) fn new() -> Self {
        let kept = RwSignal::new(WorkspaceState::default());
        Self {
            kept,
            list: RwSignal::default(),
            states: RwSignal::default(),
            of_tab: StoredValue::new(None),
            quick_at: StoredValue::new(0.0),
            is_linked: Memo::new(move |_| kept.with(WorkspaceState::is_linked)),
            is_lesson: Memo::new(move |_| kept.with(WorkspaceState::is_lesson)),
            is_copy: Memo::new(move |_| kept.with(|it| it.is_copy)),
            is_first: Memo::new(move |_| kept.with(|it| it.is_first)),
            is_unkept: Memo::new(move |_| kept.with(|it| it.is_unkept)),
        }
    }

    /// The name of the user's own text; empty before there is one.
    pub(crate) fn id(self) -> String {
        self.kept.with_untracked(|it| it.id().to_owned())
    }

    /// The name of the text that is shown, to claim it by.
    pub(crate) fn claimed_name(self) -> String {
        self.kept.with_untracked(|it| it.claimed_name().to_owned())
    }

    /// Tells the state what happened, and does what follows from it; returns where the shown text is to be written.
    pub(crate) fn take(self, event: WorkspaceEvent) -> Vec<WriteTarget> {
        let mut effects = Vec::new();
        self.kept.update(|it| effects = it.take(event));
        effects.into_iter().filter_map(|it| self.serve(it)).collect()
    }

    fn serve(self, effect: WorkspaceEffect) -> Option<WriteTarget> {
        match effect {
            WorkspaceEffect::Write(target) => return Some(target),
            WorkspaceEffect::Remember(id) => {
                // Where the tab keeps nothing, the browser's last text stands in.
                let _ = storage::save(Shelf::Tab, TAB, &id);
                let _ = storage::save(Shelf::Lasting, LAST, &id);
                self.states.set(Vec::new());
            }
            WorkspaceEffect::Claim(id) => leptos::task::spawn_local(async move {
                kept::claim(&id).await;
            }),
            WorkspaceEffect::AskToStay => leptos::task::spawn_local(kept::ask_to_stay()),
        }
        None
    }

    /// Tells the state of something that writes nothing.
    pub fn happened(self, event: WorkspaceEvent) {
        self.take(event);
    }

    /// Begins another text, under a new name.
    pub(crate) fn begin(self) {
        self.happened(WorkspaceEvent::Begun(kept::new_id()));
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
            self.happened(WorkspaceEvent::Taken(id));
            return Some(state);
        };
        let text = storage::load(Shelf::Lasting, &key(&id));
        let state = text.and_then(|it| share::kept(it.as_bytes()));
        if state.is_some() {
            self.quick_at.set_value(keeping::quick_at(&key(&id)));
            self.happened(WorkspaceEvent::Taken(id));
        } else {
            // Quick storage has the last few texts; this one is in the database.
            self.of_tab.set_value(Some(id));
        }
        state
    }

    /// Writes a text: at once, and then for good.
    pub(crate) fn write(self, id: String, title: String, json: String) {
        let at = page::time();
        let quick = self.keep_quick(&id, &json, at);
        leptos::task::spawn_local(async move {
            let is_lasting = kept::keep(&id, &title, &json, at).await.is_ok();
            self.happened(WorkspaceEvent::Written { is_kept: quick.is_ok() || is_lasting, is_lasting });
        });
    }

    /// Writes to quick storage, where only the last few texts stay once the database has them.
    fn keep_quick(self, id: &str, json: &str, at: f64) -> Result<(), StorageQuotaError> {
        let before = storage::load(Shelf::Lasting, RECENT).unwrap_or_default();
        let mut recent = Recent::with(&before, id);
        let may_forget = self.kept.with_untracked(|it| it.is_lasting);
        if may_forget {
            for it in recent.forget_old() {
                keeping::forget_quick(&key(&it));
            }
        }
        // Without the list nothing of it is forgotten later.
        let _ = storage::save(Shelf::Lasting, RECENT, &recent.kept());
        keeping::keep_quick(&key(id), json, at).or_else(|full| {
            if !may_forget {
                return Err(full);
            }
            for it in recent.others() {
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
