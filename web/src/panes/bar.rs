//! The bar at the top: what is open, and what can be done with it.

use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Button, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Node;

use crate::state::gallery;
use crate::state::run::HERE;
use crate::state::settings::Theme;
use crate::state::shortcuts::spelled;
use crate::state::use_app;

/// Gallery, choices of the run, and the actions. Reads and changes the project; starts runs.
#[component]
pub fn Bar() -> impl IntoView {
    let app = use_app();
    view! {
        <header class="bar">
            <h1 class="brand">"Isobar"</h1>
            <label class="control control-gallery">
                <span class="visually-hidden">"Example"</span>
                <select
                    data-testid="gallery-select"
                    title="Examples"
                    prop:value=move || app.project.gallery.get().unwrap_or_default()
                    on:change:target=move |event| app.open_gallery(&event.target().value())
                >
                    <option value="" disabled>"Examples"</option>
                    {gallery::ENTRIES
                        .iter()
                        .map(|it| view! {
                            <option
                                value=it.name
                                selected=move || app.project.gallery.with(|name| name.as_deref() == Some(it.name))
                            >
                                {it.title}
                            </option>
                        })
                        .collect_view()}
                </select>
            </label>
            <StencilChoice />
            <Precision />
            <Domain />
            <div class="bar-actions">
                <Actions />
            </div>
            <More />
        </header>
    }
}

/// What is not needed for a run: in the bar where it has room, behind a button where it has not.
#[component]
fn More() -> impl IntoView {
    let app = use_app();
    let theme = app.settings.theme;
    let is_open = RwSignal::new(false);
    let (menu, toggle) = (NodeRef::<Div>::new(), NodeRef::<Button>::new());
    // The focus goes back to the button before what has it is hidden; a dialog returns it there when it closes.
    let close = move || {
        if let Some(toggle) = toggle.get_untracked().filter(|_| is_open.get_untracked()) {
            // Refused by a button that is hidden, which has opened nothing.
            let _ = toggle.focus();
        }
        is_open.set(false);
    };
    let close_on_escape = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            close();
        }
    };
    let close_behind = move |event: FocusEvent| {
        // Without a next element it is a click, or another window: the menu waits.
        let next = event.related_target().and_then(|it| it.dyn_into::<Node>().ok());
        let is_outside = |next: Node| menu.get_untracked().is_some_and(|it| !it.contains(Some(&next)));
        if next.is_some_and(is_outside) {
            is_open.set(false);
        }
    };
    view! {
        <div
            class="more"
            node_ref=menu
            data-open=move || is_open.get().then_some("true")
            on:keydown=close_on_escape
            on:focusout=close_behind
        >
            <button
                type="button"
                node_ref=toggle
                class="more-toggle"
                data-testid="more"
                aria-label="More"
                aria-expanded=move || if is_open.get() { "true" } else { "false" }
                aria-controls="more-items"
                on:click=move |_| is_open.update(|it| *it = !*it)
            >
                "⋯"
            </button>
            <div class="more-shade" on:click=move |_| close()></div>
            <div class="more-items" id="more-items">
                <button
                    type="button"
                    data-testid="share"
                    title="A link to this text and its settings"
                    on:click=move |_| {
                        close();
                        app.share();
                    }
                >
                    "Share"
                </button>
                <label class="control">
                    <span class="visually-hidden">"Theme"</span>
                    <select
                        data-testid="theme-select"
                        title="Theme"
                        prop:value=move || theme.get().name()
                        on:change:target=move |event| {
                            app.settings.choose_theme(Theme::from_name(&event.target().value()));
                        }
                    >
                        <option value="system">"System theme"</option>
                        <option value="light">"Light"</option>
                        <option value="dark">"Dark"</option>
                    </select>
                </label>
                <button
                    type="button"
                    data-testid="help"
                    title="Keys, language, and lines that describe a run (?)"
                    on:click=move |_| {
                        close();
                        app.layout.help_open.set(true);
                    }
                >
                    "Help"
                </button>
            </div>
        </div>
    }
}

/// Which stencil, where the text has several.
#[component]
fn StencilChoice() -> impl IntoView {
    let app = use_app();
    let stencils = app.compilation.stencils;
    let chosen = Memo::new(move |_| app.compilation.stencil.get().unwrap_or_default());
    view! {
        <Show when=move || stencils.with(|it| it.len() > 1)>
            <label class="control">
                <span class="control-name">"stencil"</span>
                <select
                    data-testid="stencil-select"
                    prop:value=move || chosen.get()
                    on:change:target=move |event| app.choose_stencil(event.target().value())
                >
                    {move || stencils
                        .get()
                        .into_iter()
                        .map(|it| {
                            let is_chosen = chosen.with(|chosen| *chosen == it);
                            view! { <option value=it.clone() selected=is_chosen>{it.clone()}</option> }
                        })
                        .collect_view()}
                </select>
            </label>
        </Show>
    }
}

