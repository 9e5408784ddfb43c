//! How long things took.

pub mod calls;

use isobar_protocol::bench::{GraphStep, Memory};
use isobar_protocol::compile::bytes;
use isobar_protocol::tune::Tuned;
use leptos::prelude::*;

use calls::CallTree;

use crate::bridge::locale::{decimal, t};
use crate::plots::number;
use crate::state::{sentences, use_app};

/// Times of the last run, and of the last compilation. Reads both.
#[component]
pub fn Timings() -> impl IntoView {
    let app = use_app();
    let run = app.run.measures;
    let compilation = app.compilation.timings;
    let total = move || compilation.with(|it| it.iter().map(|it| it.ms).sum::<f64>());
    view! {
        <section class="timings" aria-label=t!("timings")>
            <h2>{t!("timings")}</h2>
            <Show when=move || run.with(|it| it.timings.is_empty())>
                <p class="muted">{t!("timings-none")}</p>
            </Show>
            {move || run.with(|it| it.memory).map(|it| view! { <p class="muted" data-testid="memory">{memory(&it)}</p> })}
            <table class="table" data-testid="timings">
                <tbody>
                    {move || {
                        let measures = run.get();
                        let most = measures.timings.iter().map(|it| it.ms).fold(0.0, f64::max);
                        let has_parts = measures.timings.iter().any(|it| it.part != measures.timings[0].part);
                        let mut part = None;
                        measures
                            .timings
                            .iter()
                            .map(|it| {
                                // Steps of two runs stand below what ran.
                                let head = (has_parts && part.as_ref() != Some(&it.part)).then(|| {
                                    part = Some(it.part.clone());
                                    view! { <tr><th scope="colgroup" colspan="4" class="timing-part">{sentences::part(&it.part)}</th></tr> }
                                });
                                view! {
                                {head}
                                <tr data-testid="timing" data-name=it.name.clone() data-ms=it.ms.to_string()>
                                    <th scope="row">{it.name.clone()}</th>
                                    <td class="timing-cell">
                                        <span
                                            class="timing-bar"
                                            style:width=format!("{:.1}%", if most > 0.0 { 100.0 * it.ms / most } else { 0.0 })
                                        ></span>
                                    </td>
                                    <td class="number">{number::milliseconds(it.ms)}</td>
                                    <td class="number" data-testid="rate">{sentences::rate(&measures, it)}</td>
                                </tr>
                                }
                            })
                            .collect_view()
                    }}
                </tbody>
            </table>
            {move || run.with(|it| it.tuned.clone()).map(|it| view! { <p class="muted" data-testid="tuned">{tuned(&it)}</p> })}
            <Show when=move || run.with(|it| !it.steps.is_empty())>
                <details open>
                    <summary>{t!("timings-graph")}</summary>
                    <table class="table" data-testid="graph-steps">
                        <thead>
                            <tr>
                                <th scope="col">{t!("timings-step")}</th>
                                <th scope="col">{t!("timings-writes")}</th>
                                <th scope="col">{t!("timings-lines")}</th>
                                <th scope="col" class="number">{t!("timings-time")}</th>
                                <th scope="col" class="number">{t!("timings-part")}</th>
                            </tr>
                        </thead>
                        <tbody>{move || run.with(|it| graph_steps(&it.steps))}</tbody>
                    </table>
                </details>
            </Show>
            <CallTree />
            <Show when=move || !compilation.with(|it| it.is_empty())>
                <details>
                    <summary>{move || t!("timings-compilation", time = number::milliseconds(total()))}</summary>
                    <table class="table">
                        <tbody>
                            {move || compilation
                                .get()
                                .iter()
                                .cloned()
                                .map(|it| view! {
                                    <tr>
                                        <th scope="row">{it.step}</th>
                                        <td class="number">{number::milliseconds(it.ms)}</td>
                                    </tr>
                                })
                                .collect_view()}
                        </tbody>
                    </table>
                </details>
            </Show>
        </section>
    }
}

fn graph_steps(all: &[GraphStep]) -> impl IntoView + use<> {
    let total: f64 = all.iter().map(|it| it.ms).sum();
    let part = |ms: f64| if total > 0.0 { format!("{:.0} %", 100.0 * ms / total) } else { String::new() };
    all.iter()
        .map(|it| {
            view! {
                <tr data-testid="graph-step" data-ms=it.ms.to_string()>
                    <th scope="row">{it.step}</th>
                    <td>{it.writes.join(", ")}</td>
                    <td>{it.lines()}</td>
                    <td class="number">{number::milliseconds(it.ms)}</td>
                    <td class="number">{part(it.ms)}</td>
                </tr>
            }
        })
        .collect_view()
}

fn tuned(it: &Tuned) -> String {
    let (ms, own) = (number::milliseconds(it.ms), number::milliseconds(it.default_ms));
    t!("timings-tuned", what = &it.what, time = ms, own = own)
}

#[expect(clippy::cast_precision_loss, reason = "a size of some digits")]
fn memory(it: &Memory) -> String {
    let mut text = t!("timings-memory", fields = decimal(bytes(it.fields_bytes as f64)));
    if it.workspace_bytes > 0 {
        text += &t!("timings-temporaries", bytes = decimal(bytes(it.workspace_bytes as f64)));
    }
    if it.scratch_bytes > 0 {
        text += &t!("timings-threads", bytes = decimal(bytes(it.scratch_bytes as f64)));
    }
    text
}
