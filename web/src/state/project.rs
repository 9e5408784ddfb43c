//! The workspace as views read it, and its events.

use std::collections::{BTreeMap, BTreeSet};

use isobar_page_model::project::{ProjectEffect, ProjectEvent, ProjectState};
use isobar_protocol::request::{Arithmetic, Constants, Request, Tile};
use isobar_protocol::share::State;
use leptos::prelude::*;
use serde_json::Value;

use crate::bridge::page;

/// Text and choices.
#[derive(Clone, Copy, Debug)]
pub struct Project {
    project: RwSignal<ProjectState>,

    // Parts of the workspace, for views. Those that are signals can be tracked unread.
    /// Counts the edits; answers carry the number they were made for.
    pub revision: Signal<u64>,
    /// Counts the stencils that were opened: half a value that was typed for one is not meant for the next.
    pub opened: Signal<u64>,
    /// The file that the editor shows, and its text.
    pub shown: Memo<String>,
    pub text: Memo<String>,
    /// The file whose stencil is compiled.
    pub main: Memo<String>,
    /// The names of all files, the main one first.
    pub names: Memo<Vec<String>>,
    /// The gallery entry that the text began as.
    pub gallery: Memo<Option<String>>,
    /// Which stencil, where the text has several and the user chose.
    pub stencil: Memo<Option<String>>,
    pub precision: Memo<u32>,
    /// The set of physical constants, where it is not the usual one.
    pub constants: Memo<Option<Constants>>,
    /// Where on its tile the domain lies, where it is not all of it.
    pub tile: Memo<Option<Tile>>,
    /// How `min` and `max` treat NaN, if not as NumPy does.
    pub minmax: Memo<Option<Arithmetic>>,
    /// Which sign `%` has, where it is not NumPy's.
    pub modulo: Memo<Option<Arithmetic>>,
    /// The user's domain; the text's own where there is none.
    pub domain: Memo<Option<[i64; 3]>>,
    pub scalars: Memo<BTreeMap<String, Value>>,
    pub externals: Memo<BTreeMap<String, Value>>,
    /// The user's generators, by field.
    pub inputs: Memo<BTreeMap<String, String>>,
    /// The passes that do not run.
    pub skipped: Memo<BTreeSet<String>>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = RwSignal::new(ProjectState::default());
        let revision = Memo::new(move |_| project.with(|it| it.revision));
        let opened = Memo::new(move |_| project.with(|it| it.opened));
        Self {
            project,
            revision: Signal::derive(move || revision.get()),
            opened: Signal::derive(move || opened.get()),
            shown: Memo::new(move |_| project.with(|it| it.shown().to_owned())),
            text: Memo::new(move |_| project.with(|it| it.text().to_owned())),
            main: Memo::new(move |_| project.with(|it| it.main().to_owned())),
            names: Memo::new(move |_| project.with(ProjectState::names)),
            gallery: Memo::new(move |_| project.with(|it| it.state().gallery.clone())),
            stencil: Memo::new(move |_| project.with(|it| it.state().stencil.clone())),
            precision: Memo::new(move |_| project.with(ProjectState::precision)),
            constants: Memo::new(move |_| project.with(|it| it.state().constants)),
            tile: Memo::new(move |_| project.with(|it| it.state().tile)),
            minmax: Memo::new(move |_| project.with(|it| it.state().minmax)),
            modulo: Memo::new(move |_| project.with(|it| it.state().modulo)),
            domain: Memo::new(move |_| project.with(|it| it.state().domain)),
            scalars: Memo::new(move |_| project.with(|it| it.state().scalars.clone())),
            externals: Memo::new(move |_| project.with(|it| it.state().externals.clone())),
            inputs: Memo::new(move |_| project.with(|it| it.state().inputs.clone())),
            skipped: Memo::new(move |_| project.with(|it| it.state().skip.clone())),
        }
    }

    /// Tells the workspace what happened, and does what follows from it.
    pub(crate) fn happened(self, event: ProjectEvent) {
        let mut effects = Vec::new();
        self.project.update(|it| effects = it.take(event));
        for effect in effects {
            match effect {
                ProjectEffect::LetGoOfLink => self.changed(),
            }
        }
    }

    /// All that decides a compilation.
    #[must_use]
    pub fn request(self) -> Request {
        self.project.with(ProjectState::request)
    }

    /// How many choices of the model are not the usual ones.
    #[must_use]
    pub fn n_model_choices(self) -> usize {
        self.project.with(ProjectState::n_model_choices)
    }

    /// Texts and choices, as a link carries them.
    pub(crate) fn state(self) -> State {
        self.project.with(|it| it.state().clone())
    }

    /// The text of a file.
    #[must_use]
    pub fn text_of(self, name: &str) -> Option<String> {
        self.project.with(|it| it.text_of(name).map(str::to_owned))
    }

    pub(crate) fn open(self, state: State) {
        self.happened(ProjectEvent::Opened(Box::new(state)));
    }

    /// Lets go of the address's link, now that the workspace is another: at the next load it would bring back what
    /// it holds.
    pub(crate) fn changed(self) {
        if page::fragment().contains("s=") {
            page::set_fragment("");
        }
    }

    pub fn choose_stencil(self, name: String) {
        self.happened(ProjectEvent::StencilChosen(name));
    }

    pub fn choose_precision(self, bits: u32) {
        self.happened(ProjectEvent::PrecisionChosen(bits));
    }

    pub fn choose_constants(self, set: Constants) {
        self.happened(ProjectEvent::ConstantsChosen(set));
    }

    pub fn choose_minmax(self, arithmetic: Arithmetic) {
        self.happened(ProjectEvent::MinmaxChosen(arithmetic));
    }

    pub fn choose_modulo(self, arithmetic: Arithmetic) {
        self.happened(ProjectEvent::ModuloChosen(arithmetic));
    }

    pub fn choose_tile(self, place: Tile) {
        self.happened(ProjectEvent::TileChosen(place));
    }
}
