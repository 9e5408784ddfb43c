//! The workspace: text, choices of the run, and where it is kept.

use std::collections::{BTreeMap, BTreeSet};

use isobar_protocol::request::{Arithmetic, Constants, Passes, Request, Tile};
use leptos::prelude::*;
use serde_json::Value;

use super::gallery::ExampleSize;
use super::keeping::{self, DeferredSave};
use super::{App, gallery, values};
use crate::bridge::locale::t;
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf};
use crate::bridge::workspaces as kept;
use isobar_protocol::share::{self, State};

/// The file that the editor shows.
pub const MAIN: &str = "main.py";

/// Where the text that a link opened beside the user's own is kept.
pub(super) const LINKED: &str = "isobar.linked";

/// Text and choices.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    pub text: RwSignal<String>,
    /// Counts the edits; answers carry the number they were made for.
    pub revision: RwSignal<u64>,
    /// Counts the stencils that were opened: what is half typed for one is not meant for the next.
    pub opened: RwSignal<u64>,
    /// The gallery entry that the text began as.
    pub gallery: RwSignal<Option<String>>,
    /// Which stencil, where the text has several and the user chose.
    pub stencil: RwSignal<Option<String>>,
    pub precision: RwSignal<u32>,
    /// The set of physical constants, where it is not the usual one.
    pub constants: RwSignal<Option<Constants>>,
    /// Where on its tile the domain lies, where it is not all of it.
    pub tile: RwSignal<Option<Tile>>,
    /// How `min` and `max` treat NaN, if not as NumPy does.
    pub minmax: RwSignal<Option<Arithmetic>>,
    /// Which sign `%` has, where it is not NumPy's.
    pub modulo: RwSignal<Option<Arithmetic>>,
    /// The user's domain; the text's own where there is none.
    pub domain: RwSignal<Option<[i64; 3]>>,
    pub scalars: RwSignal<BTreeMap<String, Value>>,
    pub externals: RwSignal<BTreeMap<String, Value>>,
    /// The user's generators, by field.
    pub inputs: RwSignal<BTreeMap<String, String>>,
    /// The file that the editor shows, where it is not the main one.
    pub(super) other: RwSignal<Option<String>>,
    /// The passes that do not run.
    pub skipped: RwSignal<BTreeSet<String>>,
    /// Whether this is a workspace that a link opened, kept apart from the user's own.
    pub is_linked: RwSignal<bool>,
    /// Whether the text is that of a lesson, which is kept with the progress and not as a workspace.
    pub is_lesson: RwSignal<bool>,
    /// Whether what is typed is kept nowhere, because the browser refuses it.
    pub is_unkept: RwSignal<bool>,
    /// Further files and unknown parts of the opened link: not shown, written back.
    pub(super) carried: RwSignal<State>,
}

impl Project {
    pub(super) fn new() -> Self {
        Self {
            text: RwSignal::new(String::new()),
            revision: RwSignal::new(1),
            opened: RwSignal::new(0),
            gallery: RwSignal::new(None),
            stencil: RwSignal::new(None),
            precision: RwSignal::new(64),
            constants: RwSignal::new(None),
            tile: RwSignal::new(None),
            minmax: RwSignal::new(None),
            modulo: RwSignal::new(None),
            domain: RwSignal::new(None),
            scalars: RwSignal::default(),
            externals: RwSignal::default(),
            inputs: RwSignal::default(),
            other: RwSignal::default(),
            skipped: RwSignal::default(),
            is_linked: RwSignal::new(false),
            is_lesson: RwSignal::new(false),
            is_unkept: RwSignal::new(false),
            carried: RwSignal::default(),
        }
    }

