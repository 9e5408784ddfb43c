//! The workspace as it is.

use isobar_protocol::request::{Arithmetic, Constants, Passes, Request, Tile};
use isobar_protocol::share::State;

use crate::inputs::readable;

/// The file that is compiled unless the user chooses another one.
pub const MAIN: &str = "main.py";

/// Texts and choices.
#[derive(Clone, Debug)]
pub struct ProjectState {
    /// Counts the edits; answers carry the number they were made for.
    pub revision: u64,
    /// Counts the stencils that were opened: half a value that was typed for one is not meant for the next.
    pub opened: u64,
    /// Texts and choices as a link carries them; a choice that is the usual one is none. It has the file that is shown.
    pub(super) state: State,
    /// The file that the editor shows.
    pub(super) shown: String,
    /// The choices as they were opened, without files.
    pub(super) as_opened: State,
}

impl Default for ProjectState {
    fn default() -> Self {
        let mut project = Self {
            revision: 1,
            opened: 0,
            state: State::default(),
            shown: MAIN.to_owned(),
            as_opened: State::default(),
        };
        project.state.files.insert(MAIN.to_owned(), String::new());
        project
    }
}

impl ProjectState {
    /// Texts and choices as a link carries them.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The name of the file that the editor shows.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The text of that file.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text_of(&self.shown).unwrap_or_default()
    }

    /// The name of the file whose stencil is compiled.
    #[must_use]
    pub fn main(&self) -> &str {
        self.state.main.as_deref().unwrap_or(MAIN)
    }

    /// The text of a file.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.state.files.get(name).map(String::as_str)
    }

    /// The names of all files, the main one first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let others = self.state.files.keys().filter(|it| *it != self.main());
        std::iter::once(self.main().to_owned()).chain(others.cloned()).collect()
    }

    #[must_use]
    pub fn precision(&self) -> u32 {
        self.state.precision.unwrap_or(64)
    }

    /// How many choices of the model are not the usual ones.
    #[must_use]
    pub fn n_model_choices(&self) -> usize {
        let State { constants, tile, minmax, modulo, .. } = &self.state;
        let is_unusual = [constants.is_some(), tile.is_some(), minmax.is_some(), modulo.is_some()];
        is_unusual.into_iter().filter(|it| *it).count()
    }

    /// All that decides a compilation.
    #[must_use]
    pub fn request(&self) -> Request {
        let state = &self.state;
        Request {
            init: Some(state.inputs.clone()).filter(|it| !it.is_empty()),
            files: state.files.clone(),
            main: Some(self.main().to_owned()),
            stencil: state.stencil.clone(),
            externals: readable(&state.externals),
            precision: state.precision,
            constants: state.constants,
            tile: state.tile,
            minmax: state.minmax,
            modulo: state.modulo,
            passes: Passes { skip: state.skip.iter().cloned().collect(), ..Passes::default() },
            ..Request::default()
        }
    }
}

/// Leaves out the choices that are the usual ones.
pub(super) fn without_usual(state: State) -> State {
    State {
        // 64 is what the text says by itself.
        precision: state.precision.filter(|it| *it != 64),
        constants: state.constants.filter(|it| *it != Constants::Ufs),
        tile: state.tile.filter(|it| *it != Tile::Single),
        minmax: state.minmax.filter(|it| *it != Arithmetic::NumPy),
        modulo: state.modulo.filter(|it| *it != Arithmetic::NumPy),
        ..state
    }
}
