//! What the page knows, and the actions that change it.
//!
//! Panes read these signals and call these actions; nobody else writes a signal.

pub mod benchmark;
pub mod clock;
pub mod compilation;
pub mod difference;
pub mod drawer;
pub mod editor;
pub mod exports;
pub mod files;
pub mod gallery;
pub mod head;
pub mod inputs;
pub mod journey;
mod keeping;
pub mod layout;
pub mod learn;
pub mod links;
pub mod look;
pub mod offsets;
pub mod output;
pub mod paste;
pub mod passes;
pub mod problems;
pub mod project;
pub mod reference;
pub mod remarks;
pub mod route;
pub mod remedies;
mod why;
pub mod run;
pub mod runner;
pub mod settings;
pub mod sharing;
pub mod shortcuts;
pub mod teller;
pub mod values;
pub mod version;
pub mod view;
pub mod workspaces;

use leptos::prelude::*;

use benchmark::Measurement;
use clock::Clock;
use compilation::Compilation;
use drawer::Drawer;
use editor::EditorState;
use files::Files;
use gallery::Gallery;
use head::Head;
use layout::Layout;
use learn::Learn;
use links::Links;
use output::Output;
use passes::Passes;
use problems::Problems;
use project::Project;
use reference::Reference;
use run::Run;
use runner::Connection;
use settings::Settings;
use sharing::Sharing;
use version::Version;
use view::FieldView;
use workspaces::Workspaces;

/// Everything; a handful of handles to signals.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub project: Project,
    pub workspaces: Workspaces,
    pub compilation: Compilation,
    pub problems: Problems,
    pub passes: Passes,
    pub editor: EditorState,
    pub run: Run,
    pub clock: Clock,
    pub measurement: Measurement,
    pub view: FieldView,
    pub connection: Connection,
    pub sharing: Sharing,
    pub files: Files,
    pub head: Head,
    pub version: Version,
    pub layout: Layout,
    pub drawer: Drawer,
    pub output: Output,
    pub settings: Settings,
    pub learn: Learn,
    pub gallery: Gallery,
    pub reference: Reference,
    /// The statements that are lit, found once for all who show them.
    lit: Memo<Links>,
}

impl App {
    /// Makes the state, opens what the address or the last visit left, and hands it to all panes.
    #[must_use]
    pub fn start() -> Self {
        let connection = Connection::new();
        let project = Project::new();
        let compilation = Compilation::new();
        let app = Self {
            project,
            workspaces: Workspaces::new(),
            compilation,
            problems: Problems::new(),
            passes: Passes::new(),
            editor: EditorState::new(),
            run: Run::new(),
            clock: Clock::new(),
            measurement: Measurement::new(),
            view: FieldView::new(),
            connection,
            sharing: Sharing::new(),
            files: Files::new(),
            head: Head::new(),
            version: Version::new(),
            layout: Layout::new(),
            drawer: Drawer::new(),
            output: Output::new(),
            settings: Settings::new(),
            learn: Learn::new(),
            gallery: Gallery::new(),
            reference: Reference::new(),
            lit: Memo::new(move |_| compilation.lit(&project.shown())),
        };
        provide_context(app);
        app.settings.follow_system();
        app.open_first();
        app.start_workspaces();
        app.start_compiling();
        app.follow_problems();
        app.follow_missing();
        app.follow_passes();
        app.follow_inputs();
        app.follow_output();
        app.follow_results();
        app.follow_look();
        app.follow_around();
        app.make_ready();
        app.follow_clock();
        app.start_shortcuts();
        app.follow_gallery();
        app.follow_address();
        app.follow_words();
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
