//! The levels as the way that they are: what happened on each, and which are open.

use isobar_compiler::pipeline::Stage;
use isobar_protocol::compile::bytes;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::bridge::locale::{decimal, t};
use crate::state::App;
use crate::state::journey::{Leg, about, beside, leg, way};
use crate::state::use_app;
use crate::widgets::direction::read;

/// What stands below the name of a level.
fn caption(leg: &Leg) -> String {
    match (leg.traffic, leg.changed) {
        (Some([before, after]), _) => format!("{} → {}", short_bytes(before), short_bytes(after)),
        (None, 0) => String::new(),
        (None, n) => t!("stages-statements", count = n),
    }
}

/// Without a decimal: `138 MB`.
fn short_bytes(n: f64) -> String {
    let text = bytes(n);
    let whole = text.split_once(' ').and_then(|(number, unit)| {
        let number = number.parse::<f64>().ok().filter(|it| *it >= 10.0)?;
        Some(format!("{number:.0} {unit}"))
    });
    whole.unwrap_or_else(|| decimal(text))
}

/// All that is known of a level, in words.
fn words(stage: Stage, leg: &Leg, [i, j, k]: [i64; 3]) -> String {
    let mut words = format!("{}: {}", stage.title(), about(stage));
    if leg.changed > 0 {
        words.push_str(". ");
        words.push_str(&t!("stages-changed-by", count = leg.changed, passes = leg.passes.join(", ")));
    }
    if let Some([before, after]) = leg.traffic {
        words.push_str(". ");
        words.push_str(&t!(
            "stages-traffic",
            after = decimal(bytes(after)),
            before = decimal(bytes(before)),
            i = i,
            j = j,
            k = k,
        ));
    }
    words
}

/// The levels in two rows of tabs: the way, and what is made beside it. Reads what the passes did; opens stages.
#[component]
pub fn Pipeline() -> impl IntoView {
    let app = use_app();
    let all: Vec<Stage> = way().into_iter().chain(beside()).collect();
    let of_keys = all.clone();
    // Arrows move along both rows, which are one list of tabs.
    let on_key = move |event: KeyboardEvent| {
        let active = app.layout.open.with_untracked(|it| it.stages.get(it.active).copied());
        let at = of_keys.iter().position(|it| Some(*it) == active).unwrap_or(0);
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
    let tabs: Vec<_> = all.into_iter().enumerate().map(|(at, stage)| tab(app, stage, at < n_way)).collect();
    view! {
        <div class="pipeline" role="tablist" aria-label=t!("stages") data-testid="stage-tabs" on:keydown=on_key>
            {tabs.into_iter().collect_view()}
        </div>
    }
}

fn tab(app: App, stage: Stage, is_on_way: bool) -> impl IntoView {
    let open = app.layout.open;
    let of_stage = Memo::new(move |_| {
        let domain = app.domain();
        app.compilation.remarks.with(|remarks| {
            app.compilation.tombstones.with(|tombstones| leg(stage, remarks, tombstones, domain))
        })
    });
    let is_chosen = move || open.with(|it| it.stages.get(it.active) == Some(&stage));
    view! {
        <button
            type="button"
            role="tab"
            class="pipeline-tab"
            class:beside=!is_on_way
            id=format!("stage-tab-{stage}")
            data-testid=format!("stage-tab-{stage}")
            aria-controls=format!("stage-{stage}")
            aria-selected=move || if is_chosen() { "true" } else { "false" }
            data-open=move || open.with(|it| it.stages.contains(&stage)).then_some("true")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_is_short() {
        let mut leg = Leg { changed: 1, ..Leg::default() };
        assert_eq!(caption(&leg), "1 statement");
        leg.traffic = Some([138.29e6, 32.12e6]);
        assert_eq!(caption(&leg), "138 MB → 32 MB");
        assert_eq!(caption(&Leg::default()), "");
    }
}
