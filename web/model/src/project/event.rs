//! Events of the workspace, and the work that they make for the page.

use std::collections::{BTreeMap, BTreeSet};

use isobar_protocol::diagnostic::Edit;
use isobar_protocol::request::{Arithmetic, Constants, Tile};
use isobar_protocol::share::State;
use serde_json::Value;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectEvent {
    /// Another workspace is opened.
    Opened(Box<State>),
    /// Files take the place of those that there are, with the main one among them. The choices are again those that
    /// the workspace was opened with.
    Replaced {
        files: BTreeMap<String, String>,
        main: Option<String>,
    },

    // Texts.
    /// The user has changed the text that is shown.
    Typed(String),
    /// The editor changes files that it does not show.
    OthersEdited(Vec<Edit>),

    // Files.
    FileShown(String),
    /// This file is compiled.
    MainChosen(String),
    /// A file comes, and is shown.
    FileAdded {
        name: String,
        text: String,
    },
    /// Files come beside those that there are.
    FilesAdded(BTreeMap<String, String>),
    FileRenamed {
        from: String,
        to: String,
    },
    /// A file goes, and this one is compiled.
    FileClosed {
        name: String,
        main: String,
    },

    // Choices of the model.
    /// One of several stencils, by the list of them; an empty name leaves the choice to the text.
    StencilChosen(String),
    /// One of several stencils, by its place.
    StencilPicked {
        file: String,
        name: String,
    },
    PrecisionChosen(u32),
    ConstantsChosen(Constants),
    TileChosen(Tile),
    MinmaxChosen(Arithmetic),
    ModuloChosen(Arithmetic),
    /// A pass is left out, or put back.
    PassToggled(String),
    AllPassesWanted,

    // Inputs; none takes the user's back.
    DomainChosen([i64; 3]),
    ScalarSet(String, Option<Value>),
    ExternalSet(String, Option<Value>),
    GeneratorSet(String, Option<String>),
    /// The domain, these scalars and the generators of these fields stand in the text now.
    WrittenDown {
        scalars: BTreeSet<String>,
        inputs: BTreeSet<String>,
    },
}

/// Something that the page has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectEffect {
    /// Let go of the address's link, now that the workspace is another: at the next load it would bring back its own.
    LetGoOfLink,
}