#[component]
fn Precision() -> impl IntoView {
    let app = use_app();
    let precision = app.project.precision;
    view! {
        <label class="control">
            <span class="visually-hidden">"Precision"</span>
            <select
                data-testid="precision-select"
                title="Precision of Float"
                prop:value=move || precision.get().to_string()
                on:change:target=move |event| {
                    app.choose_precision(if event.target().value() == "32" { 32 } else { 64 });
                }
            >
                <option value="64" selected=move || precision.get() == 64>"fp64"</option>
                <option value="32" selected=move || precision.get() == 32>"fp32"</option>
            </select>
        </label>
    }
}

/// The domain of the next run.
#[component]
fn Domain() -> impl IntoView {
    let app = use_app();
    let size = |axis: usize, name: &'static str| {
        // A memo, since drawing it anew would take back what is being typed: each answer of the compiler gives the
        // domain of the text once more.
        let points = Memo::new(move |_| app.domain()[axis]);
        view! {
            <label class="control control-size">
                <span class="control-name">{name}</span>
                <input
                    type="number"
                    min="1"
                    max="1048576"
                    inputmode="numeric"
                    data-testid=format!("domain-{name}")
                    aria-label=format!("Points of the domain along {name}")
                    prop:value=move || points.get().to_string()
                    on:change:target=move |event| {
                        if let Ok(typed) = event.target().value().trim().parse::<i64>() {
                            app.choose_domain(axis, typed.clamp(1, 1 << 20));
                        }
                        // What is no number, or none that is allowed, is put right.
                        event.target().set_value(&points.get_untracked().to_string());
                    }
                />
            </label>
        }
    };
    view! { <div class="domain" role="group" aria-label="Domain">{size(0, "i")}{size(1, "j")}{size(2, "k")}</div> }
}

/// Run, run elsewhere, compare, stop.
#[component]
fn Actions() -> impl IntoView {
    let app = use_app();
    let is_working = move || app.run.is_working();
    let has_errors = move || app.compilation.n_errors() > 0;
    let is_remote = move || app.connection.is_there();
    let why_not = move || {
        if is_remote() {
            "Computes on this machine's runner, outside of the browser"
        } else {
            "This page is served without a runner: start one with `isobar serve` and open the address that it prints"
        }
    };
    view! {
        <div class="joined">
            <button
                type="button"
                class="primary"
                class:working=is_working
                data-testid="run-here"
                title=format!("Computes in this tab ({})", spelled("Mod+Enter").join("+"))
                disabled=move || is_working() || has_errors()
                on:click=move |_| app.run_here()
            >
                <svg class="icon" viewBox="0 0 12 12" aria-hidden="true"><path d="M2 1l9 5-9 5z" fill="currentColor" /></svg>
                "Run"
            </button>
            <select
                class="when-wide"
                aria-label="Back end of this tab"
                title="numpy is fast; debug is slow and defines the meaning; webgpu runs on this machine's GPU, and all give the same bits. webgpu-fast computes with f32 in place of f64"
                data-testid="tab-backend-select"
                disabled=is_working
                on:change:target=move |event| {
                    let chosen = event.target().value();
                    app.run.backend.set(HERE.into_iter().find(|it| *it == chosen).unwrap_or(HERE[0]));
                }
            >
                {HERE.map(|it| view! { <option value=it>{it}</option> })}
            </select>
        </div>
        <div class="joined">
            <button
                type="button"
                data-testid="run-runner"
                title=why_not
                disabled=move || is_working() || has_errors() || !is_remote()
                on:click=move |_| app.run_on_runner()
            >
                <span class="when-wide">"Run on this runner"</span>
                <span class="when-narrow">"On runner"</span>
            </button>
            <select
                aria-label="Back end of the runner"
                data-testid="backend-select"
                disabled=move || !is_remote()
                on:change:target=move |event| app.connection.backend.set(event.target().value())
            >
                {move || app.connection
                    .backends()
                    .into_iter()
                    .map(|it| {
                        let is_chosen = app.connection.backend.with_untracked(|name| *name == it);
                        view! { <option value=it.clone() selected=is_chosen>{it.clone()}</option> }
                    })
                    .collect_view()}
            </select>
        </div>
        <button
            type="button"
            data-testid="compare"
            title=why_not
            disabled=move || is_working() || has_errors() || !is_remote()
            on:click=move |_| app.compare()
        >
            "Compare"
        </button>
        <button
            type="button"
            class="when-wide"
            data-testid="check"
            title="Runs the chosen back end of this tab and debug, and compares every bit"
            disabled=move || is_working() || has_errors()
            on:click=move |_| app.check()
        >
            "Check"
        </button>
        <Show when=is_working>
            <button type="button" class="danger" data-testid="cancel" on:click=move |_| app.stop()>"Stop"</button>
        </Show>
    }
}
