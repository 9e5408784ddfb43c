//! How fast back ends of the runner are, measured side by side.

use isobar_protocol::bench::{Benchmark, Measured, Samples, gigabytes_per_second};
use isobar_protocol::compile::bytes;
use isobar_protocol::request::Mode;
use leptos::prelude::*;

use crate::bridge::locale::{decimal, t};
use crate::plots::number;
use crate::state::benchmark::Found;
use crate::state::use_app;

/// The choices of a measurement, its button, and the table of the last one. Reads both; starts measurements.
#[component]
pub fn Measurement() -> impl IntoView {
    let app = use_app();
    let found = app.measurement.found;
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
                view! { <p class="muted" data-testid="bench-of">{of(&it, is_stale)}</p> {table(&it.benchmark)} }
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
                        // What is no number, or none that is allowed, is put right.
                        event.target().set_value(&rounds.get_untracked().to_string());
                    }
                />
            </label>
            {move || app.connection.backends().into_iter().map(backend).collect_view()}
        </div>
    }
}

/// What was measured, in a sentence.
#[expect(clippy::cast_precision_loss, reason = "a size of some digits")]
fn of(found: &Found, is_stale: bool) -> String {
    let it = &found.benchmark;
    let [i, j, k] = it.domain;
    let mut text = t!(
        "bench-of",
        stencil = &it.stencil,
        i = i,
        j = j,
        k = k,
        precision = found.precision,
        threads = it.threads,
        mode = it.mode.name(),
        rounds = it.rounds,
        bytes = decimal(bytes(it.bytes as f64)),
    );
    if is_stale {
        text.push(' ');
        text += t!("bench-stale");
    }
    text
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

fn row(it: &Measured) -> impl IntoView + use<> {
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

/// Whether the interval is wider than what is worth telling apart.
fn is_noisy(it: &Samples) -> bool {
    const WIDTH: f64 = 0.1;
    it.high_ms - it.low_ms > WIDTH * it.median_ms
}

/// Of three digits: what is measured differs in the third.
fn time(ms: f64) -> String {
    number::short(ms, 3)
}

fn rate(gb_per_s: Option<f64>) -> Option<String> {
    gb_per_s.map(|it| number::short(it, 3))
}

/// Whether the back ends wrote the same, and whether that is as it must be.
fn agreement(it: &Benchmark) -> Option<(&'static str, bool)> {
    (it.backends.len() > 1).then_some(match (it.agree, it.mode) {
        (true, _) => (t!("bench-agree"), true),
        (false, Mode::Fast) => (t!("bench-differ-fast"), true),
        (false, Mode::Reproducible) => (t!("bench-differ"), false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark() -> Benchmark {
        let one = Measured {
            backend: "rayon".to_owned(),
            ready: Vec::new(),
            first_ms: 1.0,
            calls: Samples::default(),
            gb_per_s: None,
            of_copy: None,
            on_device: None,
            steps: Vec::new(),
            tuned: None,
            layouts: Vec::new(),
        };
        Benchmark {
            stencil: "s".to_owned(),
            domain: [4, 3, 2],
            threads: 1,
            mode: Mode::Reproducible,
            rounds: 7,
            bytes: 2_000_000,
            copy: Samples::default(),
            backends: vec![one.clone(), one],
            agree: true,
        }
    }

    #[test]
    fn a_sentence_tells_what_was_measured() {
        let found = Found { benchmark: benchmark(), precision: 32, revision: 3 };
        let text = of(&found, false);
        assert!(text.starts_with("s on 4 × 3 × 2 points, fp32, 1 thread, reproducible, 7 rounds"), "{text}");
        assert_eq!(of(&found, true), format!("{text} The text has changed since."));
    }

    #[test]
    fn an_interval_of_a_tenth_is_noisy() {
        let of = |low_ms, high_ms| Samples { median_ms: 10.0, low_ms, high_ms, ms: Vec::new() };
        assert!(!is_noisy(&of(9.8, 10.5)));
        assert!(is_noisy(&of(9.8, 11.0)));
    }

    #[test]
    fn bits_that_differ_are_a_fault_where_they_must_be_the_same() {
        let mut it = benchmark();
        assert!(agreement(&it).is_some_and(|it| it.1));
        it.agree = false;
        assert!(agreement(&it).is_some_and(|it| !it.1));
        it.mode = Mode::Fast;
        assert!(agreement(&it).is_some_and(|it| it.1));
        it.backends.pop();
        assert_eq!(agreement(&it), None);
    }
}
