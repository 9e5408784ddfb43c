//! The texts of this browser are opened, written and forgotten, each by one tab.

use isobar_page_model::project::MAIN;
use isobar_page_model::route::Route;
use isobar_page_model::workspaces::{LINKED, WorkspaceEvent};
use isobar_protocol::share::{self, State};
use leptos::prelude::*;

use crate::bridge::locale::{self, t};
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf};
use crate::bridge::workspaces as kept;
use crate::state::App;
use crate::state::keeping;
use crate::state::workspaces::key;

/// Counts the loads that no answer of the compiler followed.
const STARTS: &str = "isobar.starting";
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
        if starts >= MOST_STARTS {
            self.compilation.begin_safe_mode();
        }
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
            self.kept(WorkspaceEvent::Decided(self.write_facts()));
        });
    }

    /// Takes the right to write what is shown; false where another tab has it.
    pub(super) async fn claim_shown(self) -> bool {
        if self.workspaces.claimed_name().is_empty() {
            self.workspaces.happened(WorkspaceEvent::Taken(kept::new_id()));
        }
        let name = self.workspaces.claimed_name();
        let is_ours = kept::claim(&name).await;
        self.kept(WorkspaceEvent::Claimed { name, is_ours, facts: self.write_facts() });
        is_ours
    }

    /// From now on the text that is shown may be older than that of the database.
    fn leave_undecided(self) -> u64 {
        let revision = self.project.revision.get_untracked();
        self.workspaces.happened(WorkspaceEvent::Undecided(revision));
        revision
    }

    /// Shows what the database has of this text, where quick storage has less; in a new tab, the last text of all.
    async fn take_later(self, revision: u64, started: f64) {
        let is_lesson = move || self.workspaces.is_lesson.get_untracked();
        let mut revision = revision;
        let is_at = move |revision| self.project.revision.get_untracked() == revision && !is_lesson();
        // A link in the address gives its own text. Without one, the database may have later changes to the
        // text of an earlier link.
        if !page::fragment().contains("s=") {
            let linked = keeping::later_aside(LINKED).await;
            let linked = linked.filter(|_| is_at(revision));
            let was_left = linked.as_deref() == Some("");
            if let Some(state) = linked.and_then(|it| share::kept(it.as_bytes())) {
                self.workspaces.happened(WorkspaceEvent::WelcomeDismissed);
                self.workspaces.happened(WorkspaceEvent::LinkShown);
                self.workspaces.happened(WorkspaceEvent::OwnerUnknown);
                return self.show_text(state);
            }
            if was_left && self.workspaces.is_linked.get_untracked() {
                // Quick storage has it still, and is behind.
                keeping::forget_quick(LINKED);
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
        let Some(state) = state.filter(|_| is_at(revision) && !self.workspaces.is_linked.get_untracked())
        else {
            return;
        };
        let is_copy = self.workspaces.id() != id && !kept::claim(&id).await;
        let id = if is_copy { kept::new_id() } else { id };
        self.workspaces.happened(WorkspaceEvent::LaterFound { id, is_copy });
        self.show_state(state);
    }

    /// Whether the first visit is told what to do.
    #[must_use]
    pub fn is_welcome(self) -> bool {
        self.workspaces.is_first.get() && self.learn.route.with(|it| *it == Route::Editor)
    }

    pub fn dismiss_welcome(self) {
        self.workspaces.happened(WorkspaceEvent::WelcomeDismissed);
    }

    /// Compiles in spite of what happened before.
    pub fn leave_safe_mode(self) {
        self.compilation.leave_safe_mode();
    }

    /// Looks which texts and which earlier states there are.
    pub fn list_workspaces(self) {
        let id = self.workspaces.id();
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
        self.workspaces.id() == id && !self.workspaces.is_linked.get_untracked()
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
            let is_copy = !kept::claim(&id).await;
            let id = if is_copy { kept::new_id() } else { id };
            self.workspaces.happened(WorkspaceEvent::Opened { id, is_copy });
            self.show_state(state);
        });
    }

    /// Goes back to an earlier state of the text; the one that is shown becomes an earlier one.
    pub fn open_earlier(self, at: f64) {
        let id = self.workspaces.id();
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
        let files = [(MAIN.to_owned(), BLANK.to_owned())].into();
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
