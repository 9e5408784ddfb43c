//! The levels of the compiler, one to three side by side.

pub mod passes;
pub mod pipeline;

use std::sync::Arc;

use isobar_compiler::pipeline::Stage;
use isobar_page_model::compilation::Freshness;
use isobar_page_model::difference::{DiffMark, DiffView};
use isobar_page_model::links;
use isobar_page_model::open::OpenStages;
use isobar_page_model::picks::Pick;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::highlight;
use crate::state::difference::seen;
use crate::state::journey::about;
use crate::state::remarks::beside;
use crate::state::use_app;
use crate::widgets::later::Later;
use crate::widgets::listing::{LineMark, Listing, OffScreen};
use passes::{Gone, Skipped};
use pipeline::Pipeline;

/// As the listing draws it.
fn drawn(mark: DiffMark) -> LineMark {
    match mark {
        DiffMark::Same => LineMark::Same,
        DiffMark::Removed => LineMark::Removed,
        DiffMark::Added => LineMark::Added,
        DiffMark::Fold => LineMark::Fold,
    }
}

/// Tabs and open stages. Reads and changes which are open.
#[component]
pub fn StagesPane() -> impl IntoView {
    let app = use_app();
    let open = app.layout.open;
    let is_full = move || open.with(OpenStages::is_full);
    view! {
        <section class="pane pane-stages" aria-label=t!("stages")>
            <h2 class="visually-hidden">{t!("stages-levels")}</h2>
            <div class="pane-head">
                <Pipeline />
                <button
                    type="button"
                    class="quiet"
                    data-testid="stage-add"
                    title=t!("stages-add-about")
                    disabled=is_full
                    on:click=move |_| {
                        let all = untrack(|| app.compilation.shown_stages());
                        open.update(|it| it.add(&all));
                    }
                >
                    {t!("stages-add")}
                </button>
            </div>
            <Skipped />
            <div class="stages">
                {Stage::ALL.into_iter().map(|stage| view! { <StagePane stage=stage /> }).collect_view()}
            </div>
        </section>
    }
}

/// The place of a stage: what is in it is made when the stage is opened first. Reads which stages are open.
#[component]
fn StagePane(stage: Stage) -> impl IntoView {
    let app = use_app();
    let shown = app.compilation.stage(stage);
    let open = app.layout.open;
    let place = Memo::new(move |_| open.with(|it| it.place(stage)));
    let is_open = Memo::new(move |_| place.get().is_some());
    let was_open = Memo::new(move |before: Option<&bool>| before.copied().unwrap_or(false) || is_open.get());
    let freshness = Memo::new(move |_| shown.with(|it| it.freshness));
    view! {
        <section
            class="stage"
            role="tabpanel"
            id=format!("stage-{stage}")
            aria-label=stage.title()
            data-testid=format!("stage-pane-{stage}")
            data-revision=move || shown.with(|it| it.revision.to_string())
            data-state=move || freshness.get().name()
            data-active=move || open.with(|it| it.active() == stage).then_some("true")
            hidden=move || !is_open.get()
            style:order=move || place.get().unwrap_or(0).to_string()
            on:pointerdown=move |_| if open.with_untracked(|it| it.active() != stage) {
                open.update(|it| it.activate(stage));
            }
        >
            <Show when=move || was_open.get()>
                <StageBody stage=stage is_open=is_open freshness=freshness />
            </Show>
        </section>
    }
}