    /// All that decides a compilation.
    #[must_use]
    pub fn request(self) -> Request {
        let mut files = self.carried.with(|it| it.files.clone());
        files.insert(self.shown(), self.text.get());
        Request {
            init: self.inputs.with(|it| (!it.is_empty()).then(|| it.clone())),
            files,
            main: Some(self.main()),
            stencil: self.stencil.get(),
            // Values that cannot be read are shown as such, and the text's own values hold meanwhile.
            externals: self.externals.with(|it| {
                let readable =
                    it.iter().filter(|(_, value)| values::external(&values::spelled(value)).is_ok());
                readable.map(|(name, value)| (name.clone(), value.clone())).collect()
            }),
            // 64 is what the text says by itself.
            precision: (self.precision.get() != 64).then(|| self.precision.get()),
            constants: self.constants.get(),
            tile: self.tile.get(),
            minmax: self.minmax.get(),
            modulo: self.modulo.get(),
            passes: Passes {
                skip: self.skipped.with(|it| it.iter().cloned().collect()),
                ..Passes::default()
            },
            ..Request::default()
        }
    }

    /// How many choices of the model are not the usual ones.
    #[must_use]
    pub fn n_model_choices(self) -> usize {
        let arithmetic = [self.minmax, self.modulo].iter().filter(|it| it.with(Option::is_some)).count();
        let of_ndsl =
            usize::from(self.constants.with(Option::is_some)) + usize::from(self.tile.with(Option::is_some));
        of_ndsl + arithmetic
    }

    /// The name of the file whose stencil is compiled.
    #[must_use]
    pub fn main(self) -> String {
        self.carried.with(|it| it.main.clone()).unwrap_or_else(|| MAIN.to_owned())
    }

    /// Changes a file that the editor does not show.
    pub(super) fn edit_other(self, file: &str, change: impl FnOnce(&str) -> Option<String>) {
        let text = self.carried.with_untracked(|it| change(it.files.get(file)?));
        if let Some(text) = text {
            self.carried.update(|it| {
                it.files.insert(file.to_owned(), text);
            });
            self.revision.update(|it| *it += 1);
        }
    }

    fn state(self) -> State {
        let mut state = self.carried.get();
        state.files.insert(self.shown(), self.text.get());
        state.inputs = self.inputs.get();
        state.stencil = self.stencil.get();
        state.precision = Some(self.precision.get()).filter(|it| *it != 64);
        state.constants = self.constants.get();
        state.tile = self.tile.get();
        state.minmax = self.minmax.get();
        state.modulo = self.modulo.get();
        state.domain = self.domain.get();
        state.scalars = self.scalars.get();
        state.externals = self.externals.get();
        state.skip = self.skipped.get();
        state.gallery = self.gallery.get();
        state
    }

    pub(super) fn open(self, state: State) {
        let main = state.main.clone().or_else(|| {
            let has_main = state.files.contains_key(MAIN);
            if has_main { None } else { state.files.keys().next().cloned() }
        });
        let text = state.files.get(main.as_deref().unwrap_or(MAIN)).cloned().unwrap_or_default();
        self.stencil.set(state.stencil.clone());
        self.precision.set(state.precision.unwrap_or(64));
        self.constants.set(state.constants.filter(|it| *it != Constants::Ufs));
        self.tile.set(state.tile.filter(|it| *it != Tile::Single));
        self.minmax.set(state.minmax.filter(|it| *it != Arithmetic::NumPy));
        self.modulo.set(state.modulo.filter(|it| *it != Arithmetic::NumPy));
        self.domain.set(state.domain);
        self.scalars.set(state.scalars.clone());
        self.externals.set(state.externals.clone());
        self.inputs.set(state.inputs.clone());
        self.other.set(None);
        self.skipped.set(state.skip.clone());
        self.gallery.set(state.gallery.clone());
        self.carried.set(State { main, ..state });
        self.text.set(text);
        self.revision.update(|it| *it += 1);
        self.opened.update(|it| *it += 1);
    }

