//! All diagnostics of the text.

pub mod remedies;

use isobar_compiler::diag::cells::cell_of;
use isobar_protocol::diagnostic::{Diagnostic, Fix};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::bridge::locale::t;
use crate::state::remedies::help_of;
use crate::state::{App, use_app};
use crate::widgets::prose::prose;
use crate::widgets::quotes::plain;
use remedies::Remedies;

/// The list of problems; a click leads to the place, and arrows go from one to the next. Reads those that are shown,
/// writes the caret, mends the text.
#[component]
pub fn Problems() -> impl IntoView {
    let app = use_app();
    let shown = app.problems.shown;
    let empty = move || {
        let text =
            if app.compilation.revision.get() == 0 { t!("loading-compiler") } else { t!("problems-none") };
        shown.with(|it| it.is_empty()).then_some(text)
    };
    view! {
        <section class="pane pane-problems" aria-label=t!("problems")>
            <div class="problems-log" role="log" aria-label=t!("problems")>
                <ul class="problems" data-testid="problems" tabindex="0" on:keydown=move |event| step(&event)>
                    {move || shown.get().iter().cloned().map(|it| problem(app, it)).collect_view()}
                </ul>
            </div>
            <p class="muted problems-none">{empty}</p>
            <button
                type="button"
                class="quiet list-action"
                data-testid="copy-problems"
                title=t!("problems-copy-about")
                hidden=move || shown.with(|it| it.is_empty())
                on:click=move |_| app.copy_problems()
            >
                {t!("problems-copy")}
            </button>
        </section>
    }
}

/// Arrows go from problem to problem.
fn step(event: &KeyboardEvent) {
    let Some(list) = event.current_target().and_then(|it| it.dyn_into::<Element>().ok()) else { return };
    let rows = list.children();
    let of_row = |at: u32| rows.item(at)?.first_element_child()?.dyn_into::<HtmlElement>().ok();
    let all: Vec<HtmlElement> = (0..rows.length()).filter_map(of_row).collect();
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    let at = target.and_then(|it| all.iter().position(|problem| **problem == it));
    let next = match event.key().as_str() {
        "ArrowDown" => at.map_or(0, |it| it + 1),
        "ArrowUp" => at.map_or(0, |it| it.saturating_sub(1)),
        "Home" => 0,
        "End" => all.len().saturating_sub(1),
        _ => return,
    };
    if let Some(problem) = all.get(next) {
        event.prevent_default();
        // Buttons take the focus.
        let _ = problem.focus();
    }
}

/// One diagnostic with its remedies; those of a call have no place to go to.
pub(super) fn problem(app: App, diagnostic: Diagnostic) -> impl IntoView {
    let help_here = help_of(&diagnostic);
    let Diagnostic { code, severity, message, file, start, notes, label, fixes, remedy, .. } = diagnostic;
    let has_place = !file.is_empty();
    let to = file.clone();
    let place = has_place.then(|| {
        let text = untrack(|| app.project.text_of(&file)).unwrap_or_default();
        let cell = cell_of(&text, start.line)
            .map(|(cell, line)| format!(", {}", t!("problems-cell", cell = cell, line = line)));
        format!("{}:{}{}", start.line, start.col, cell.unwrap_or_default())
    });
    let (data_code, data_severity) = (code.clone(), severity.clone());
    let (sign, kind) = match severity.as_str() {
        "error" => ("✕", t!("problems-error")),
        "warning" => ("!", t!("problems-warning")),
        _ => ("i", t!("problems-hint")),
    };
    // The codes of texts and calls have a page in the manual; what a server says has none.
    let is_in_manual = code.starts_with(['E', 'W', 'D', 'C']);
    let more = is_in_manual.then(|| {
        let address = format!("#/manual/diagnostics/{}", code.to_lowercase());
        view! {
            <a class="problem-more" data-testid="problem-more" href=address aria-label=t!("problems-about-code", code = &code)>"?"</a>
        }
    });
    view! {
        <li class="problem-row">
            <button
                type="button"
                class="problem"
                data-testid="problem"
                data-code=data_code
                data-severity=data_severity
                on:click=move |_| if has_place { app.reveal_in(&to, start) }
            >
                <span class="problem-sign" aria-hidden="true">{sign}</span>
                <span class="problem-body">
                    <span class="problem-line">
                        <span class="visually-hidden">{kind}": "</span>
                        <code>{code}</code>
                        " "
                        {prose(&message)}
                        {place.map(|it| view! { <span class="muted">" "{it}</span> })}
                    </span>
                    {(!label.is_empty()).then(|| view! { <span class="problem-note">{prose(&label)}</span> })}
                    {notes.iter().map(|it| view! { <span class="problem-note">{prose(it)}</span> }).collect_view()}
                    {help_here.map(|it| view! { <span class="problem-help">{t!("problems-help")}" "{prose(&it)}</span> })}
                </span>
            </button>
            <Fixes file=file fixes=fixes />
            <Remedies remedy=remedy />
            {more}
        </li>
    }
}

/// The remedies of a problem, a button for each.
#[component]
fn Fixes(file: String, fixes: Vec<Fix>) -> impl IntoView {
    let app = use_app();
    (!fixes.is_empty()).then(|| {
        let buttons = fixes.into_iter().map(|fix| {
            let (file, title) = (file.clone(), fix.title.clone());
            view! {
                <button
                    type="button"
                    class="problem-fix"
                    data-testid="problem-fix"
                    title=t!("problems-fix-about", fix = plain(&title))
                    on:click=move |_| app.mend(&file, &fix)
                >
                    <span aria-hidden="true">"⚒ "</span>
                    {prose(&title)}
                </button>
            }
        });
        view! { <div class="problem-fixes">{buttons.collect_view()}</div> }
    })
}
