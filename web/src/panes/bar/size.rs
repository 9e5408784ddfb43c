//! Domain and precision of the next run.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// Both, with their names. Reads and changes the project.
#[must_use]
pub fn later() -> AnyView {
    view! {
        <h2>{t!("domain")}</h2>
        <Domain />
        <h2>{t!("bar-precision-about")}</h2>
        <Precision />
    }
    .into_any()
}

#[component]
fn Precision() -> impl IntoView {
    let app = use_app();
    let precision = app.project.precision;
    view! {
        <label class="control">
            <span class="visually-hidden">{t!("bar-precision")}</span>
            <select
                data-testid="precision-select"
                title=t!("bar-precision-about")
                prop:value=move || precision.get().to_string()
                on:change:target=move |event| {
                    app.project.choose_precision(if event.target().value() == "32" { 32 } else { 64 });
                }
            >
                <option value="64" selected=move || precision.get() == 64>"fp64"</option>
                <option value="32" selected=move || precision.get() == 32>"fp32"</option>
            </select>
        </label>
    }
}

/// The domain of the next run.
#[component]
fn Domain() -> impl IntoView {
    let app = use_app();
    let size = |axis: usize, name: &'static str| {
        // A memo, because each answer of the compiler gives the domain again, and drawing the field again
        // would lose the typed text.
        let points = Memo::new(move |_| app.domain()[axis]);
        view! {
            <label class="control control-size">
                <span class="control-name">{name}</span>
                <input
                    type="number"
                    min="1"
                    max="1048576"
                    inputmode="numeric"
                    data-testid=format!("domain-{name}")
                    aria-label=t!("bar-points", axis = name)
                    prop:value=move || points.get().to_string()
                    on:change:target=move |event| {
                        if let Ok(typed) = event.target().value().trim().parse::<i64>() {
                            app.choose_domain(axis, typed.clamp(1, 1 << 20));
                        }
                        // Replaces text that is no allowed number by the number in effect.
                        event.target().set_value(&points.get_untracked().to_string());
                    }
                />
            </label>
        }
    };
    view! { <div class="domain" role="group" aria-label=t!("domain")>{size(0, "i")}{size(1, "j")}{size(2, "k")}</div> }
}