    fn open_entry(self, entry: gallery::GalleryEntry, text: &str) {
        let files = [(MAIN.to_owned(), text.to_owned())].into();
        self.open(State { files, gallery: Some(entry.name.to_owned()), ..State::default() });
    }

    /// Lets go of the address's link, now that the workspace is another: at the next load it would bring back what
    /// it holds.
    pub(super) fn changed(self) {
        if page::fragment().contains("s=") {
            page::set_fragment("");
        }
    }

    pub fn choose_stencil(self, name: String) {
        self.changed();
        self.stencil.set(Some(name).filter(|it| !it.is_empty()));
        self.opened.update(|it| *it += 1);
        self.revision.update(|it| *it += 1);
    }

    pub fn choose_precision(self, bits: u32) {
        self.changed();
        self.precision.set(bits);
        self.revision.update(|it| *it += 1);
    }

    pub fn choose_constants(self, set: Constants) {
        self.changed();
        self.constants.set(Some(set).filter(|it| *it != Constants::Ufs));
        self.revision.update(|it| *it += 1);
    }

    pub fn choose_minmax(self, arithmetic: Arithmetic) {
        self.choose_arithmetic(self.minmax, arithmetic);
    }

    pub fn choose_modulo(self, arithmetic: Arithmetic) {
        self.choose_arithmetic(self.modulo, arithmetic);
    }

    fn choose_arithmetic(self, of: RwSignal<Option<Arithmetic>>, arithmetic: Arithmetic) {
        self.changed();
        of.set(Some(arithmetic).filter(|it| *it != Arithmetic::NumPy));
        self.revision.update(|it| *it += 1);
    }

    pub fn choose_tile(self, place: Tile) {
        self.changed();
        self.tile.set(Some(place).filter(|it| *it != Tile::Single));
        self.revision.update(|it| *it += 1);
    }

    /// The name of the file that the editor shows.
    #[must_use]
    pub fn shown(self) -> String {
        self.other.get().unwrap_or_else(|| self.main())
    }

    /// The names of all files, the main one first.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        let (main, shown) = (self.main(), self.shown());
        let mut names: Vec<String> = self.carried.with(|it| it.files.keys().cloned().collect());
        if !names.contains(&shown) {
            names.push(shown);
        }
        names.retain(|it| *it != main);
        names.sort();
        names.insert(0, main);
        names
    }

    /// The text of a file.
    #[must_use]
    pub fn text_of(self, name: &str) -> Option<String> {
        if self.shown() == name {
            return Some(self.text.get());
        }
        self.carried.with(|it| it.files.get(name).cloned())
    }

    /// Puts the text that is edited among the others.
    pub(super) fn put_by(self) {
        let (shown, text) = untrack(|| (self.shown(), self.text.get()));
        self.carried.update(|it| drop(it.files.insert(shown, text)));
    }

    /// Compiles another file.
    pub(super) fn set_main(self, name: &str) {
        self.put_by();
        let shown = untrack(|| self.shown());
        self.carried.update(|it| it.main = Some(name.to_owned()).filter(|it| it != MAIN));
        self.other.set(Some(shown).filter(|it| it != name));
    }
}

