//! Texts and choices are opened, kept and set aside.

use isobar_page_model::project::{MAIN, ProjectEvent};
use isobar_page_model::workspaces::{LINKED, WorkspaceEvent, WriteFacts, WriteTarget};
use isobar_protocol::request::Request;
use isobar_protocol::share::{self, State};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf};
use crate::bridge::workspaces as kept;
use crate::state::gallery::ExampleSize;
use crate::state::keeping::{self, DeferredSave};
use crate::state::{App, gallery};

impl App {
    /// Takes an edit of the user.
    pub fn edit(self, text: String) {
        if self.project.text.with_untracked(|it| *it == text) {
            return;
        }
        self.problems.typed();
        self.project.happened(ProjectEvent::Typed(text));
    }

    /// The name of the shown text.
    #[must_use]
    pub fn name_of_text(self) -> gallery::TextName {
        let entry = self.project.gallery.with(|it| it.as_deref().and_then(gallery::entry));
        let entry = entry.map(|it| (it, self.gallery.text(it.name)));
        let stencil = self.compilation.stencil.get();
        self.project.text.with(|text| gallery::name_of(text, entry, stencil.as_deref()))
    }

    /// Opens a stencil of the gallery in place of the text.
    pub fn open_gallery(self, name: &str) {
        self.open_gallery_sized(name, ExampleSize::Own);
    }

    /// The same with fewer points or more.
    pub fn open_gallery_sized(self, name: &str, size: ExampleSize) {
        let Some(entry) = gallery::entry(name) else { return };
        self.gallery.with_entry(entry, move |text| {
            // The user's own text is set aside, and an unchanged example gives way. The text before a lesson was set
            // aside when the lesson began.
            let before = untrack(|| self.name_of_text());
            let is_lesson = self.workspaces.is_lesson.get_untracked();
            if before.is_own || is_lesson || self.workspaces.is_linked.get_untracked() {
                self.set_aside();
                self.workspaces.happened(WorkspaceEvent::LessonLeft);
                self.workspaces.begin();
            }
            self.leave_linked();
            page::set_fragment("");
            self.leave_for_editor();
            let domain = size.domain(&text);
            self.project.open(State { domain, ..state_of(entry, &text) });
            self.editor.show(&self.project.text.get_untracked());
            self.forget_results();
            self.run_when_compiled(false);
        });
    }

    /// Writes the workspace before another text takes its place in the editor.
    pub(super) fn set_aside(self) {
        if !self.workspaces.is_lesson.get_untracked() {
            self.write_now();
        }
    }

    /// Shows a text that is no workspace.
    pub(super) fn open_text(self, state: State) {
        self.project.open(state);
        self.editor.show(&self.project.text.get_untracked());
        self.forget_results();
    }

    /// Shows the workspace that was kept last.
    pub(super) fn back_to_kept(self) {
        self.show_kept();
        self.look_for_later();
    }

    /// Shows what quick storage has.
    pub(super) fn show_kept(self) {
        self.open_kept();
        self.show_opened();
    }

    /// Shows what was opened, without the results of what was shown before.
    fn show_opened(self) {
        self.editor.show(&self.project.text.get_untracked());
        self.forget_results();
    }

    /// All that decides a run: fields are made from the text's directives, and so is what the user leaves alone.
    pub(super) fn run_request(self, backend: &str, domain: [i64; 3]) -> Request {
        let request = untrack(|| self.project.request());
        let request = Request {
            backend: Some(backend.to_owned()),
            domain: Some(domain),
            scalars: self.usable_scalars(),
            externals: self.usable_externals(request.externals),
            init: Some(self.usable_inputs()),
            ..request
        };
        self.compilation.completed(request)
    }

    /// The domain of the next run: the user's, the text's, or a small one.
    #[must_use]
    pub fn domain(self) -> [i64; 3] {
        let of_text = || self.compilation.defaults.with(|it| it.domain.or(it.made.domain));
        self.project.domain.get().or_else(of_text).unwrap_or([32, 32, 20])
    }

    pub fn choose_domain(self, axis: usize, points: i64) {
        let mut domain = untrack(|| self.domain());
        if let Some(slot) = domain.get_mut(axis) {
            *slot = points;
        }
        self.project.happened(ProjectEvent::DomainChosen(domain));
    }

    /// The state as a link carries it.
    #[must_use]
    pub fn shared_state(self) -> State {
        State { ui: self.view.shared(), ..self.project.state() }
    }

    /// Opens the link of the address, the text of the last visit, or the first stencil. Keeps it from then on.
    pub(super) fn open_first(self) {
        self.connection.take_token();
        if !self.open_link(&page::fragment()) {
            self.open_kept();
        }
        page::on_fragment(move || {
            self.connection.take_token();
            if self.open_link(&page::fragment()) {
                self.editor.show(&self.project.text.get_untracked());
                self.forget_results();
            }
        });
        self.keep();
    }

    fn open_kept(self) {
        let kept = |key| share::kept(storage::load(Shelf::Lasting, key)?.as_bytes());
        let linked = kept(LINKED);
        let shown = if linked.is_some() { WorkspaceEvent::LinkShown } else { WorkspaceEvent::LinkLeft };
        self.workspaces.happened(shown);
        if let Some(state) = linked {
            self.open_state(state);
        } else {
            self.open_own();
        }
    }

