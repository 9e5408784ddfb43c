//! The fields of a result: pictures, numbers, and the way out of the page.

pub mod charts;
pub mod below;
mod describe;
pub mod exports;
pub mod inspector;
pub mod picture;
pub mod statistics;
pub mod table;
pub mod views;

use isobar_protocol::worker::Which;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::plots::number::short;
use crate::state::look::PictureKind;
use crate::state::use_app;

use crate::widgets::later::Later;
use picture::Picturing;
use views::{Position, Views};

/// A picture of the chosen field with its numbers. Reads results and view; changes the view.
#[component]
pub fn FieldPane(
    /// The content between the picture and its numbers.
    children: ChildrenFn,
) -> impl IntoView {
    let app = use_app();
    let children = StoredValue::new(children);
    let has_result = move || app.view.outcome().is_some();
    view! {
        <section class="fields" aria-label=t!("fields")>
            <div class="pane-head">
                <h2>{t!("fields")}</h2>
                <FieldChoice />
                <WhichChoice />
            </div>
            <Show
                when=has_result
                fallback=move || view! {
                    <div class="empty">
                        <p>{t!("field-nothing")}</p>
                        <button
                            type="button"
                            disabled=move || app.run.is_working() || (app.compilation.n_errors() > 0)
                            on:click=move |_| app.run_here()
                        >
                            {t!("field-run")}
                        </button>
                    </div>
                }
            >
                <Views />
                <Provenance />
                <Shown below=children />
            </Show>
        </section>
    }
}

/// The drawing, with its texts and controls.
#[component]
fn Shown(below: StoredValue<ChildrenFn>) -> impl IntoView {
    let app = use_app();
    let drawn = picture::drawn(app);
    provide_context(drawn);
    let is_plane = Memo::new(move |_| app.view.look.kind.get() == PictureKind::Plane);
    view! {
        <div class="field-body" id="field-body" role="tabpanel" aria-label=t!("field-picture")>
            <Position />
            {move || app.view.refused.get().map(|why| view! { <p class="warn" role="status">{why}</p> })}
            {move || {
                if is_plane.get() {
                    view! { <Picturing drawn=drawn /> }.into_any()
                } else {
                    view! { <Later name="charts" /> }.into_any()
                }
            }}
            {below.with_value(|it| it())}
            <Later name="below-the-field" when=false />
        </div>
    }
}

#[component]
fn FieldChoice() -> impl IntoView {
    let app = use_app();
    // Each with its least and its greatest value, by which one is found that is worth a look.
    let named = Memo::new(move |_| {
        let number = |it: Option<f64>| it.map_or_else(|| "–".to_owned(), |it| short(it, 3));
        let text = |it: &isobar_protocol::field::FieldInfo| {
            let found = it.statistics;
            let odd = match (found.nan, found.inf) {
                (0, 0) => "",
                (0, _) => ", Inf",
                (_, 0) => ", NaN",
                _ => ", NaN, Inf",
            };
            format!("{}  {} … {}{odd}", it.name, number(found.min), number(found.max))
        };
        app.view
            .outcome()
            .map(|it| it.fields.iter().map(|it| (it.name.clone(), text(it))).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let chosen = Memo::new(move |_| app.view.shown_field().map(|it| it.name).unwrap_or_default());
    view! {
        <Show when=move || !named.with(Vec::is_empty)>
            <label class="control field-choice">
                <span class="visually-hidden">{t!("field-choice")}</span>
                <select
                    data-testid="field-select"
                    prop:value=move || chosen.get()
                    on:change:target=move |event| app.view.choose_field(event.target().value())
                >
                    {move || named
                        .get()
                        .into_iter()
                        .map(|(name, text)| {
                            let value = name.clone();
                            view! { <option value=value selected=move || chosen.get() == name>{text}</option> }
                        })
                        .collect_view()}
                </select>
            </label>
        </Show>
    }
}

/// A, B, or how they differ.
#[component]
fn WhichChoice() -> impl IntoView {
    let app = use_app();
    let (a, b, which) = (app.run.a, app.run.b, app.view.which);
    let button = move |of: Which, text: &'static str, title: &'static str, is_there: Signal<bool>| {
        let is_pressed = move || which.get() == of || (of == Which::Difference && which.get().is_of_both());
        view! {
            <button
                type="button"
                title=title
                aria-pressed=move || if is_pressed() { "true" } else { "false" }
                disabled=move || !is_there.get()
                on:click=move |_| which.set(of)
            >
                {text}
            </button>
        }
    };
    let has_a = Signal::derive(move || a.with(Option::is_some));
    let has_b = Signal::derive(move || b.with(Option::is_some));
    let has_both = Signal::derive(move || has_a.get() && has_b.get());
    view! {
        <div class="joined" role="group" aria-label=t!("result") data-testid="which">
            {button(Which::A, "A", t!("field-of-tab"), has_a)}
            {button(Which::B, "B", t!("field-of-runner"), has_b)}
            {button(Which::Difference, "A−B", t!("field-of-both"), has_both)}
        </div>
        <Show when=move || which.get().is_of_both()>
            <select
                aria-label=t!("field-difference")
                data-testid="difference-select"
                prop:value=move || match which.get() {
                    Which::Relative => "relative",
                    Which::Ulp => "ulp",
                    Which::A | Which::B | Which::Difference => "difference",
                }
                on:change:target=move |event| which.set(match event.target().value().as_str() {
                    "relative" => Which::Relative,
                    "ulp" => Which::Ulp,
                    _ => Which::Difference,
                })
            >
                <option value="difference">{t!("field-absolute")}</option>
                <option value="relative">{t!("field-relative")}</option>
                <option value="ulp">{t!("field-ulp")}</option>
            </select>
        </Show>
    }
}

/// Where the numbers come from: always visible.
#[component]
fn Provenance() -> impl IntoView {
    let app = use_app();
    let is_old = move || app.view.outcome().is_some_and(|it| it.revision != app.project.revision.get());
    view! {
        <p class="muted provenance" data-testid="provenance">
            {move || describe::provenance(app)}
            <Show when=is_old><span class="stage-note">" "{t!("stale")}</span></Show>
            // The count of made-up values is that of the shown text, so it says nothing about an older
            // result.
            <Show when=move || !is_old() && app.n_made_up() != [0; 3]>
                <span class="stage-note" data-testid="from-made-up">{t!("field-made-up")}</span>
            </Show>
        </p>
    }
}
