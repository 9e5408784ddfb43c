//! How fast back ends of the runner are, measured side by side.

use isobar_protocol::bench::{BackendMeasurement, Benchmark, Samples, gigabytes_per_second};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::benchmark::{agreement, is_noisy, of, rate, time};
use crate::state::use_app;

/// The choices of a measurement, its button, and the table of the last one. Reads both; starts measurements.
#[component]
pub fn Measurement() -> impl IntoView {
    let app = use_app();
    let found = app.run.benchmark;
    view! {
        <section class="benchmark" aria-label=t!("bench")>
            <h2>{t!("bench")}</h2>
            <Choices />
            <Show when=move || found.with(Option::is_none)>
                <p class="muted">
                    {t!("bench-about")}
                </p>
            </Show>
            {move || found.get().map(|it| {
                let is_stale = it.revision != app.project.revision.get();
                view! { <p class="muted" data-testid="bench-of">{of(&it.benchmark, it.precision, is_stale)}</p> {table(&it.benchmark)} }
            })}
        </section>
    }
}

#[component]
fn Choices() -> impl IntoView {
    let app = use_app();
    let is_working = move || app.run.is_working();
    let cannot = move || is_working() || app.compilation.n_errors() > 0 || !app.connection.is_there();
    let rounds = app.measurement.rounds;
    let backend = move |name: String| {
        let (of_box, of_click, of_id) = (name.clone(), name.clone(), name.clone());
        view! {
            <label class="control">
                <input
                    type="checkbox"
                    data-testid=format!("bench-{of_id}")
                    prop:checked=move || app.measurement.left_out.with(|it| !it.contains(&of_box))
                    disabled=is_working
                    on:change=move |_| app.measurement.toggle(&of_click)
                />
                <span>{name}</span>
            </label>
        }
    };
    view! {
        <div class="benchmark-choices" role="group" aria-label=t!("bench-what")>
            <button
                type="button"
                data-testid="bench"
                title=move || if app.connection.is_there() {
                    t!("bench-button-about")
                } else {
                    t!("no-runner-start")
                }
                disabled=cannot
                on:click=move |_| app.measure()
            >
                {t!("bench-button")}
            </button>
            <label class="control">
                <span class="control-name">{t!("bench-rounds")}</span>
                <input
                    type="number"
                    min="1"
                    max="10000"
                    inputmode="numeric"
                    data-testid="bench-rounds"
                    prop:value=move || rounds.get().to_string()
                    disabled=is_working
                    on:change:target=move |event| {
                        if let Ok(typed) = event.target().value().trim().parse::<u32>() {
                            app.measurement.choose_rounds(typed);
                        }
                        // Replaces text that is no allowed number by the number in effect.
                        event.target().set_value(&rounds.get_untracked().to_string());
                    }
                />
            </label>
            {move || app.connection.backends().into_iter().map(backend).collect_view()}
        </div>
    }
}

fn table(it: &Benchmark) -> impl IntoView + use<> {
    let copy = gigabytes_per_second(it.bytes, it.copy.median_ms);
    let rows = it.backends.iter().map(row).collect_view();
    view! {
        <table class="table" data-testid="benchmark">
            <thead>
                <tr>
                    <th scope="col">{t!("bench-backend")}</th>
                    <th scope="col" class="number">"ms"</th>
                    <th scope="col" class="number" title=t!("bench-interval-about")>"95 %"</th>
                    <th scope="col" class="number">"GB/s"</th>
                    <th scope="col" class="number" title=t!("bench-copy-about")>{t!("bench-copy")}</th>
                    <th scope="col" class="number" title=t!("bench-first-about")>{t!("bench-first")}</th>
                </tr>
            </thead>
            <tbody>
                {rows}
                <tr data-testid="bench-copy" data-ms=it.copy.median_ms.to_string()>
                    <th scope="row">{t!("bench-copying")}</th>
                    {times(&it.copy)}
                    <td class="number">{rate(copy)}</td>
                    <td></td>
                    <td></td>
                </tr>
            </tbody>
        </table>
        {agreement(it).map(|(text, is_right)| view! {
            <p class:ok=is_right class:warn=!is_right data-testid="bench-agree">{text}</p>
        })}
    }
}

fn row(it: &BackendMeasurement) -> impl IntoView + use<> {
    view! {
        <tr
            data-testid="bench-row"
            data-backend=it.backend.clone()
            data-ms=it.calls.median_ms.to_string()
            data-of-copy=it.of_copy.map(|it| it.to_string())
        >
            <th scope="row">{it.backend.clone()}</th>
            {times(&it.calls)}
            <td class="number">{rate(it.gb_per_s)}</td>
            <td class="number">{it.of_copy.map(|it| format!("{:.0} %", 100.0 * it))}</td>
            <td class="number">{time(it.first_ms)}</td>
        </tr>
    }
}

fn times(it: &Samples) -> impl IntoView + use<> {
    let interval = format!("{}–{}", time(it.low_ms), time(it.high_ms));
    let noisy = is_noisy(it).then(|| {
        view! {
            <span class="badge" data-testid="noisy" title=t!("bench-noisy-about")>{t!("bench-noisy")}</span>
        }
    });
    view! {
        <td class="number">{time(it.median_ms)}</td>
        <td class="number">{interval} " " {noisy}</td>
    }
}
