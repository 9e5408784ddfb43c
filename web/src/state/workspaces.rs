//! The texts that are kept in this browser, with their earlier states: opening one never loses another.
//!
//! A text is written twice. The browser's quick storage takes it at once, so that nothing typed is lost when
//! the tab closes. The database has room for all texts and their history, and has the typed text even if the
//! browser is killed (`keeping`). One tab writes a text; a second one that opens it has a copy.

use isobar_page_model::route::Route;
use leptos::prelude::*;

use super::App;
use super::keeping;
use crate::bridge::locale::{self, t};
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf, StorageQuotaError};
use crate::bridge::workspaces as kept;
pub use crate::bridge::workspaces::SavedText;
use isobar_protocol::share::{self, State};

/// Where the tab keeps which text it has, and the browser which one was there last.
const TAB: &str = "isobar.tab";
const LAST: &str = "isobar.last";
/// Those that quick storage has, the last one first.
const RECENT: &str = "isobar.recent";
/// Before texts had names of their own.
const BEFORE: &str = "isobar.workspace";
/// Counts the loads that no answer of the compiler followed.
const STARTS: &str = "isobar.starting";
/// More texts than these are in the database alone.
const MOST_RECENT: usize = 5;
/// The page that did not come to an answer so often starts without compiling.
const MOST_STARTS: u32 = 2;

/// The initial text of a new stencil.
const BLANK: &str = "\
# @title New stencil
# @domain 32 32 10
# @input q wave(low=-1, high=1, i=2, j=1)
# @plot q_out

from ndsl.dsl.gt4py import PARALLEL, computation, interval
from ndsl.dsl.typing import FloatField


def smooth(q: FloatField, q_out: FloatField):
    with computation(PARALLEL), interval(...):
        q_out = 0.25 * (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0])
";

/// The texts of this browser.
#[derive(Clone, Copy, Debug)]
pub struct Workspaces {
    /// The name of the one that is shown.
    id: StoredValue<String>,
    pub list: RwSignal<Vec<SavedText>>,
    /// When earlier states of the one that is shown were kept, the last one first.
    pub states: RwSignal<Vec<f64>>,
    /// Whether it is a copy, because another tab has the text itself.
    pub is_copy: RwSignal<bool>,
    /// Whether somebody is here for the first time.
    is_first: RwSignal<bool>,
    /// The text that this tab had; a new tab has had none.
    of_tab: StoredValue<Option<String>>,
    /// When quick storage got what is shown; 0 where it has not got it.
    quick_at: StoredValue<f64>,
    /// The text as it was found, until it is known whether the database has a later one: what nobody changed is not
    /// written over that.
    undecided: StoredValue<Option<u64>>,
    /// Whether the database has taken what was written last.
    is_lasting: StoredValue<bool>,
    has_asked: StoredValue<bool>,
    /// Whether what is shown is this tab's to write; none until that is known.
    is_ours: StoredValue<Option<bool>>,
    /// Whether something is to be written once that is known.
    is_waiting: StoredValue<bool>,
}

