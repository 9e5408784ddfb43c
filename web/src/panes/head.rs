//! The lines `# @...` of a text, as a card above it.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::head::{HeadLine, WORDS};
use crate::state::use_app;

/// The head of the shown text, in one line or in full. Reads and changes the text.
#[component]
pub fn HeadCard() -> impl IntoView {
    let app = use_app();
    let lines = Memo::new(move |_| app.head_lines());
    let (is_open, is_folded) = (app.head.is_open, app.head.is_folded);
    let of =
        move |word: &str| lines.with(|it| it.iter().find(|it| it.word == word).map(|it| it.rest.clone()));
    let about = move || {
        lines.with(|it| {
            let all: Vec<&str> =
                it.iter().filter(|it| it.word == "about").map(|it| it.rest.as_str()).collect();
            all.join(" ")
        })
    };
    let facts = move || {
        let n = |word: &str| lines.with(|it| it.iter().filter(|it| it.word == word).count());
        let domain = of("domain").map(|it| it.split_whitespace().collect::<Vec<_>>().join(" × "));
        let (inputs, scalars, externals) = (n("input"), n("scalar"), n("external"));
        let counts = [
            (inputs > 0).then(|| t!("n-inputs", count = inputs)),
            (scalars > 0).then(|| t!("n-scalars", count = scalars)),
            (externals > 0).then(|| t!("n-externals", count = externals)),
        ];
        domain.into_iter().chain(counts.into_iter().flatten()).collect::<Vec<_>>().join(", ")
    };
    view! {
        <Show when=move || !lines.with(Vec::is_empty)>
            <section class="head-card" data-testid="head-card" aria-label=t!("head")>
                <div class="head-summary">
                    <button
                        type="button"
                        class="quiet disclosure"
                        data-testid="head-toggle"
                        aria-expanded=move || if is_open.get() { "true" } else { "false" }
                        aria-controls="head-body"
                        on:click=move |_| is_open.update(|it| *it = !*it)
                    >
                        <span class="disclosure-sign" aria-hidden="true">{move || if is_open.get() { "▾" } else { "▸" }}</span>
                        <span class="head-title">{move || of("title").unwrap_or_else(|| t!("head").to_owned())}</span>
                    </button>
                    <span class="muted head-about" title=about>{about}</span>
                    <span class="muted head-facts">{facts}</span>
                    <button
                        type="button"
                        class="quiet"
                        data-testid="head-fold"
                        title=move || if is_folded.get() { t!("head-as-text-about") } else { t!("head-fold-about") }
                        on:click=move |_| is_folded.update(|it| *it = !*it)
                    >
                        {move || if is_folded.get() { t!("head-as-text") } else { t!("head-fold") }}
                    </button>
                </div>
                <div class="head-body" id="head-body" hidden=move || !is_open.get()>
                    <ul>
                        <For each=move || lines.get() key=|it| (it.at, it.word.clone(), it.rest.clone()) let(line)>
                            <Line line=line />
                        </For>
                    </ul>
                    <Adding />
                </div>
            </section>
        </Show>
    }
}

/// One line, which can be changed or taken out.
#[component]
fn Line(line: HeadLine) -> impl IntoView {
    let app = use_app();
    let HeadLine { at, word, rest } = line;
    let id = format!("head-line-{at}");
    let (of_change, of_removal) = (word.clone(), word.clone());
    view! {
        <li class="head-line">
            <label for=id.clone()><code>{format!("@{word}")}</code></label>
            <input
                id=id
                type="text"
                spellcheck=if word == "about" || word == "title" { "true" } else { "false" }
                autocomplete="off"
                data-testid=format!("head-{word}")
                value=rest
                on:change:target=move |event| app.change_head(at, &of_change, &event.target().value())
            />
            <button
                type="button"
                class="quiet"
                title=t!("head-remove")
                aria-label=t!("head-remove-word", word = &word)
                on:click=move |_| app.change_head(at, &of_removal, "")
            >
                "×"
            </button>
        </li>
    }
}

/// A further line.
#[component]
fn Adding() -> impl IntoView {
    let app = use_app();
    let word = RwSignal::new(WORDS[0].0);
    let example = move || WORDS.iter().find(|it| it.0 == word.get()).map_or("", |it| (it.1)());
    view! {
        <div class="head-line head-adding">
            <select
                aria-label=t!("head-kind")
                data-testid="head-word"
                on:change:target=move |event| {
                    let chosen = event.target().value();
                    word.set(WORDS.iter().find(|it| it.0 == chosen).map_or(WORDS[0].0, |it| it.0));
                }
            >
                {WORDS.map(|(it, _)| view! { <option value=it>{format!("@{it}")}</option> })}
            </select>
            <input
                type="text"
                aria-label=t!("head-add")
                placeholder=example
                spellcheck="false"
                autocomplete="off"
                data-testid="head-add"
                on:change:target=move |event| {
                    let text = event.target().value();
                    if !text.trim().is_empty() {
                        app.add_to_head(word.get_untracked(), &text);
                        event.target().set_value("");
                    }
                }
            />
        </div>
    }
}
