//! The past messages of the page, to be read again.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;
use crate::widgets::prose::prose;

/// Every sentence of the status line, the newest last. Reads the output; clears it.
#[component]
pub fn Output() -> impl IntoView {
    let app = use_app();
    let lines = app.output.lines;
    view! {
        <section class="pane pane-output" aria-label=t!("output")>
            <ol class="output" data-testid="output" tabindex="0" aria-label=t!("output")>
                <For each=move || lines.get() key=|it| it.number let(line)>
                    <li>{prose(&line.text).into_view()}</li>
                </For>
            </ol>
            <p class="muted output-empty" hidden=move || !lines.with(Vec::is_empty)>{t!("output-empty")}</p>
            <button
                type="button"
                class="quiet list-action"
                hidden=move || lines.with(Vec::is_empty)
                on:click=move |_| app.output.clear()
            >
                {t!("output-clear")}
            </button>
        </section>
    }
}
