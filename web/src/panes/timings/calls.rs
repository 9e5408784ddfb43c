//! The statements of a program that ran, as a tree with their times.

use isobar_page_model::run::CallRows;
use isobar_protocol::bench::{CallPlace, CallStep};
use isobar_protocol::diagnostic::Position;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::plots::number;
use crate::state::{App, use_app};

/// The calls of the last run, each with its time, its traffic, and the way to its stencil.
#[component]
pub fn CallTree() -> impl IntoView {
    let app = use_app();
    let measures = app.run.measures;
    let left_out = move || measures.with(|it| CallRows::of(&it.calls).left_out);
    view! {
        <Show when=move || measures.with(|it| !it.calls.is_empty())>
            <details open>
                <summary>{t!("timings-calls")}</summary>
                <table class="table call-tree" data-testid="call-tree">
                    <thead>
                        <tr>
                            <th scope="col">{t!("timings-statement")}</th>
                            <th scope="col" class="number">{t!("timings-times")}</th>
                            <th scope="col" class="number">{t!("timings-time")}</th>
                            <th scope="col" class="number">{t!("timings-traffic")}</th>
                            <th scope="col" class="number">{t!("timings-line")}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || {
                            measures.with(|it| {
                                let rows = CallRows::of(&it.calls);
                                rows.shown.into_iter().map(|it| row(app, it)).collect_view()
                            })
                        }}
                    </tbody>
                </table>
                <Show when=move || { left_out() > 0 }>
                    <p class="muted">{move || t!("timings-left-out", count = left_out())}</p>
                </Show>
            </details>
        </Show>
    }
}

fn row(app: App, step: &CallStep) -> impl IntoView + use<> {
    let has_time = step.count > 0;
    let rate = step.bytes_per_s().map(|it| format!("{:.1} GB/s", it / 1e9)).unwrap_or_default();
    view! {
        <tr data-testid="call-row" data-count=step.count.to_string() data-ms=step.ms.to_string()>
            <th scope="row" title=step.text.clone() style:padding-inline-start=format!("{}ch", 2 * step.depth)>
                {statement(app, step)}
            </th>
            <td class="number">{has_time.then(|| step.count.to_string())}</td>
            <td class="number">{has_time.then(|| number::milliseconds(step.ms))}</td>
            <td class="number">{rate}</td>
            <td class="number">{step.place.clone().map(|it| line(app, it))}</td>
        </tr>
    }
}

/// The statement; a call opens its stencil.
fn statement(app: App, step: &CallStep) -> AnyView {
    let text = step.text.clone();
    match step.stencil.clone() {
        Some(name) => {
            let open = move |_| app.open_stencil(&name);
            view! {
                <button type="button" class="quiet" title=t!("timings-open") data-testid="call-open" on:click=open>
                    <code>{text}</code>
                </button>
            }
            .into_any()
        }
        None => view! { <code>{text}</code> }.into_any(),
    }
}

fn line(app: App, CallPlace { file, line }: CallPlace) -> impl IntoView {
    let at = Position { line, col: 1 };
    view! {
        <button type="button" class="quiet" on:click=move |_| app.reveal_in(&file, at)>
            {line}
        </button>
    }
}