/// One stage: its text, or why there is none. Reads the stage and what is lit; tells what is pointed at.
#[component]
fn StageBody(
    stage: Stage,
    /// Whether anybody sees it: nothing is found out for a stage that is not.
    is_open: Memo<bool>,
    freshness: Memo<Freshness>,
) -> impl IntoView {
    let app = use_app();
    let shown = app.compilation.stage(stage);
    let open = app.layout.open;
    let off_screen = RwSignal::new(OffScreen::default());
    let follow = RwSignal::new(0_u32);
    // The level around a pass, where one is picked.
    let look = app.passes.look(stage);
    provide_context(stage);
    let is_around = move || look.pick.with(|it| *it != Pick::AfterAll);
    let around = Memo::new(move |_| {
        let around = look.around.get().filter(|_| is_around());
        around.map(|it| seen(&it, look.side.get())).unwrap_or_default()
    });
    let text = Memo::new(move |_| {
        if is_around() {
            around.with(|it| Arc::<str>::from(it.text.text.as_str()))
        } else {
            shown.with(|it| Arc::<str>::from(it.text.text.as_str()))
        }
    });
    // The surroundings of generated code are folded: the text opens where the stencil begins.
    let prelude = Memo::new(move |_| {
        if is_around() {
            return 0;
        }
        shown.with(|it| highlight::prelude(stage, &it.text.text, links::first_line(&it.text)))
    });
    let finds = RwSignal::new(false);
    let wraps = app.settings.wraps_stages;
    let marks =
        Memo::new(move |_| around.with(|it| it.marks.iter().map(|it| drawn(*it)).collect::<Vec<_>>()));
    let lit = Memo::new(move |_| {
        if !is_open.get() {
            return Vec::new();
        }
        let links = app.lit();
        if is_around() {
            around.with(|it| links::lines_of(&it.text, &links))
        } else {
            shown.with(|it| links::lines_of(&it.text, &links))
        }
    });
    // After a click in another pane, the text around the picked pass may arrive only now.
    Effect::new(move |_| {
        if around.with(|it| !it.marks.is_empty()) && app.compilation.pinned.with_untracked(Option::is_some) {
            request_animation_frame(move || follow.update(|it| *it += 1));
        }
    });
    // The remarks of the picked pass, beside the lines that they are about.
    let notes = Memo::new(move |_| {
        let Pick::Pass(pass) = look.pick.get() else { return Vec::new() };
        around.with(|around| app.passes.entries.with(|it| beside(&around.text, it, &pass)))
    });
    // A click in another pane, or on the chip, brings the lit lines here into view.
    Effect::new(move |_| {
        if app.compilation.pinned.with(Option::is_some)
            && app.compilation.pointed.with_untracked(Option::is_none)
        {
            follow.update(|it| *it += 1);
        }
    });
    let links_of = move |line: u32| {
        if untrack(is_around) {
            around.with_untracked(|it| links::at_line(&it.text, line))
        } else {
            shown.with_untracked(|it| links::at_line(&it.text, line))
        }
    };
    let point = move |line: Option<u32>| app.point_at(line.map(links_of).filter(|it| !it.is_empty()));
    let pick = move |line: u32| {
        let is_fold = marks.with_untracked(|it| it.get(line as usize) == Some(&LineMark::Fold));
        if is_fold { app.passes.choose_side(stage, DiffView::Whole) } else { app.pin(links_of(line)) }
    };
    let note = move || match freshness.get() {
        Freshness::Waiting => Some(t!("stages-compiling")),
        Freshness::Stale => Some(t!("stale")),
        Freshness::Fresh | Freshness::Refused => None,
    };
    let empty = move || {
        let is_empty = text.with(|it| it.is_empty());
        is_empty.then(|| match freshness.get() {
            Freshness::Waiting => {
                view! { <p class="empty" role="status">{t!("stages-compiling")}</p> }.into_any()
            }
            Freshness::Fresh if is_around() => {
                view! { <p class="empty" role="status">{t!("stages-watched")}</p> }.into_any()
            }
            _ => {
                let errors = app.compilation.n_errors();
                let why = match errors {
                    0 if app.compilation.stencils.with(|it| it.is_empty()) => {
                        t!("stages-no-stencil").to_owned()
                    }
                    0 => t!("stages-not-reached").to_owned(),
                    n => t!("stages-not-made", count = n),
                };
                view! { <p class="empty">{why}</p> }.into_any()
            }
        })
    };
    let chip = move || {
        let OffScreen { above, below } = off_screen.get();
        (above + below > 0).then(|| {
            let text = match (above, below) {
                (0, below) => format!("↓ {below}"),
                (above, 0) => format!("↑ {above}"),
                (above, below) => format!("↑ {above} ↓ {below}"),
            };
            view! {
                <button
                    type="button"
                    class="chip"
                    title=t!("stages-lit")
                    on:click=move |_| follow.update(|it| *it += 1)
                >
                    {text}
                </button>
            }
        })
    };
    view! {
            <header class="stage-head">
                <h3 tabindex="0" data-term=stage.name() aria-describedby="term-card">{stage.title()}</h3>
                <span class="muted stage-about">{about(stage)}</span>
                <span class="stage-note">{note}</span>
                {chip}
                <Show when=move || stage.has_passes()>
                    <button
                        type="button"
                        class="quiet"
                        data-testid=format!("passes-toggle-{stage}")
                        title=t!("stages-passes-about")
                        aria-expanded=move || if look.is_open.get() { "true" } else { "false" }
                        aria-controls=format!("passes-{stage}")
                        on:click=move |_| app.passes.toggle(stage)
                    >
                        {t!("stages-passes")}
                        " "
                        <span aria-hidden="true">{move || if look.is_open.get() { "▴" } else { "▾" }}</span>
                    </button>
                </Show>
                <button
                    type="button"
                    class="quiet toggle"
                    data-testid=format!("stage-find-{stage}")
                    title=t!("stages-find-about")
                    aria-expanded=move || if finds.get() { "true" } else { "false" }
                    on:click=move |_| finds.update(|it| *it = !*it)
                >
                    {t!("stages-find")}
                </button>
                <button
                    type="button"
                    class="quiet toggle"
                    data-testid=format!("stage-wrap-{stage}")
                    title=t!("stages-wrap-about")
                    aria-pressed=move || if wraps.get() { "true" } else { "false" }
                    on:click=move |_| app.settings.wrap_stages(!wraps.get_untracked())
                >
                    {t!("wrap")}
                </button>
                <button
                    type="button"
                    class="quiet"
                    title=t!("stages-copy-about")
                    on:click=move |_| app.copy_text(text.get_untracked().to_string())
                >
                    {t!("stages-copy")}
                </button>
                {(stage == Stage::SDFG)
                    .then(|| view! {
                        <button
                            type="button"
                            class="quiet"
                            data-testid="save-graph"
                            title=t!("stages-save-graph-about")
                            on:click=move |_| app.save_graph()
                        >
                            {t!("stages-save-graph")}
                        </button>
                    })}
                <Show when=move || open.with(|it| it.stages().len() > 1)>
                    <button
                        type="button"
                        class="quiet"
                        aria-label=t!("stages-close", stage = stage.title())
                        on:click=move |_| open.update(|it| it.close(stage))
                    >
                        "✕"
                    </button>
                </Show>
            </header>
            {stage.has_passes().then(|| view! { <Later name="passes" when=look.is_open /> })}
            <Gone stage=stage is_lit=Signal::derive(move || lit.with(|it| !it.is_empty())) />
            {empty}
            <Listing
                id=format!("listing-{stage}")
                label=Signal::derive(move || t!("stages-text", stage = stage.title()))
                text=text.into()
                marks=marks.into()
                lit=lit.into()
                notes=notes.into()
                painter=highlight::painter(stage)
                prelude=prelude.into()
                wraps=wraps.into()
                finds=finds
                on_point=point
                on_pick=pick
                follow=follow.into()
                off_screen=off_screen
            />
    }
}
