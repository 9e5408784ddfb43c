//! The levels as the way that they are: what happened on each, and which are open.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::journey::leg;
use isobar_page_model::open::OpenStages;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::pipeline::{caption, words};
use crate::state::App;
use crate::state::journey::{beside, way};
use crate::state::use_app;
use crate::widgets::direction::read;

/// The levels in two rows of tabs: the way, and what is made beside it. Reads what the passes did; opens stages.
#[component]
pub fn Pipeline() -> impl IntoView {
    let app = use_app();
    let all: Vec<Stage> = [Stage::PROGRAM].into_iter().chain(way()).chain(beside()).collect();
    let of_keys = all.clone();
    let is_program = Memo::new(move |_| app.compilation.is_program());
    // Arrows move along both rows, which are one list of tabs.
    let on_key = move |event: KeyboardEvent| {
        let active = app.layout.open.with_untracked(OpenStages::active);
        let is_there = |it: &&Stage| **it != Stage::PROGRAM || is_program.get_untracked();
        let of_keys: Vec<Stage> = of_keys.iter().filter(is_there).copied().collect();
        let at = of_keys.iter().position(|it| *it == active).unwrap_or(0);
        let last = of_keys.len() - 1;
        let to = match read(&event.key()) {
            "ArrowRight" => (at + 1) % of_keys.len(),
            "ArrowLeft" => at.checked_sub(1).unwrap_or(last),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        app.choose_stage_and_focus(of_keys[to]);
    };
    let n_way = way().len();
    let tabs: Vec<_> = all
        .into_iter()
        .enumerate()
        .map(|(at, stage)| tab(app, stage, (1..=n_way).contains(&at), is_program))
        .collect();
    view! {
        <div class="pipeline" role="tablist" aria-label=t!("stages") data-testid="stage-tabs" on:keydown=on_key>
            {tabs.into_iter().collect_view()}
        </div>
    }
}

fn tab(app: App, stage: Stage, is_on_way: bool, is_program: Memo<bool>) -> impl IntoView {
    let open = app.layout.open;
    let of_stage = Memo::new(move |_| {
        let domain = app.domain();
        app.compilation.remarks.with(|remarks| {
            app.compilation.tombstones.with(|tombstones| leg(stage.name(), remarks, tombstones, domain))
        })
    });
    let is_chosen = move || open.with(|it| it.active() == stage);
    view! {
        <button
            type="button"
            role="tab"
            class="pipeline-tab"
            class:beside=!is_on_way
            class:of-program=stage == Stage::PROGRAM
            class:of-definition=stage == Stage::DEFINITION
            hidden=move || stage == Stage::PROGRAM && !is_program.get()
            id=format!("stage-tab-{stage}")
            data-testid=format!("stage-tab-{stage}")
            aria-controls=format!("stage-{stage}")
            aria-selected=move || if is_chosen() { "true" } else { "false" }
            data-open=move || open.with(|it| it.place(stage).is_some()).then_some("true")
            tabindex=move || if is_chosen() { "0" } else { "-1" }
            title=move || of_stage.with(|it| words(stage, it, untrack(|| app.domain())))
            on:click=move |_| app.layout.choose_stage(stage)
        >
            <span class="pipeline-name">{stage.title()}</span>
            {is_on_way
                .then(|| view! {
                    <span class="pipeline-told number" data-testid=format!("told-{stage}")>{move || of_stage.with(caption)}</span>
                })}
        </button>
    }
}
