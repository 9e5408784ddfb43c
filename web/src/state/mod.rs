//! What the page knows, and the actions that change it.
//!
//! Panes read these signals and call these actions; nobody else writes a signal.

pub mod benchmark;
pub mod compilation;
pub mod difference;
pub mod editor;
pub mod gallery;
pub mod inputs;
pub mod layout;
pub mod links;
pub mod offsets;
pub mod passes;
pub mod project;
pub mod remarks;
pub mod run;
pub mod runner;
pub mod settings;
pub mod sharing;
pub mod shortcuts;
pub mod teller;
pub mod values;
pub mod view;

use leptos::prelude::*;

use benchmark::Measurement;
use compilation::Compilation;
use editor::EditorState;
use layout::Layout;
use passes::Passes;
use project::Project;
use run::Run;
use runner::Connection;
use settings::Settings;
use sharing::Sharing;
use view::FieldView;

/// Everything; a handful of handles to signals.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub project: Project,
    pub compilation: Compilation,
    pub passes: Passes,
    pub editor: EditorState,
    pub run: Run,
    pub measurement: Measurement,
    pub view: FieldView,
    pub connection: Connection,
    pub sharing: Sharing,
    pub layout: Layout,
    pub settings: Settings,
}

impl App {
    /// Makes the state, opens what the address or the last visit left, and hands it to all panes.
    #[must_use]
    pub fn start() -> Self {
        let connection = Connection::new();
        let project = Project::new();
        let app = Self {
            project,
            compilation: Compilation::new(),
            passes: Passes::new(),
            editor: EditorState::new(),
            run: Run::new(),
            measurement: Measurement::new(),
            view: FieldView::new(),
            connection,
            sharing: Sharing::new(),
            layout: Layout::new(),
            settings: Settings::new(),
        };
        provide_context(app);
        app.settings.follow_system();
        app.open_first();
        app.start_compiling();
        app.follow_passes();
        app.follow_results();
        app.make_ready();
        app.start_shortcuts();
        app
    }
}

/// The state, for whoever draws or acts.
///
/// # Panics
///
/// Outside of the page's components.
#[must_use]
pub fn use_app() -> App {
    expect_context::<App>()
}
