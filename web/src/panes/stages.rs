//! The levels of the compiler, one to three side by side.

pub mod passes;

use isobar_compiler::pipeline::Stage;
use leptos::prelude::*;

use super::highlight;
use crate::state::compilation::Freshness;
use crate::state::difference::{self, Side, seen};
use crate::state::layout::MOST_STAGES;
use crate::state::links;
use crate::state::passes::Pick;
use crate::state::remarks::beside;
use crate::state::use_app;
use crate::widgets::listing::{Listing, Mark, OffScreen};
use crate::widgets::tabs::{Choice, Tabs};
use passes::{Gone, PassList, Skipped};

fn choice(stage: Stage) -> Choice {
    Choice {
        test_id: Some(format!("stage-tab-{stage}")),
        controls: Some(format!("stage-{stage}")),
        ..Choice::new(stage.name(), stage.title())
    }
}

/// As the listing draws it.
fn drawn(mark: difference::Mark) -> Mark {
    match mark {
        difference::Mark::Same => Mark::Same,
        difference::Mark::Removed => Mark::Removed,
        difference::Mark::Added => Mark::Added,
        difference::Mark::Fold => Mark::Fold,
    }
}

/// Tabs and open stages. Reads and changes which are open.
#[component]
pub fn StagesPane() -> impl IntoView {
    let app = use_app();
    let open = app.layout.open;
    let active = Signal::derive(move || {
        open.with(|it| it.stages.get(it.active).map_or("", |it| it.name()).to_owned())
    });
    let all =
        Signal::derive(move || open.with(|it| it.stages.iter().map(|it| it.name().to_owned()).collect()));
    let is_full = move || open.with(|it| it.stages.len() >= MOST_STAGES);
    let tabs: Vec<Choice> = Stage::ALL.into_iter().map(choice).collect();
    let choose = move |name: String| {
        if let Some(stage) = Stage::from_name(&name) {
            app.layout.choose_stage(stage);
        }
    };
    view! {
        <section class="pane pane-stages" aria-label="Stages">
            <div class="pane-head">
                <Tabs
                    label="Stages"
                    test_id="stage-tabs"
                    choices=tabs
                    chosen=active
                    open=all
                    on_choose=choose
                />
                <button
                    type="button"
                    class="quiet"
                    data-testid="stage-add"
                    title="Show one stage more beside this one"
                    disabled=is_full
                    on:click=move |_| open.update(|it| it.add())
                >
                    "+ Pane"
                </button>
            </div>
            <Skipped />
            <div class="stages">
                {Stage::ALL.into_iter().map(|stage| view! { <StagePane stage=stage /> }).collect_view()}
            </div>
        </section>
    }
}

