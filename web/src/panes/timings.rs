//! How long things took.

use isobar_protocol::bench::Memory;
use isobar_protocol::compile::bytes;
use leptos::prelude::*;

use crate::plots::number;
use crate::state::use_app;

/// Times of the last run, and of the last compilation. Reads both.
#[component]
pub fn Timings() -> impl IntoView {
    let app = use_app();
    let run = app.run.measures;
    let compilation = app.compilation.timings;
    let total = move || compilation.with(|it| it.iter().map(|it| it.ms).sum::<f64>());
    view! {
        <section class="timings" aria-label="Timings">
            <h2>"Timings"</h2>
            <Show when=move || run.with(|it| it.timings.is_empty())>
                <p class="muted">"A run's times stand here, step by step."</p>
            </Show>
            {move || run.with(|it| it.memory).map(|it| view! { <p class="muted" data-testid="memory">{memory(&it)}</p> })}
            <table class="table" data-testid="timings">
                <tbody>
                    {move || {
                        let measures = run.get();
                        let most = measures.timings.iter().map(|it| it.ms).fold(0.0, f64::max);
                        measures
                            .timings
                            .iter()
                            .map(|it| view! {
                                <tr data-testid="timing" data-name=it.name.clone() data-ms=it.ms.to_string()>
                                    <th scope="row">{it.name.clone()}</th>
                                    <td class="timing-cell">
                                        <span
                                            class="timing-bar"
                                            style:width=format!("{:.1}%", if most > 0.0 { 100.0 * it.ms / most } else { 0.0 })
                                        ></span>
                                    </td>
                                    <td class="number">{number::milliseconds(it.ms)}</td>
                                    <td class="number" data-testid="rate">{measures.rate(it)}</td>
                                </tr>
                            })
                            .collect_view()
                    }}
                </tbody>
            </table>
            <Show when=move || !compilation.with(Vec::is_empty)>
                <details>
                    <summary>"Compilation in this tab: "{move || number::milliseconds(total())}</summary>
                    <table class="table">
                        <tbody>
                            {move || compilation
                                .get()
                                .into_iter()
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

#[expect(clippy::cast_precision_loss, reason = "a size of some digits")]
fn memory(it: &Memory) -> String {
    let mut text = format!("Memory: {} of fields", bytes(it.fields_bytes as f64));
    if it.workspace_bytes > 0 {
        text += &format!(", {} of temporaries", bytes(it.workspace_bytes as f64));
    }
    if it.scratch_bytes > 0 {
        text += &format!(", {} of threads", bytes(it.scratch_bytes as f64));
    }
    text
}
