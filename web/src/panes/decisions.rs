//! The decisions of the compiler, by pass.

use isobar_page_model::remarks::{DecisionKind, by_pass};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::{App, remarks, use_app};
use crate::widgets::prose::prose;

/// Every decision of the compiler: what was done, what was left and why, and what is gone. Reads the newest answer.
#[component]
pub fn Decisions() -> impl IntoView {
    let app = use_app();
    let (entries, shown) = (app.passes.entries, app.passes.shown);
    let count = move |what: DecisionKind| entries.with(|it| it.iter().filter(|it| it.shown == what).count());
    // A list that nobody sees is not made anew at each key.
    let is_open = RwSignal::new(false);
    let groups =
        Memo::new(
            move |_| {
                if is_open.get() { entries.with(|it| by_pass(it, shown.get())) } else { Vec::new() }
            },
        );
    let listed = move || {
        entries.track();
        groups.get()
    };
    view! {
        <Show when=move || entries.with(|it| !it.is_empty())>
            <details
                class="remarks"
                data-testid="decisions"
                on:toggle:target=move |event| {
                    is_open.set(event.target().open());
                }
            >
                <summary>
                    {move || t!("decisions", count = entries.with(|it| it.len()))}
                    {move || app.passes.are_stale.get().then(|| format!(", {}", t!("stale")))}
                </summary>
                <div class="joined decisions-shown" role="group" aria-label=t!("decisions-which")>
                    {DecisionKind::ALL
                        .map(|it| view! {
                            <button
                                type="button"
                                data-testid=format!("decisions-{}", it.name())
                                aria-pressed=move || if shown.get() == it { "true" } else { "false" }
                                on:click=move |_| shown.set(it)
                            >
                                {remarks::title(it)}" "{move || count(it)}
                            </button>
                        })}
                </div>
                {move || listed()
                    .into_iter()
                    .map(|(pass, of_pass)| view! {
                        <details class="decisions-pass" open=true>
                            <summary><code>{pass}</code>" "<span class="muted">{of_pass.len()}</span></summary>
                            <ul>{of_pass.into_iter().map(|at| decision(app, at)).collect_view()}</ul>
                        </details>
                    })
                    .collect_view()}
                <Show when=move || groups.with(Vec::is_empty)>
                    <p class="empty">{t!("decisions-none")}</p>
                </Show>
            </details>
        </Show>
    }
}

/// Most places of a decision that are listed.
const MOST_PLACES: usize = 6;

fn decision(app: App, at: usize) -> impl IntoView {
    let entry = app.passes.entries.with_untracked(|it| it.get(at).cloned());
    entry.map(|it| {
        let main = app.project.main.get();
        let mut lines: Vec<u32> =
            it.places.iter().filter(|it| it.file == main).map(|it| it.start.line).collect();
        lines.sort_unstable();
        lines.dedup();
        let more = lines.len().saturating_sub(MOST_PLACES);
        lines.truncate(MOST_PLACES);
        view! {
            <li class="decision">
                <button
                    type="button"
                    class="remark"
                    data-testid="decision"
                    data-shown=it.shown.name()
                    on:click=move |_| app.show_entry(at)
                >
                    <span class="remark-sign" aria-hidden="true">{it.sign()}</span>
                    <span class="remark-text">
                        {prose(&remarks::text(&it))}
                        {remarks::traffic(&it).map(|it| view! { " " <span class="traffic">{it}</span> })}
                    </span>
                </button>
                <span class="decision-lines">
                    <span class="muted">{t!("decisions-lines", count = lines.len())}</span>
                    {lines
                        .into_iter()
                        .map(|line| view! {
                            <button
                                type="button"
                                class="quiet"
                                data-testid="decision-line"
                                aria-label=t!("go-to-line", line = line)
                                on:click=move |_| app.show_place(at, line)
                            >
                                {line}
                            </button>
                        })
                        .collect_view()}
                    {(more > 0).then(|| view! { <span class="muted">{t!("decisions-more", count = more)}</span> })}
                </span>
            </li>
        }
    })
}
