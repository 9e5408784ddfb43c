//! All diagnostics of the text.

use isobar_protocol::diagnostic::Diagnostic;
use leptos::prelude::*;

use crate::state::{App, use_app};

/// The list of problems; a click leads to the place. Reads the newest answer, writes the caret.
#[component]
pub fn Problems() -> impl IntoView {
    let app = use_app();
    let diagnostics = app.compilation.diagnostics;
    let count =
        move |severity: &str| diagnostics.with(|it| it.iter().filter(|it| it.severity == severity).count());
    let summary = move || {
        if app.compilation.revision.get() == 0 {
            return "Loading the compiler …".to_owned();
        }
        let (errors, warnings) = (count("error"), count("warning"));
        match (errors, warnings) {
            (0, 0) => "No problems".to_owned(),
            (errors, 0) => plural(errors, "error"),
            (0, warnings) => plural(warnings, "warning"),
            (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
        }
    };
    view! {
        <section class="pane pane-problems" aria-label="Problems">
            <header class="pane-head">
                <h2>"Problems"</h2>
                <span class="muted">{summary}</span>
            </header>
            <ul class="problems" data-testid="problems" role="log" aria-label="Problems">
                {move || diagnostics.get().into_iter().map(|it| problem(app, it)).collect_view()}
            </ul>
        </section>
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// One diagnostic; those of a call have no place to go to.
pub(super) fn problem(app: App, diagnostic: Diagnostic) -> impl IntoView {
    let Diagnostic { code, severity, message, file, start, help, notes, label, .. } = diagnostic;
    let has_place = !file.is_empty();
    let place = has_place.then(|| format!("{}:{}", start.line, start.col));
    let (data_code, data_severity) = (code.clone(), severity.clone());
    let sign = match severity.as_str() {
        "error" => "✕",
        "warning" => "!",
        _ => "i",
    };
    view! {
        <li>
            <button
                type="button"
                class="problem"
                data-testid="problem"
                data-code=data_code
                data-severity=data_severity
                on:click=move |_| if has_place { app.reveal(start) }
            >
                <span class="problem-sign" aria-hidden="true">{sign}</span>
                <span class="problem-body">
                    <span class="problem-line">
                        <span class="visually-hidden">{severity}": "</span>
                        <code>{code}</code>
                        " "
                        {message}
                        {place.map(|it| view! { <span class="muted">" "{it}</span> })}
                    </span>
                    {(!label.is_empty()).then(|| view! { <span class="problem-note">{label}</span> })}
                    {notes.into_iter().map(|it| view! { <span class="problem-note">{it}</span> }).collect_view()}
                    {help.map(|it| view! { <span class="problem-help">"help: "{it}</span> })}
                </span>
            </button>
        </li>
    }
}