    /// Opens the user's own text, or what a first visit sees.
    fn open_own(self) {
        match self.workspaces.last() {
            Some(state) => self.open_state(state),
            None => {
                if let Some(entry) = gallery::entry(gallery::FIRST) {
                    self.project.open(state_of(entry, gallery::FIRST_TEXT));
                    self.run_when_compiled(true);
                    self.workspaces.happened(WorkspaceEvent::FirstVisit);
                }
            }
        }
    }

    fn open_link(self, fragment: &str) -> bool {
        let Some(link) = fragment.split('&').find(|it| it.starts_with("s=")) else { return false };
        match share::decode(link) {
            Ok(opened) => {
                self.workspaces.happened(WorkspaceEvent::LinkShown);
                self.sharing.tell(&opened.notes);
                self.open_state(opened.state);
                self.rescue_linked();
                true
            }
            Err(broken) => {
                self.sharing.refuse(broken);
                false
            }
        }
    }

    pub(super) fn open_state(self, state: State) {
        self.view.restore(&state.ui);
        self.project.open(state);
    }

    /// Returns from a link's workspace to the user's own.
    pub fn leave_link(self) {
        self.leave_linked();
        page::set_fragment("");
        self.workspaces.happened(WorkspaceEvent::OwnerUnknown);
        // Another tab may have the link's still.
        self.open_own();
        self.show_opened();
        self.look_for_later();
    }

    /// Makes a link's workspace one of the user's own, beside the others.
    pub fn adopt_link(self) {
        self.workspaces.happened(WorkspaceEvent::LinkLeft);
        leptos::task::spawn_local(async move {
            if kept::claim(LINKED).await {
                self.forget_linked(None).await;
            }
        });
        self.workspaces.begin();
        page::set_fragment("");
        self.write_now();
    }

    /// Leaves the text of a link. Its changes are kept beside the user's own texts, unless another tab still
    /// has it.
    pub(super) fn leave_linked(self) {
        if !self.workspaces.is_linked.get_untracked() {
            return;
        }
        self.workspaces.happened(WorkspaceEvent::LinkLeft);
        let is_changed = !page::fragment().contains("s=");
        let (state, title) = untrack(|| (self.shared_state(), self.name_of_text().title));
        leptos::task::spawn_local(async move {
            if kept::claim(LINKED).await {
                let changed = is_changed.then(|| (title, serde_json::to_string(&state).unwrap_or_default()));
                self.forget_linked(changed).await;
            }
        });
    }

    /// Writes the workspace as it is now.
    pub(super) fn write_now(self) {
        self.kept(WorkspaceEvent::Ending(self.write_facts()));
    }

    pub(super) fn write_facts(self) -> WriteFacts {
        WriteFacts {
            revision: self.project.revision.get_untracked(),
            has_link: page::fragment().contains("s="),
            fresh_id: kept::new_id(),
        }
    }

    /// Tells what happened to the text that is shown, and writes it where that follows.
    pub(super) fn kept(self, event: WorkspaceEvent) {
        for target in self.workspaces.take(event) {
            let (state, title) = untrack(|| (self.shared_state(), self.name_of_text().title));
            let json = serde_json::to_string(&state).unwrap_or_default();
            match target {
                WriteTarget::Own(id) => self.workspaces.write(id, title, json),
                WriteTarget::Link => self.keep_aside(LINKED, json),
            }
        }
    }

    /// Keeps the changes to the text of the previous link as one of the user's own texts, because another
    /// link takes its place. Does nothing if another tab has that text.
    fn rescue_linked(self) {
        self.workspaces.happened(WorkspaceEvent::OwnerUnknown);
        leptos::task::spawn_local(async move {
            let is_ours = self.claim_shown().await;
            if !is_ours {
                return;
            }
            let before = keeping::last_aside(LINKED).await;
            let before = before.filter(|it| share::kept(it.as_bytes()).is_some());
            self.forget_linked(before.map(|it| (t!("state-kept-of-link").to_owned(), it))).await;
        });
    }

    /// Forgets the text of a link, which is kept as a text of this title first.
    async fn forget_linked(self, changed: Option<(String, String)>) {
        if let Some((title, json)) = changed {
            let kept = kept::keep(&kept::new_id(), &title, &json, page::time()).await;
            self.workspaces.happened(WorkspaceEvent::KeptAside(kept.is_ok()));
            if kept.is_err() {
                // It stays where it is.
                return;
            }
        }
        keeping::forget_aside(LINKED);
    }

    /// Writes a value that has no history to both places, and says so where neither takes it.
    pub(super) fn keep_aside(self, key: &'static str, value: String) {
        let at = page::time();
        let quick = keeping::keep_quick(key, &value, at);
        leptos::task::spawn_local(async move {
            let lasting = kept::keep_aside(key, &value, at).await;
            self.workspaces.happened(WorkspaceEvent::KeptAside(quick.is_ok() || lasting.is_ok()));
        });
    }

    /// Saves the workspace a moment after each change.
    fn keep(self) {
        let state = Memo::new(move |_| self.shared_state());
        let soon = DeferredSave::new();
        Effect::new(move |_| {
            // Not tracked alone: a memo that nobody reads depends on nothing.
            state.with(|_| ());
            soon.changed(move || self.kept(WorkspaceEvent::Changed(self.write_facts())));
        });
        page::on_hide(move || self.write_now());
    }
}

/// An example as it comes.
fn state_of(entry: gallery::GalleryEntry, text: &str) -> State {
    let files = [(MAIN.to_owned(), text.to_owned())].into();
    State { files, gallery: Some(entry.name.to_owned()), ..State::default() }
}
