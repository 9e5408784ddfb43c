//! The frame of panes.

pub mod second;

use isobar_page_model::route::Route;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::panes::bar::Bar;
use crate::panes::drawer::{Drawer, DrawerPanel};
use crate::panes::editor::EditorPane;
use crate::panes::files::FileTabs;
use crate::panes::guide::Guide;
use crate::panes::head::HeadCard;
use crate::panes::notices::Notices;
use crate::panes::problems::Problems;
use crate::panes::result::ResultPane;
use crate::panes::stages::StagesPane;
use crate::panes::strip::Strip;
use crate::panes::symbols::Symbols;
use crate::panes::term::TermCard;
use crate::state::App;
use crate::state::drawer::DrawerList;
use crate::state::layout::{EDITOR_PART, RESULT_PART, Tab};
use crate::widgets::later::{Later, LazyPanes, PanesLoader};
use crate::widgets::split::{Edge, Handle};
use crate::widgets::tabs::{TabChoice, Tabs};

/// Puts the page into the document; `load` gets its second part.
pub fn mount(load: PanesLoader) {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(move || view! { <Page load=load /> });
}

/// The whole page. Reads layout and revisions; everything else is the panes' own.
#[component]
pub fn Page(load: PanesLoader) -> impl IntoView {
    let app = App::start();
    provide_context(LazyPanes::new(load));
    let view_name = move || app.learn.route.with(Route::name);
    let columns = move || {
        // A lesson, the text, and what answers: the style sheet takes out what is not wanted.
        if app.learn.is_lesson() {
            return "minmax(0, 30fr) minmax(0, 38fr) minmax(0, 32fr)".to_owned();
        }
        let (editor, result) = (app.layout.editor_part.get(), app.layout.result_part.get());
        let stages = 1.0 - editor - result;
        format!("minmax(0, {editor}fr) auto minmax(0, {stages}fr) auto minmax(0, {result}fr)")
    };
    let views: Vec<TabChoice> = Tab::ALL.iter().map(|it| TabChoice::new(it.name(), it.title())).collect();
    let choose_view = move |name: String| {
        if let Some(tab) = Tab::ALL.into_iter().find(|it| it.name() == name) {
            app.layout.tab.set(tab);
            app.to_top();
            if tab == Tab::Learn {
                app.go_learn();
            } else {
                app.back_to_text();
            }
        }
    };
    let shows = move |of: DrawerList| Signal::derive(move || app.drawer.below() == of);
    let offers = Signal::derive(move || app.sharing.offer.with(Option::is_some));
    view! {
        <div
            class="app"
            data-testid="app"
            data-tab=move || app.layout.tab.get().name()
            data-view=view_name
            data-present=move || app.learn.presents.get().then_some("true")
            data-lesson-shows=move || if app.layout.lesson_shows_stages.get() { "stages" } else { "result" }
            data-opening=move || app.gallery.is_opening.get().then_some("true")
            data-ready=move || (app.compilation.revision.get() > 0).then_some("true")
            data-revision=move || app.project.revision.get().to_string()
        >
            <button type="button" class="skip" data-testid="skip-editor" on:click=move |_| app.focus_pane(0)>{t!("app-skip")}</button>
            <button type="button" class="skip" data-testid="skip-stages" on:click=move |_| app.focus_pane(1)>{t!("app-skip-stages")}</button>
            <button type="button" class="skip" data-testid="skip-result" on:click=move |_| app.focus_pane(2)>{t!("app-skip-result")}</button>
            <Bar />
            <Notices />
            <Show when=move || app.learn.route.with(|it| *it == Route::Learn)><Later name="learn" /></Show>
            <Show when=move || app.learn.route.with(|it| matches!(it, Route::Gallery(_)))><Later name="gallery" /></Show>
            <Show when=move || app.learn.route.with(|it| matches!(it, Route::Manual(..)))><Later name="manual" /></Show>
            <main class="columns" style:grid-template-columns=columns>
                <Show when=move || app.learn.is_lesson()>
                    <div class="column column-lesson"><Later name="lesson" /></div>
                </Show>
                <div class="column column-code">
                    <FileTabs />
                    <HeadCard />
                    <EditorPane />
                    <Symbols />
                    <Drawer>
                        <DrawerPanel of=DrawerList::Problems><Guide /><Problems /></DrawerPanel>
                        <DrawerPanel of=DrawerList::Inputs>
                            <Later name="inputs" when=shows(DrawerList::Inputs) />
                        </DrawerPanel>
                        <DrawerPanel of=DrawerList::Output>
                            <Later name="output" when=shows(DrawerList::Output) />
                        </DrawerPanel>
                    </Drawer>
                </div>
                <Handle
                    label=t!("app-width-editor")
                    edge=Edge::Upright
                    place=app.layout.editor_part
                    range=Signal::derive(move || app.layout.editor_range())
                    on_move=move |by| app.layout.move_editor_edge(by)
                    on_reset=move || app.layout.editor_part.set(EDITOR_PART)
                />
                <div class="column column-stages">
                    <StagesPane />
                </div>
                <Handle
                    label=t!("app-width-results")
                    edge=Edge::Upright
                    place=Signal::derive(move || 1.0 - app.layout.result_part.get())
                    range=Signal::derive(move || app.layout.result_range())
                    on_move=move |by| app.layout.move_result_edge(by)
                    on_reset=move || app.layout.result_part.set(RESULT_PART)
                />
                <div class="column column-result">
                    <ResultPane />
                </div>
            </main>
            <Strip />
            <nav class="views" aria-label=t!("app-views")>
                <Tabs
                    label=t!("app-views")
                    choices=views
                    chosen=Signal::derive(move || {
                        app.learn.route.with(|it| match it {
                            Route::Learn => Tab::Learn.name(),
                            // None of the views is one of them.
                            Route::Gallery(_) | Route::Manual(..) => "",
                            Route::Editor | Route::Lesson { .. } => app.layout.tab.get().name(),
                        })
                        .to_owned()
                    })
                    on_choose=choose_view
                />
            </nav>
            <Later name="share" when=offers />
            <Later name="help" when=app.layout.help_open />
            <TermCard />
        </div>
    }
}
