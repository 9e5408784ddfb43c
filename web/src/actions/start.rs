//! How the page begins.

use crate::state::App;

impl App {
    /// Makes the state, and opens what the address or the last visit left.
    #[must_use]
    pub fn start() -> Self {
        let app = Self::new();
        app.settings.follow_system();
        app.open_first();
        app.start_workspaces();
        app.compilation.start();
        app.problems.follow();
        app.follow_missing();
        app.passes.follow();
        app.drawer.follow_inputs();
        app.output.follow(app.status, app.run);
        app.view.follow_planes(move |event| app.happened(event));
        app.view.follow_look();
        app.view.follow_around();
        app.follow_runs();
        app.follow_clock();
        app.start_shortcuts();
        app.gallery.follow();
        app.follow_address();
        app.reference.follow_words();
        app
    }
}