impl Workspaces {
    pub(super) fn new() -> Self {
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
    pub(super) fn last(self) -> Option<State> {
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
    fn take(self, id: String) {
        // Where the tab keeps nothing, the browser's last text stands in.
        let _ = storage::save(Shelf::Tab, TAB, &id);
        let _ = storage::save(Shelf::Lasting, LAST, &id);
        self.id.set_value(id);
        self.is_ours.set_value(None);
        self.states.set(Vec::new());
    }

    /// There was no text before.
    pub(super) fn welcome(self) {
        self.is_first.set(true);
    }

    /// Somebody was here before.
    fn dismiss(self) {
        self.is_first.set(false);
    }

    /// Begins another text, under a new name.
    pub(super) fn begin(self) {
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
    pub(super) fn may_write(self) -> bool {
        let is_known = self.is_ours.get_value().is_some();
        if !is_known {
            self.is_waiting.set_value(true);
        }
        is_known
    }

    /// Another text is shown; it is not known yet which tab has it.
    pub(super) fn ask_again(self) {
        self.is_ours.set_value(None);
    }

    /// The page ends, or shows another text. A text that waits to be written becomes one of its own, because
    /// another tab may have the original. Tells whether something waited.
    pub(super) fn wait_no_longer(self) -> bool {
        let has_waited = self.is_waiting.get_value() && self.is_ours.get_value().is_none();
        if has_waited {
            self.is_waiting.set_value(false);
            self.begin();
            self.is_copy.set(true);
        }
        has_waited
    }

    /// Where another tab writes what is shown, it becomes a text of its own here; tells whether.
    pub(super) fn becomes_a_copy(self) -> bool {
        let is_elsewhere = self.is_ours.get_value() == Some(false);
        if is_elsewhere {
            self.begin();
            self.is_copy.set(true);
        }
        is_elsewhere
    }

    /// Writes a text: at once, and then for good.
    pub(super) fn write(self, title: String, json: String, on_kept: impl Fn(bool) + 'static) {
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

fn key(id: &str) -> String {
    format!("isobar.text.{id}")
}

impl App {
    /// Speaks another language: writes the text, and loads the page again.
    pub fn choose_language(self, tag: &str) {
        // Where nothing is kept, the page speaks the browser's language.
        if storage::save(Shelf::Lasting, locale::KEY, tag).is_ok() {
            self.write_now();
            page::reload();
        }
    }

    /// Counts this start, and takes the right to the text that is open.
    pub(super) fn start_workspaces(self) {
        let starts = storage::load(Shelf::Lasting, STARTS).and_then(|it| it.parse().ok()).unwrap_or(0_u32);
        // Where nothing is kept, nothing is counted.
        let _ = storage::save(Shelf::Lasting, STARTS, &(starts + 1).to_string());
        self.compilation.is_safe.set(starts >= MOST_STARTS);
        let is_over = move || storage::forget(Shelf::Lasting, STARTS);
        Effect::new(move |_| {
            if self.compilation.revision.get() > 0 {
                is_over();
            }
        });
        page::on_hide(is_over);
        self.look_for_later();
    }

    /// Takes the right to what is shown, and looks whether the database has more of it since now.
    pub(super) fn look_for_later(self) {
        let revision = self.leave_undecided();
        let started = page::time();
        leptos::task::spawn_local(async move {
            // Before anything else, so that other tabs know.
            self.claim_shown().await;
            self.take_later(revision, started).await;
            self.claim_shown().await;
            let is_elsewhere = self.workspaces.is_ours.get_value() == Some(false);
            if is_elsewhere && self.project.is_linked.get_untracked() {
                // It stays another tab's until somebody changes it here.
                return;
            }
            if self.workspaces.becomes_a_copy() {
                self.write_now();
            } else {
                self.decide();
            }
        });
    }

    /// Takes the right to write what is shown; false where another tab has it.
    pub(super) async fn claim_shown(self) -> bool {
        let shown = move || {
            if self.project.is_linked.get_untracked() {
                super::project::LINKED.to_owned()
            } else {
                self.workspaces.id.get_value()
            }
        };
        if shown().is_empty() {
            self.workspaces.take(kept::new_id());
        }
        let name = shown();
        let is_ours = kept::claim(&name).await;
        // Another text may have been opened meanwhile, and claimed.
        if shown() == name {
            self.workspaces.is_ours.set_value(Some(is_ours));
            if self.workspaces.is_waiting.get_value() {
                self.workspaces.is_waiting.set_value(false);
                self.write_now();
            }
        }
        is_ours
    }

    /// From now on the text that is shown may be older than that of the database.
    fn leave_undecided(self) -> u64 {
        let revision = self.project.revision.get_untracked();
        self.workspaces.undecided.set_value(Some(revision));
        revision
    }

    /// The shown text is the latest: writes it.
    fn decide(self) {
        if self.workspaces.undecided.get_value().is_some() {
            self.workspaces.undecided.set_value(None);
            self.write_now();
        }
    }

    /// Whether what is shown may be older than what the database has, and nobody changed it.
    pub(super) fn is_undecided(self) -> bool {
        self.workspaces.undecided.get_value() == Some(self.project.revision.get_untracked())
    }

    /// Shows what the database has of this text, where quick storage has less; in a new tab, the last text of all.
    async fn take_later(self, revision: u64, started: f64) {
        let is_lesson = move || self.project.is_lesson.get_untracked();
        let mut revision = revision;
        let is_at = move |revision| self.project.revision.get_untracked() == revision && !is_lesson();
        // A link in the address gives its own text. Without one, the database may have later changes to the
        // text of an earlier link.
        if !page::fragment().contains("s=") {
            let linked = keeping::later_aside(super::project::LINKED).await;
            let linked = linked.filter(|_| is_at(revision));
            let was_left = linked.as_deref() == Some("");
            if let Some(state) = linked.and_then(|it| share::kept(it.as_bytes())) {
                self.workspaces.dismiss();
                self.project.is_linked.set(true);
                self.workspaces.ask_again();
                return self.show_text(state);
            }
            if was_left && self.project.is_linked.get_untracked() {
                // Quick storage has it still, and is behind.
                keeping::forget_quick(super::project::LINKED);
                self.show_kept();
                revision = self.leave_undecided();
            }
        }
        let id = match self.workspaces.of_tab.get_value() {
            Some(id) => Some(id),
            None => kept::list().await.into_iter().find(|it| it.at <= started).map(|it| it.id),
        };
        let Some(id) = id else { return };
        let json = kept::later(&id, self.workspaces.quick_at.get_value()).await;
        let state = json.and_then(|it| share::kept(it.as_bytes()));
        let Some(state) = state.filter(|_| is_at(revision) && !self.project.is_linked.get_untracked()) else {
            return;
        };
        self.workspaces.dismiss();
        if self.workspaces.id.get_value() != id {
            let is_free = kept::claim(&id).await;
            self.workspaces.take(if is_free { id } else { kept::new_id() });
            self.workspaces.is_copy.set(!is_free);
        }
        self.show_state(state);
    }

    /// Whether the first visit is told what to do.
    #[must_use]
    pub fn is_welcome(self) -> bool {
        self.workspaces.is_first.get() && self.learn.route.with(|it| *it == Route::Editor)
    }

    pub fn dismiss_welcome(self) {
        self.workspaces.dismiss();
    }

    /// Compiles in spite of what happened before.
    pub fn leave_safe_mode(self) {
        self.compilation.is_safe.set(false);
        self.compilation.try_again();
    }

    /// Looks which texts and which earlier states there are.
    pub fn list_workspaces(self) {
        let id = self.workspaces.id.get_value();
        // Old entries would move away under the pointer, so the list begins empty.
        self.workspaces.list.set(Vec::new());
        leptos::task::spawn_local(async move {
            self.workspaces.list.set(kept::list().await);
            self.workspaces.states.set(kept::states(&id).await);
        });
    }

    /// Whether a text of the list is the one that is shown.
    #[must_use]
    pub fn is_open(self, id: &str) -> bool {
        self.workspaces.id.with_value(|it| it == id) && !self.project.is_linked.get_untracked()
    }

    /// Opens a text of the list; the one that was shown is kept.
    pub fn open_workspace(self, id: String) {
        if self.is_open(&id) {
            return;
        }
        leptos::task::spawn_local(async move {
            let state = kept::load(&id).await.and_then(|it| share::kept(it.as_bytes()));
            let Some(state) = state else {
                self.status.say(t!("state-kept-unreadable"));
                return;
            };
            self.write_now();
            let is_free = kept::claim(&id).await;
            self.workspaces.take(if is_free { id } else { kept::new_id() });
            self.workspaces.is_ours.set_value(Some(true));
            self.workspaces.is_copy.set(!is_free);
            self.show_state(state);
        });
    }

    /// Goes back to an earlier state of the text; the one that is shown becomes an earlier one.
    pub fn open_earlier(self, at: f64) {
        let id = self.workspaces.id.get_value();
        leptos::task::spawn_local(async move {
            let state = kept::state(&id, at).await.and_then(|it| share::kept(it.as_bytes()));
            if let Some(state) = state {
                self.write_now();
                self.show_state(state);
                self.status.say(t!("state-kept-earlier", at = kept::in_words(at)));
            }
        });
    }

    /// Begins a new text; the one that was shown is kept.
    pub fn new_workspace(self) {
        self.write_now();
        self.workspaces.begin();
        let files = [(super::project::MAIN.to_owned(), BLANK.to_owned())].into();
        self.show_state(State { files, ..State::default() });
    }

    /// Forgets a text that is not shown.
    pub fn forget_workspace(self, id: String) {
        leptos::task::spawn_local(async move {
            kept::forget(&id).await;
            keeping::forget_quick(&key(&id));
            self.workspaces.list.set(kept::list().await);
        });
    }

    /// Forgets everything that this browser keeps of the page: texts, earlier states, lessons, settings. Begins anew.
    pub fn forget_everything(self) {
        leptos::task::spawn_local(async move {
            if kept::forget_all().await.is_err() {
                self.status.say(t!("state-kept-not-forgotten"));
                return;
            }
            storage::forget_all("isobar.");
            page::set_fragment("");
            page::reload();
        });
    }

    fn show_state(self, state: State) {
        self.leave_linked();
        self.project.changed();
        self.show_text(state);
    }

    fn show_text(self, state: State) {
        self.open_state(state);
        self.editor.show(&self.project.text.get_untracked());
        self.forget_results();
    }
}

/// A time as the reader's clock tells it.
#[must_use]
pub fn time_in_words(at: f64) -> String {
    kept::in_words(at)
}
