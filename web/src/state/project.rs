//! The workspace: text, choices of the run, and where it is kept.

use std::collections::{BTreeMap, BTreeSet};

use isobar_page_model::inputs::readable;
use isobar_protocol::request::{Arithmetic, Constants, Passes, Request, Tile};
use isobar_protocol::share::State;
use leptos::prelude::*;
use serde_json::Value;

use super::gallery;
use crate::bridge::page;

/// The file that the editor shows.
pub const MAIN: &str = "main.py";

/// Where the text that a link opened beside the user's own is kept.
pub(crate) const LINKED: &str = "isobar.linked";

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
    pub(crate) other: RwSignal<Option<String>>,
    /// The passes that do not run.
    pub skipped: RwSignal<BTreeSet<String>>,
    /// Whether this is a workspace that a link opened, kept apart from the user's own.
    pub is_linked: RwSignal<bool>,
    /// Whether the text is that of a lesson, which is kept with the progress and not as a workspace.
    pub is_lesson: RwSignal<bool>,
    /// Whether what is typed is kept nowhere, because the browser refuses it.
    pub is_unkept: RwSignal<bool>,
    /// Further files and unknown parts of the opened link: not shown, written back.
    pub(crate) carried: RwSignal<State>,
}

impl Project {
    pub(crate) fn new() -> Self {
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
            externals: self.externals.with(readable),
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
    pub(crate) fn edit_other(self, file: &str, change: impl FnOnce(&str) -> Option<String>) {
        let text = self.carried.with_untracked(|it| change(it.files.get(file)?));
        if let Some(text) = text {
            self.carried.update(|it| {
                it.files.insert(file.to_owned(), text);
            });
            self.revision.update(|it| *it += 1);
        }
    }

    pub(crate) fn state(self) -> State {
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

    pub(crate) fn open(self, state: State) {
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

    pub(crate) fn open_entry(self, entry: gallery::GalleryEntry, text: &str) {
        let files = [(MAIN.to_owned(), text.to_owned())].into();
        self.open(State { files, gallery: Some(entry.name.to_owned()), ..State::default() });
    }

    /// Lets go of the address's link, now that the workspace is another: at the next load it would bring back what
    /// it holds.
    pub(crate) fn changed(self) {
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
    pub(crate) fn put_by(self) {
        let (shown, text) = untrack(|| (self.shown(), self.text.get()));
        self.carried.update(|it| drop(it.files.insert(shown, text)));
    }

    /// Compiles another file.
    pub(crate) fn set_main(self, name: &str) {
        self.put_by();
        let shown = untrack(|| self.shown());
        self.carried.update(|it| it.main = Some(name.to_owned()).filter(|it| it != MAIN));
        self.other.set(Some(shown).filter(|it| it != name));
    }
}
