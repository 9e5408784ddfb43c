//! All that the page knows, in one place, and how it begins.

use isobar_page_model::links::Links;
use leptos::prelude::*;

use super::benchmark::Measurement;
use super::card::HeadDisplay;
use super::clock::Clock;
use super::compilation::Compilation;
use super::drawer::Drawer;
use super::editor::EditorState;
use super::examples::Gallery;
use super::files::Files;
use super::layout::PageLayout;
use super::learn::LearnState;
use super::output::OutputLog;
use super::passes::Passes;
use super::problems::Problems;
use super::project::Project;
use super::reference::Reference;
use super::run::Run;
use super::runner::Connection;
use super::settings::Settings;
use super::sharing::Sharing;
use super::status::StatusLine;
use super::version::Version;
use super::view::FieldView;
use super::workspaces::Workspaces;

/// Everything; a handful of handles to signals.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub project: Project,
    pub workspaces: Workspaces,
    pub compilation: Compilation,
    pub problems: Problems,
    pub passes: Passes,
    pub editor: EditorState,
    pub status: StatusLine,
    pub run: Run,
    pub clock: Clock,
    pub measurement: Measurement,
    pub view: FieldView,
    pub connection: Connection,
    pub sharing: Sharing,
    pub files: Files,
    pub head: HeadDisplay,
    pub version: Version,
    pub layout: PageLayout,
    pub drawer: Drawer,
    pub output: OutputLog,
    pub settings: Settings,
    pub learn: LearnState,
    pub gallery: Gallery,
    pub reference: Reference,
    /// The statements that are lit, found once for all who show them.
    pub(crate) lit: Memo<Links>,
}

impl App {
    /// Makes the state, and hands it to all panes.
    pub(crate) fn new() -> Self {
        let project = Project::new();
        let layout = PageLayout::new();
        let compilation = Compilation::new(project, layout);
        let status = StatusLine::new();
        let run = Run::new();
        let clock = Clock::new(run);
        let app = Self {
            project,
            workspaces: Workspaces::new(),
            compilation,
            problems: Problems::new(project, compilation),
            passes: Passes::new(project, compilation),
            editor: EditorState::new(),
            status,
            run,
            clock,
            measurement: Measurement::new(),
            view: FieldView::new(run, clock, compilation, layout),
            connection: Connection::new(),
            sharing: Sharing::new(),
            files: Files::new(),
            head: HeadDisplay::new(),
            version: Version::new(),
            layout,
            drawer: Drawer::new(layout),
            output: OutputLog::new(),
            settings: Settings::new(),
            learn: LearnState::new(),
            gallery: Gallery::new(project, status),
            reference: Reference::new(),
            lit: Memo::new(move |_| compilation.lit(&project.shown.get())),
        };
        provide_context(app);
        app
    }
}

/// Returns the state of the page, for views and actions.
///
/// # Panics
///
/// Outside of the page's components.
#[must_use]
pub fn use_app() -> App {
    expect_context::<App>()
}
