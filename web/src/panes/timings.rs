//! How long things took.

use leptos::prelude::*;

use crate::plots::number;
use crate::state::use_app;

/// Times of the last run, and of the last compilation. Reads both.
#[component]
pub fn Timings() -> impl IntoView {
    let app = use_app();
    let run = app.run.timings;
    let compilation = app.compilation.timings;
    let total = move || compilation.with(|it| it.iter().map(|it| it.ms).sum::<f64>());
    view! {
        <section class="timings" aria-label="Timings">
            <h2>"Timings"</h2>
            <Show when=move || run.with(Vec::is_empty)>
                <p class="muted">"A run's times stand here, step by step."</p>
            </Show>
            <table class="table" data-testid="timings">
                <tbody>
                    {move || {
                        let timings = run.get();
                        let most = timings.iter().map(|it| it.ms).fold(0.0, f64::max);
                        timings
                            .into_iter()
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
            <Remarks />
        </section>
    }
}

/// What the passes did or had to leave, and why. Reads the newest answer.
#[component]
fn Remarks() -> impl IntoView {
    let app = use_app();
    let remarks = app.compilation.remarks;
    view! {
        <Show when=move || !remarks.with(Vec::is_empty)>
            <details class="remarks">
                <summary>{move || format!("Decisions of the compiler: {}", remarks.with(Vec::len))}</summary>
                <ul>
                    {move || remarks
                        .get()
                        .into_iter()
                        .map(|it| {
                            let sign = if it.applied { "✓" } else { "–" };
                            let said = if it.applied { "applied" } else { "not applied" };
                            let place = it.places.first().map(|it| it.start);
                            view! {
                                <li>
                                    <button
                                        type="button"
                                        class="remark"
                                        on:click=move |_| if let Some(at) = place { app.reveal(at) }
                                    >
                                        <span title=said>{sign}</span>
                                        " "
                                        <code>{it.pass}</code>
                                        " "
                                        {it.message}
                                    </button>
                                </li>
                            }
                        })
                        .collect_view()}
                </ul>
            </details>
        </Show>
    }
}