/// One stage: its text, or why there is none. Reads the stage and what is lit; tells what is pointed at.
#[component]
fn StagePane(stage: Stage) -> impl IntoView {
    let app = use_app();
    let shown = app.compilation.stage(stage);
    let open = app.layout.open;
    let place = Memo::new(move |_| open.with(|it| it.stages.iter().position(|it| *it == stage)));
    let is_open = move || place.get().is_some();
    let freshness = Memo::new(move |_| shown.with(|it| it.freshness));
    let off_screen = RwSignal::new(OffScreen::default());
    let follow = RwSignal::new(0_u32);
    // The level around a pass, where one is picked.
    let look = app.passes.look(stage);
    let is_around = move || look.pick.with(|it| *it != Pick::AfterAll);
    let around = Memo::new(move |_| {
        let around = look.around.get().filter(|_| is_around());
        around.map(|it| seen(&it, look.side.get())).unwrap_or_default()
    });
    let text = Memo::new(move |_| {
        if is_around() {
            around.with(|it| it.text.text.clone())
        } else {
            shown.with(|it| it.text.text.clone())
        }
    });
    let marks =
        Memo::new(move |_| around.with(|it| it.marks.iter().map(|it| drawn(*it)).collect::<Vec<_>>()));
    let lit = Memo::new(move |_| {
        let links = app.lit();
        if is_around() {
            around.with(|it| links::lines_of(&it.text, &links))
        } else {
            shown.with(|it| links::lines_of(&it.text, &links))
        }
    });
    // What was clicked elsewhere may come into this pane only now, with the pass that was picked for it.
    Effect::new(move |_| {
        if around.with(|it| !it.marks.is_empty()) && app.compilation.pinned.with_untracked(Option::is_some) {
            request_animation_frame(move || follow.update(|it| *it += 1));
        }
    });
    // What the picked pass says, beside the lines that it says it of.
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
        let is_fold = marks.with_untracked(|it| it.get(line as usize) == Some(&Mark::Fold));
        if is_fold { look.side.set(Side::Whole) } else { app.pin(links_of(line)) }
    };
    let note = move || match freshness.get() {
        Freshness::Waiting => Some("Compiling …".to_owned()),
        Freshness::Stale => Some("from before your edit".to_owned()),
        Freshness::Fresh | Freshness::Refused => None,
    };
    let empty = move || {
        let is_empty = text.with(String::is_empty);
        is_empty.then(|| match freshness.get() {
            Freshness::Waiting => view! { <p class="empty" role="status">"Compiling …"</p> }.into_any(),
            Freshness::Fresh if is_around() => {
                view! { <p class="empty" role="status">"The passes are watched …"</p> }.into_any()
            }
            _ => {
                let errors = app.compilation.n_errors();
                let why = match errors {
                    0 => "This stage was not reached.".to_owned(),
                    1 => "Not made: the text has an error. It stands under the text.".to_owned(),
                    n => format!("Not made: the text has {n} errors. They stand under the text."),
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
                    title="Lit lines out of view: click to go there"
                    on:click=move |_| follow.update(|it| *it += 1)
                >
                    {text}
                </button>
            }
        })
    };
    view! {
        <section
            class="stage"
            role="tabpanel"
            id=format!("stage-{stage}")
            aria-label=stage.title()
            data-testid=format!("stage-pane-{stage}")
            data-revision=move || shown.with(|it| it.revision.to_string())
            data-state=move || freshness.get().name()
            data-active=move || open.with(|it| it.stages.get(it.active) == Some(&stage)).then_some("true")
            hidden=move || !is_open()
            style:order=move || place.get().unwrap_or(0).to_string()
            on:pointerdown=move |_| if let Some(at) = place.get_untracked()
                && open.with_untracked(|it| it.active != at) {
                    open.update(|it| it.active = at);
                }
        >
            <header class="stage-head">
                <h3>{stage.title()}</h3>
                <span class="muted stage-about">{stage.about()}</span>
                <span class="stage-note">{note}</span>
                {chip}
                <Show when=move || stage.has_passes()>
                    <button
                        type="button"
                        class="quiet"
                        data-testid=format!("passes-toggle-{stage}")
                        title="What each pass changed"
                        aria-expanded=move || if look.is_open.get() { "true" } else { "false" }
                        aria-controls=format!("passes-{stage}")
                        on:click=move |_| app.toggle_passes(stage)
                    >
                        "Passes "
                        <span aria-hidden="true">{move || if look.is_open.get() { "▴" } else { "▾" }}</span>
                    </button>
                </Show>
                <button
                    type="button"
                    class="quiet"
                    title="Copy the text of this stage"
                    on:click=move |_| app.copy_text(text.get_untracked())
                >
                    "Copy"
                </button>
                <Show when=move || open.with(|it| it.stages.len() > 1)>
                    <button
                        type="button"
                        class="quiet"
                        aria-label=format!("Close {}", stage.title())
                        on:click=move |_| open.update(|it| it.close(stage))
                    >
                        "✕"
                    </button>
                </Show>
            </header>
            {stage.has_passes().then(|| view! { <PassList stage=stage /> })}
            <Gone stage=stage is_lit=Signal::derive(move || lit.with(|it| !it.is_empty())) />
            {empty}
            <Listing
                label=Signal::derive(move || format!("Text of {}", stage.title()))
                text=text.into()
                marks=marks.into()
                lit=lit.into()
                notes=notes.into()
                paint=highlight::paint
                on_point=point
                on_pick=pick
                follow=follow.into()
                off_screen=off_screen
            />
        </section>
    }
}
