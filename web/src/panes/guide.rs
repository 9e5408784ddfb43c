//! The parts that a pasted text still lacks, each with a button that adds it.

use isobar_protocol::worker::MissingModule;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::drawer::DrawerList;
use crate::state::{App, use_app};
use crate::widgets::prose::prose;

/// More names than these are not listed.
const MOST_NAMES: usize = 4;

/// Stands above the problems: missing modules, made-up values, and notes about the last files. Reads the
/// newest answer; its buttons change the project.
#[component]
pub fn Guide() -> impl IntoView {
    let app = use_app();
    let defaults = app.compilation.defaults;
    let missing = Memo::new(move |_| defaults.with(|it| it.missing.clone()));
    let functions = Memo::new(move |_| {
        // A text with errors may have a stencil that could not be read.
        let is_read = !app.compilation.diagnostics.with(|it| it.iter().any(|it| it.code == "E00"));
        defaults.with(|it| if is_read { it.functions.clone() } else { Vec::new() })
    });
    let made = Memo::new(move |_| app.n_made_up());
    view! {
        <ul class="guide" data-testid="guide" aria-label=t!("guide")>
            {move || app.files.notes.get().into_iter().map(|it| note(app, &it)).collect_view()}
            {move || missing.get().into_iter().map(|it| module(app, it)).collect_view()}
            {move || {
                let names: Vec<String> = functions.get().into_iter().map(|it| it.name).collect();
                (!names.is_empty()).then(|| no_stencil(app, names))
            }}
            {move || made_up(app, made.get())}
        </ul>
    }
}

/// A note about files that came.
fn note(app: App, text: &str) -> impl IntoView + use<> {
    view! {
        <li class="guide-row" role="status">
            <span class="guide-text">{prose(text)}</span>
            <button type="button" class="quiet" aria-label=t!("dismiss") on:click=move |_| app.files.notes.set(Vec::new())>"×"</button>
        </li>
    }
}

/// A module that is not there.
fn module(app: App, of: MissingModule) -> impl IntoView {
    let MissingModule { module, path, names, file, at } = of;
    let listed: Vec<String> = names.iter().take(MOST_NAMES).map(|it| format!("`{it}`")).collect();
    let listed = listed.join(", ");
    let text = if names.len() > MOST_NAMES {
        t!("guide-missing-others", names = listed, module = &module)
    } else {
        t!("guide-missing", count = names.len(), names = listed, module = &module)
    };
    let empty = path.clone();
    view! {
        <li class="guide-row guide-missing" data-testid="missing-module" data-module=module.clone()>
            <span class="guide-text">
                {prose(&text)}
                " "
                <button type="button" class="quiet guide-place" on:click=move |_| app.reveal_in(&file, at)>
                    {t!("line-number", line = at.line)}
                </button>
            </span>
            <span class="guide-buttons">
                <button
                    type="button"
                    data-testid="add-module"
                    title=t!("guide-add-about")
                    on:click=move |_| app.choose_files(false)
                >
                    {t!("guide-add", path = &path)}
                </button>
                <button
                    type="button"
                    data-testid="add-model-folder"
                    title=t!("guide-folder-about")
                    on:click=move |_| app.choose_files(true)
                >
                    {t!("guide-folder")}
                </button>
                <button
                    type="button"
                    data-testid="paste-module"
                    title=t!("guide-paste-about")
                    on:click=move |_| {
                        if let Err(why) = app.add_file(&empty, "") {
                            app.files.notes.set(vec![why]);
                        }
                    }
                >
                    {t!("guide-paste")}
                </button>
            </span>
        </li>
    }
}

/// A file with functions alone.
fn no_stencil(app: App, names: Vec<String>) -> impl IntoView {
    let listed: Vec<String> = names.iter().take(MOST_NAMES).map(|it| format!("`{it}`")).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    let text = t!("guide-functions", count = names.len(), names = listed.join(", ") + more);
    let first = names.into_iter().next().unwrap_or_default();
    let label = t!("guide-write-stencil", function = &first);
    view! {
        <li class="guide-row" data-testid="functions-only">
            <span class="guide-text">{prose(&text)}</span>
            <span class="guide-buttons">
                <button type="button" data-testid="write-stencil" on:click=move |_| app.write_stencil_for(&first)>{label}</button>
            </span>
        </li>
    }
}

/// The numbers of values that are made up so that the text runs.
fn made_up(app: App, [fields, scalars, externals]: [usize; 3]) -> Option<impl IntoView> {
    let words = [
        (fields > 0).then(|| t!("n-fields", count = fields)),
        (scalars > 0).then(|| t!("n-scalars", count = scalars)),
        (externals > 0).then(|| t!("n-externals", count = externals)),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let listed = match words.split_last()? {
        (last, []) => last.clone(),
        (last, before) => t!("guide-and", before = before.join(", "), last = last),
    };
    let text = t!("guide-made-up", listed = listed);
    Some(view! {
        <li class="guide-row" data-testid="made-up">
            <span class="guide-text"><span class="mark mark-made">{t!("guide-mark")}</span>" "{text}</span>
            <span class="guide-buttons">
                <button
                    type="button"
                    data-testid="show-made-up"
                    on:click=move |_| app.drawer.choose_below(DrawerList::Inputs)
                >
                    {t!("guide-look")}
                </button>
                <button
                    type="button"
                    data-testid="write-down"
                    title=t!("guide-write-about")
                    on:click=move |_| app.write_down()
                >
                    {t!("guide-write")}
                </button>
            </span>
        </li>
    })
}
