//! The bar at the top: what is open, and what can be done with it.

pub mod more;
pub mod opened;
pub mod size;
pub mod stencil;

use isobar_page_model::route::Route;
use isobar_page_model::run::{HERE, RunTarget};
use leptos::context::Provider;
use leptos::html::Select;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::keyboard::spelled;
use crate::state::use_app;
use crate::widgets::later::Later;
use crate::widgets::popover::Popover;
use stencil::StencilChoice;

/// The open text, the size of a run, and the one button that runs. Reads and changes the project; starts
/// runs.
#[component]
pub fn Bar() -> impl IntoView {
    view! {
        <header class="bar">
            <h1 class="brand">"Isobar"</h1>
            <Opened />
            <StencilChoice />
            <Places />
            <div class="bar-actions">
                <Size />
                <Actions />
            </div>
            <ShareButton />
            <More />
        </header>
    }
}

/// The title of the text. It opens the list of examples, the texts of this browser, and earlier states of
/// this one.
#[component]
fn Opened() -> impl IntoView {
    let app = use_app();
    let is_open = RwSignal::new(false);
    let title = Memo::new(move |_| app.name_of_text().title);
    let label = Signal::derive(move || t!("bar-opened", title = title.get()));
    Effect::new(move |_| {
        if is_open.get() {
            app.list_workspaces();
        }
    });
    view! {
        <Popover
            id="opened-panel"
            label=label
            title=t!("bar-opened-about")
            test_id="opened"
            class="opened"
            is_open=is_open
            face=ViewFn::from(move || view! {
                <span class="opened-title" data-testid="text-name">{move || title.get()}</span>
                <span aria-hidden="true">"▾"</span>
            })
        >
            <Provider value=Panel(is_open)><Later name="opened" when=is_open /></Provider>
        </Popover>
    }
}

/// Whether a panel of the bar is open; its contents can close it.
#[derive(Clone, Copy, Debug)]
struct Panel(RwSignal<bool>);

