//! The frame of panes.

use leptos::prelude::*;

use crate::panes::bar::Bar;
use crate::panes::editor::EditorPane;
use crate::panes::help::HelpDialog;
use crate::panes::inputs::Inputs;
use crate::panes::notices::Notices;
use crate::panes::problems::Problems;
use crate::panes::result::ResultPane;
use crate::panes::share::ShareDialog;
use crate::panes::stages::StagesPane;
use crate::panes::strip::Strip;
use crate::state::App;
use crate::state::layout::Tab;
use crate::widgets::split::Handle;
use crate::widgets::tabs::{Choice, Tabs};

/// Puts the page into the document.
pub fn mount() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(Page);
}

/// The whole page. Reads layout and revisions; everything else is the panes' own.
#[component]
pub fn Page() -> impl IntoView {
    let app = App::start();
    let columns = move || {
        let (editor, result) = (app.layout.editor_part.get(), app.layout.result_part.get());
        let stages = 1.0 - editor - result;
        format!("minmax(0, {editor}fr) auto minmax(0, {stages}fr) auto minmax(0, {result}fr)")
    };
    let views: Vec<Choice> = Tab::ALL.iter().map(|it| Choice::new(it.name(), it.title())).collect();
    let choose_view = move |name: String| {
        if let Some(tab) = Tab::ALL.into_iter().find(|it| it.name() == name) {
            app.layout.tab.set(tab);
        }
    };
    view! {
        <div
            class="app"
            data-testid="app"
            data-tab=move || app.layout.tab.get().name()
            data-ready=move || (app.compilation.revision.get() > 0).then_some("true")
            data-revision=move || app.project.revision.get().to_string()
        >
            <button type="button" class="skip" on:click=move |_| app.focus_editor()>"Skip to the editor"</button>
            <Bar />
            <Notices />
            <main class="columns" style:grid-template-columns=columns>
                <div class="column column-code">
                    <EditorPane />
                    <Inputs />
                    <Problems />
                </div>
                <Handle label="Width of the editor" on_move=move |by| app.layout.move_editor_edge(by) />
                <div class="column column-stages">
                    <StagesPane />
                </div>
                <Handle label="Width of the results" on_move=move |by| app.layout.move_result_edge(by) />
                <div class="column column-result">
                    <ResultPane />
                </div>
            </main>
            <Strip />
            <nav class="views" aria-label="Views">
                <Tabs
                    label="Views"
                    choices=views
                    chosen=Signal::derive(move || app.layout.tab.get().name().to_owned())
                    on_choose=choose_view
                />
            </nav>
            <ShareDialog />
            <HelpDialog />
        </div>
    }
}