impl App {
    /// Takes an edit of the user.
    pub fn edit(self, text: String) {
        let Project { text: signal, revision, .. } = self.project;
        if signal.with_untracked(|it| *it == text) {
            return;
        }
        self.project.changed();
        self.problems.typed();
        signal.set(text);
        revision.update(|it| *it += 1);
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
            // A text that somebody wrote stays beside it; an example that nobody touched gives way. That of a lesson
            // was set aside when the lesson began.
            let before = untrack(|| self.name_of_text());
            let is_lesson = self.project.is_lesson.get_untracked();
            if before.is_own || is_lesson || self.project.is_linked.get_untracked() {
                self.set_aside();
                self.project.is_lesson.set(false);
                self.workspaces.begin();
            }
            self.leave_linked();
            page::set_fragment("");
            self.leave_for_editor();
            self.project.open_entry(entry, &text);
            if let Some(domain) = size.domain(&text) {
                self.project.domain.set(Some(domain));
            }
            self.editor.show(&self.project.text.get_untracked());
            self.forget_results();
            self.run_when_compiled(false);
        });
    }

    /// Writes the workspace before another text takes its place in the editor.
    pub(super) fn set_aside(self) {
        if !self.project.is_lesson.get_untracked() {
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
        self.project.changed();
        self.project.domain.set(Some(domain));
    }

    /// The state as a link carries it.
    #[must_use]
    pub fn shared_state(self) -> State {
        State { ui: self.shared_view(), ..self.project.state() }
    }

    /// Opens the address's link, else what the last visit left, else the first stencil; keeps it from then on.
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
        self.project.is_linked.set(linked.is_some());
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
                    self.project.open_entry(entry, gallery::FIRST_TEXT);
                    self.run_when_compiled(true);
                    self.workspaces.welcome();
                }
            }
        }
    }

    fn open_link(self, fragment: &str) -> bool {
        let Some(link) = fragment.split('&').find(|it| it.starts_with("s=")) else { return false };
        match share::decode(link) {
            Ok(opened) => {
                self.project.is_linked.set(true);
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
        self.restore_view(&state.ui);
        self.project.open(state);
    }

    /// Returns from a link's workspace to the user's own.
    pub fn leave_link(self) {
        self.leave_linked();
        page::set_fragment("");
        self.workspaces.ask_again();
        // Another tab may have the link's still.
        self.open_own();
        self.show_opened();
        self.look_for_later();
    }

    /// Makes a link's workspace one of the user's own, beside the others.
    pub fn adopt_link(self) {
        self.project.is_linked.set(false);
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
        if !self.project.is_linked.get_untracked() {
            return;
        }
        self.project.is_linked.set(false);
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
        let (state, title) = untrack(|| (self.shared_state(), self.name_of_text().title));
        self.write(&state, title.clone());
        if self.workspaces.wait_no_longer() {
            self.write(&state, title);
        }
    }

    fn write(self, state: &State, title: String) {
        // That of a lesson is kept with its progress.
        if self.project.is_lesson.get_untracked() || self.is_undecided() {
            return;
        }
        let is_linked = self.project.is_linked.get_untracked();
        if is_linked && page::fragment().contains("s=") {
            // The link has all of it.
            return;
        }
        if !self.workspaces.may_write() {
            return;
        }
        let json = serde_json::to_string(state).unwrap_or_default();
        let is_copied = self.workspaces.becomes_a_copy();
        if is_linked && !is_copied {
            self.keep_aside(LINKED, json);
        } else {
            self.project.is_linked.set(false);
            self.workspaces.write(title, json, move |is_kept| self.tell_kept(is_kept));
        }
    }

    /// Keeps the changes to the text of the previous link as one of the user's own texts, because another
    /// link takes its place. Does nothing if another tab has that text.
    fn rescue_linked(self) {
        self.workspaces.ask_again();
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
            self.tell_kept(kept.is_ok());
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
            self.tell_kept(quick.is_ok() || lasting.is_ok());
        });
    }

    /// Warns for as long as what is typed is kept nowhere.
    pub(super) fn tell_kept(self, is_kept: bool) {
        if self.project.is_unkept.get_untracked() == is_kept {
            self.project.is_unkept.set(!is_kept);
        }
    }

    /// Saves the workspace a moment after each change.
    fn keep(self) {
        let save = move |state: &State| self.write(state, untrack(|| self.name_of_text()).title);
        let state = Memo::new(move |_| {
            self.project.is_linked.track();
            self.shared_state()
        });
        let soon = DeferredSave::new();
        Effect::new(move |_| {
            state.track();
            soon.changed(move || state.with_untracked(save));
        });
        page::on_hide(move || self.write_now());
    }
}
