//! Time: play, pause, one step; and the scalars as sliders, which the picture follows.

use isobar_page_model::inputs::ValueInput;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::slider::around;
use crate::plots::number::{milliseconds, short};
use crate::state::use_app;

/// No more scalars than these are sliders; all of them stand among the inputs.
const MOST_SLIDERS: usize = 4;
/// Positions of a slider.
const POSITIONS: f64 = 200.0;

/// The row below the picture. Reads clock and scalars; takes steps and sets scalars.
#[component]
pub fn ClockPane() -> impl IntoView {
    let app = use_app();
    let clock = app.clock;
    let has_steps = Memo::new(move |_| app.has_steps());
    let is_playing = move || clock.is_playing.get();
    let told = move || match (clock.step.get(), clock.ms.get()) {
        (Some(step), Some(ms)) => t!("clock-step-each", step = step, time = milliseconds(ms)),
        (Some(step), None) => t!("clock-step", step = step),
        (None, _) => t!("clock-about").to_owned(),
    };
    view! {
        <Show when=move || has_steps.get()>
            <div class="clock" role="group" aria-label=t!("clock-steps")>
                <div class="joined">
                    <button
                        type="button"
                        class="clock-play"
                        data-testid="play"
                        aria-pressed=move || if is_playing() { "true" } else { "false" }
                        aria-label=move || if is_playing() { t!("clock-pause") } else { t!("clock-play-about") }
                        title=move || if is_playing() { t!("clock-pause") } else { t!("clock-play") }
                        disabled=move || !is_playing() && !app.can_step()
                        on:click=move |_| app.toggle_playing()
                    >
                        <svg class="icon" viewBox="0 0 12 12" aria-hidden="true">
                            {move || {
                                let path = if is_playing() { "M2 1h3v10h-3zM7 1h3v10h-3z" } else { "M2 1l9 5-9 5z" };
                                view! { <path d=path fill="currentColor" /> }
                            }}
                        </svg>
                    </button>
                    <button
                        type="button"
                        data-testid="step"
                        aria-label=t!("clock-one")
                        title=t!("clock-one-about")
                        disabled=move || !app.can_step()
                        on:click=move |_| app.step_once()
                    >
                        <svg class="icon" viewBox="0 0 12 12" aria-hidden="true">
                            <path d="M1 1l7 5-7 5zM9 1h2v10h-2z" fill="currentColor" />
                        </svg>
                    </button>
                    <button
                        type="button"
                        data-testid="restart"
                        aria-label=t!("clock-restart")
                        title=t!("clock-restart-about")
                        disabled=move || !app.can_step() || clock.step.with(Option::is_none)
                        on:click=move |_| app.restart()
                    >
                        <svg class="icon" viewBox="0 0 12 12" aria-hidden="true">
                            <path d="M1 1h2v10h-2zM11 1l-7 5 7 5z" fill="currentColor" />
                        </svg>
                    </button>
                </div>
                <span
                    class="muted number"
                    data-testid="clock"
                    data-step=move || clock.step.get().map(|it| it.to_string())
                    data-playing=move || is_playing().then_some("true")
                >
                    {told}
                </span>
            </div>
        </Show>
        <Sliders />
    }
}

#[component]
fn Sliders() -> impl IntoView {
    let app = use_app();
    // Which there are, apart from their values: a slider that is being moved is not made anew.
    let names = Memo::new(move |_| {
        // Of integers, those whose text gives a range.
        let has_range = |name: &str| app.compilation.defaults.with(|it| it.ranges.contains_key(name));
        let rows = app
            .scalars()
            .into_iter()
            .filter(|it| it.is_float() || it.is_integer() && has_range(&it.name))
            .filter(|it| it.shown().parse::<f64>().is_ok());
        rows.map(|it| it.name).take(MOST_SLIDERS).collect::<Vec<_>>()
    });
    view! {
        <Show when=move || !names.with(Vec::is_empty)>
            <div class="sliders" role="group" aria-label=t!("scalars")>
                {move || names.get().into_iter().map(slider).collect_view()}
            </div>
        </Show>
    }
}

fn slider(name: String) -> impl IntoView {
    let app = use_app();
    let of_name = name.clone();
    let row = Memo::new(move |_| app.scalars().into_iter().find(|it| it.name == of_name));
    let value = Memo::new(move |_| row.with(|it| it.as_ref().and_then(|it| it.shown().parse::<f64>().ok())));
    let of_name = name.clone();
    let range = Memo::new(move |_| {
        let told = app.compilation.defaults.with(|it| it.ranges.get(&of_name).copied());
        let own = row.with(|it| it.as_ref().and_then(|it| it.own()?.0.parse::<f64>().ok()));
        told.unwrap_or_else(|| around(own.or_else(|| value.get_untracked()).unwrap_or(0.0)))
    });
    view! {
        <label class="slider">
            <code>{name.clone()}</code>
            <input
                type="range"
                data-testid=format!("slider-{name}")
                min=move || range.get()[0].to_string()
                max=move || range.get()[1].to_string()
                step=move || {
                    let [low, high] = range.get();
                    let is_integer = row.with(|it| it.as_ref().is_some_and(ValueInput::is_integer));
                    if is_integer { "1".to_owned() } else { ((high - low) / POSITIONS).to_string() }
                }
                prop:value=move || value.get().unwrap_or(0.0).to_string()
                on:input:target=move |event| {
                    if let Some(row) = row.get_untracked() {
                        app.slide(&row, &event.target().value());
                    }
                }
            />
            <output class="number">{move || value.get().map(|it| short(it, 4))}</output>
        </label>
    }
}