/// Where else one can go, as views of the address.
fn places() -> [(&'static str, &'static str, &'static str); 3] {
    [
        ("learn", t!("bar-learn"), "#/learn"),
        ("gallery", t!("gallery"), "#/gallery"),
        ("manual", t!("manual"), "#/manual"),
    ]
}

/// Lessons, gallery and manual; the one that is open leads back to the editor. Reads the address's view.
#[component]
fn Places() -> impl IntoView {
    let app = use_app();
    let link = move |(name, title, address): (&'static str, &'static str, &'static str)| {
        let is_here = move || app.learn.route.with(|it| it.name() == name);
        view! {
            <a
                data-testid=format!("go-{name}")
                href=move || if is_here() { "#" } else { address }
                aria-current=move || is_here().then_some("page")
            >
                {title}
            </a>
        }
    };
    view! {
        <nav class="places" aria-label=t!("bar-places")>
            {places().map(link).collect_view()}
            <Show when=move || app.learn.route.with(|it| *it != Route::Editor)>
                <a href="#" data-testid="go-editor">{t!("bar-editor")}</a>
            </Show>
        </nav>
    }
}

/// Domain and precision of the next run, behind a button that tells them.
#[component]
fn Size() -> impl IntoView {
    let app = use_app();
    let is_open = RwSignal::new(false);
    let text = Memo::new(move |_| {
        let [i, j, k] = app.domain();
        format!("{i} × {j} × {k}, fp{}", app.project.precision.get())
    });
    let label = Signal::derive(move || t!("bar-size", size = text.get()));
    view! {
        <Popover
            id="size-panel"
            label=label
            title=t!("bar-size-about")
            test_id="size"
            class="size"
            is_open=is_open
            face=ViewFn::from(move || view! {
                <span class="number size-text">{move || text.get()}</span>
                <svg class="icon" viewBox="0 0 12 12" aria-hidden="true">
                    <path d="M0 2h7v1H0zM9 2h3v1H9zM7 1h2v3H7zM0 9h3v1H0zM5 9h7v1H5zM3 8h2v3H3zM0 5.5h12v1H0z" fill="currentColor" />
                </svg>
            })
        >
            <Later name="size" when=is_open />
        </Popover>
    }
}

/// Run, or stop; and where.
#[component]
fn Actions() -> impl IntoView {
    let app = use_app();
    let is_working = move || app.run.is_working();
    let cannot_run = move || {
        app.compilation.n_errors() > 0 || app.compilation.defaults.with(|it| !it.functions.is_empty())
    };
    let is_remote = move || app.connection.is_there();
    let place = app.run.place;
    let chosen = move || match place.get() {
        RunTarget::Here => format!("here:{}", app.run.backend.get()),
        RunTarget::Runner => format!("runner:{}", app.connection.backend.get()),
    };
    // The list of back ends is made anew when the runner comes or goes; the select shows what is chosen still.
    let select = NodeRef::<Select>::new();
    Effect::new(move |_| {
        let value = chosen();
        app.connection.link.track();
        request_animation_frame(move || {
            if let Some(select) = select.get_untracked() {
                select.set_value(&value);
            }
        });
    });
    let title = move || {
        let keys = spelled("Mod+Enter").join("+");
        match place.get() {
            RunTarget::Here => t!("bar-run-here", keys = keys),
            RunTarget::Runner => t!("bar-run-runner", keys = keys),
        }
    };
    view! {
        <div class="joined run-choice">
            // One button in one place: it stops what it began.
            <button
                type="button"
                class="primary run"
                data-testid="run"
                title=title
                hidden=is_working
                disabled=cannot_run
                on:click=move |_| app.run_chosen()
            >
                <svg class="icon" viewBox="0 0 12 12" aria-hidden="true"><path d="M2 1l9 5-9 5z" fill="currentColor" /></svg>
                {t!("bar-run")}
            </button>
            <Show when=is_working>
                <button type="button" class="danger run" data-testid="cancel" on:click=move |_| app.stop()>
                    <svg class="icon" viewBox="0 0 12 12" aria-hidden="true"><path d="M2 2h8v8h-8z" fill="currentColor" /></svg>
                    {t!("bar-stop")}
                </button>
            </Show>
            <select
                node_ref=select
                aria-label=t!("bar-target")
                title=t!("bar-target-about")
                data-testid="target-select"
                disabled=is_working
                prop:value=chosen
                on:change:target=move |event| app.choose_target(&event.target().value())
            >
                <optgroup label=t!("bar-in-this-tab")>
                    {HERE.map(|it| {
                        let value = format!("here:{it}");
                        let of_option = value.clone();
                        view! { <option value=value selected=move || chosen() == of_option>{it}</option> }
                    })}
                </optgroup>
                <Show when=is_remote>
                    <optgroup label=t!("bar-on-this-runner")>
                        {move || app.connection
                            .backends()
                            .into_iter()
                            .map(|it| {
                                let value = format!("runner:{it}");
                                let is_chosen = untrack(chosen) == value;
                                view! { <option value=value selected=is_chosen>{it}</option> }
                            })
                            .collect_view()}
                    </optgroup>
                </Show>
            </select>
        </div>
    }
}

#[component]
fn ShareButton() -> impl IntoView {
    let app = use_app();
    view! {
        <button
            type="button"
            class="share-button"
            data-testid="share"
            title=t!("bar-share-about")
            on:click=move |_| app.share()
        >
            {t!("share")}
        </button>
    }
}

/// Items that are seldom needed.
#[component]
fn More() -> impl IntoView {
    let is_open = RwSignal::new(false);
    view! {
        <Popover
            id="more-items"
            label=Signal::stored(t!("bar-more").to_owned())
            test_id="more"
            class="more"
            is_open=is_open
            face=ViewFn::from(|| "⋯")
        >
            <Provider value=Panel(is_open)><Later name="more" when=is_open /></Provider>
        </Popover>
    }
}
