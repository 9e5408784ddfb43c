//! The workspace: text, choices of the run, and where it is kept.

use std::collections::{BTreeMap, BTreeSet};

use isobar_protocol::request::{Arithmetic, Constants, Passes, Request, Tile};
use leptos::prelude::*;
use serde_json::Value;

use super::{App, gallery, values};
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf};
use crate::share::{self, State};

/// The file that the editor shows.
pub const MAIN: &str = "main.py";

/// The user's own workspace, and the one that a link opened beside it.
const OWN: &str = "isobar.workspace";
const LINKED: &str = "isobar.linked";

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
    /// What `min` and `max` do with NaN, where it is not what NumPy does.
    pub minmax: RwSignal<Option<Arithmetic>>,
    /// Which sign `%` has, where it is not NumPy's.
    pub modulo: RwSignal<Option<Arithmetic>>,
    /// The user's domain; the text's own where there is none.
    pub domain: RwSignal<Option<[i64; 3]>>,
    pub scalars: RwSignal<BTreeMap<String, Value>>,
    pub externals: RwSignal<BTreeMap<String, Value>>,
    /// The passes that do not run.
    pub skipped: RwSignal<BTreeSet<String>>,
    /// Whether this is a workspace that a link opened, kept apart from the user's own.
    pub is_linked: RwSignal<bool>,
    /// Why the text is not being kept, where it is not.
    pub storage_warning: RwSignal<Option<&'static str>>,
    /// Further files and unknown parts of the opened link: not shown, written back.
    carried: RwSignal<State>,
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
            skipped: RwSignal::default(),
            is_linked: RwSignal::new(false),
            storage_warning: RwSignal::new(None),
            carried: RwSignal::default(),
        }
    }

    /// All that decides a compilation.
    #[must_use]
    pub fn request(self) -> Request {
        let mut files = self.carried.with(|it| it.files.clone());
        files.insert(self.main(), self.text.get());
        Request {
            files,
            main: Some(self.main()),
            stencil: self.stencil.get(),
            // What nobody can read is shown as such, and the text's own value holds meanwhile.
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

    /// The name of the file that the editor shows.
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
        state.files.insert(self.main(), self.text.get());
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

    fn open(self, state: State) {
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
        self.skipped.set(state.skip.clone());
        self.gallery.set(state.gallery.clone());
        self.carried.set(State { main, ..state });
        self.text.set(text);
        self.revision.update(|it| *it += 1);
        self.opened.update(|it| *it += 1);
    }

    fn open_entry(self, entry: gallery::Entry) {
        let files = [(MAIN.to_owned(), entry.text.to_owned())].into();
        self.open(State { files, gallery: Some(entry.name.to_owned()), ..State::default() });
    }
}

impl App {
    /// Takes an edit of the user.
    pub fn edit(self, text: String) {
        let Project { text: signal, revision, .. } = self.project;
        if signal.with_untracked(|it| *it == text) {
            return;
        }
        self.changed();
        signal.set(text);
        revision.update(|it| *it += 1);
    }

    /// Lets go of the address's link, now that the workspace is another: at the next load it would bring back what
    /// it holds.
    pub(super) fn changed(self) {
        if page::fragment().contains("s=") {
            page::set_fragment("");
        }
    }

    /// Opens a stencil of the gallery in place of the text.
    pub fn open_gallery(self, name: &str) {
        let Some(entry) = gallery::entry(name) else { return };
        self.changed();
        self.project.open_entry(entry);
        self.editor.show(&self.project.text.get_untracked());
        self.forget_results();
    }

    pub fn choose_stencil(self, name: String) {
        self.changed();
        self.project.stencil.set(Some(name).filter(|it| !it.is_empty()));
        self.project.opened.update(|it| *it += 1);
        self.project.revision.update(|it| *it += 1);
    }

    pub fn choose_precision(self, bits: u32) {
        self.changed();
        self.project.precision.set(bits);
        self.project.revision.update(|it| *it += 1);
    }

    pub fn choose_constants(self, set: Constants) {
        self.changed();
        self.project.constants.set(Some(set).filter(|it| *it != Constants::Ufs));
        self.project.revision.update(|it| *it += 1);
    }

    pub fn choose_minmax(self, arithmetic: Arithmetic) {
        self.choose_arithmetic(self.project.minmax, arithmetic);
    }

    pub fn choose_modulo(self, arithmetic: Arithmetic) {
        self.choose_arithmetic(self.project.modulo, arithmetic);
    }

    fn choose_arithmetic(self, of: RwSignal<Option<Arithmetic>>, arithmetic: Arithmetic) {
        self.changed();
        of.set(Some(arithmetic).filter(|it| *it != Arithmetic::NumPy));
        self.project.revision.update(|it| *it += 1);
    }

    pub fn choose_tile(self, place: Tile) {
        self.changed();
        self.project.tile.set(Some(place).filter(|it| *it != Tile::Single));
        self.project.revision.update(|it| *it += 1);
    }

    /// All that decides a run: fields are made from the text's directives, and so is what the user leaves alone.
    pub(super) fn run_request(self, backend: &str, domain: [i64; 3]) -> Request {
        let request = untrack(|| self.project.request());
        Request {
            backend: Some(backend.to_owned()),
            domain: Some(domain),
            scalars: self.usable_scalars(),
            externals: self.usable_externals(request.externals),
            init: Some(BTreeMap::new()),
            ..request
        }
    }

    /// The domain of the next run: the user's, the text's, or a small one.
    #[must_use]
    pub fn domain(self) -> [i64; 3] {
        let of_text = || self.compilation.defaults.with(|it| it.domain);
        self.project.domain.get().or_else(of_text).unwrap_or([32, 32, 20])
    }

    pub fn choose_domain(self, axis: usize, points: i64) {
        let mut domain = untrack(|| self.domain());
        if let Some(slot) = domain.get_mut(axis) {
            *slot = points;
        }
        self.changed();
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
        match linked.or_else(|| kept(OWN)) {
            Some(state) => self.open_state(state),
            None => {
                if let Some(entry) = gallery::entry(gallery::FIRST) {
                    self.project.open_entry(entry);
                }
            }
        }
    }

    fn open_link(self, fragment: &str) -> bool {
        let Some(link) = fragment.split('&').find(|it| it.starts_with("s=")) else { return false };
        match share::decode(link) {
            Ok(opened) => {
                self.project.is_linked.set(true);
                self.sharing.tell(opened.notes);
                self.open_state(opened.state);
                true
            }
            Err(broken) => {
                self.sharing.refuse(broken);
                false
            }
        }
    }

    fn open_state(self, state: State) {
        self.restore_view(&state.ui);
        self.project.open(state);
    }

    /// Returns from a link's workspace to the user's own.
    pub fn leave_link(self) {
        storage::forget(Shelf::Lasting, LINKED);
        page::set_fragment("");
        self.open_kept();
        self.editor.show(&self.project.text.get_untracked());
        self.forget_results();
    }

    /// Makes a link's workspace the user's own.
    pub fn adopt_link(self) {
        self.project.is_linked.set(false);
        storage::forget(Shelf::Lasting, LINKED);
        page::set_fragment("");
    }

    /// Saves the workspace a moment after each change.
    fn keep(self) {
        let save =
            move |state: &State| {
                let key = if self.project.is_linked.get_untracked() { LINKED } else { OWN };
                let json = serde_json::to_string(state).unwrap_or_default();
                let warning = storage::save(Shelf::Lasting, key, &json).err();
                self.project.storage_warning.set(warning.map(
                    |_| "The browser keeps nothing more: copy a share link, so that your text is safe.",
                ));
            };
        let state = Memo::new(move |_| {
            self.project.is_linked.track();
            self.shared_state()
        });
        let later = StoredValue::new(None::<TimeoutHandle>);
        Effect::new(move |_| {
            state.track();
            if let Some(waiting) = later.get_value() {
                waiting.clear();
            }
            let handle = set_timeout_with_handle(
                move || state.with_untracked(save),
                std::time::Duration::from_millis(250),
            );
            later.set_value(handle.ok());
        });
        page::on_hide(move || untrack(|| state.with_untracked(save)));
    }
}
