//! The texts that can be opened: examples, the texts of this browser, and earlier states of the shown one.

use leptos::prelude::*;

use super::Panel;
use crate::bridge::locale::t;
use crate::state::gallery;
use crate::state::use_app;
use crate::state::workspaces::{SavedText, time_in_words};

/// The lists. Reads gallery and workspaces; opens, begins and forgets texts.
#[must_use]
pub fn later() -> AnyView {
    let app = use_app();
    let Panel(is_open) = expect_context();
    let chosen = Memo::new(move |_| {
        let name = app.name_of_text();
        name.entry.filter(|_| !name.is_edited)
    });
    let examples = move |it: &gallery::GalleryEntry| {
        let name = it.name;
        view! {
            <li>
                <button
                    type="button"
                    class="quiet"
                    data-testid=format!("example-{name}")
                    aria-current=move || (chosen.get() == Some(name)).then_some("true")
                    on:click=move |_| {
                        is_open.set(false);
                        app.open_gallery(name);
                    }
                >
                    {(it.title)()}
                </button>
            </li>
        }
    };
    view! {
        <div class="opened-columns">
            <div>
                <h2>{t!("bar-examples")}</h2>
                <ul>{gallery::ENTRIES.iter().map(examples).collect_view()}</ul>
            </div>
            <div>
                <h2>{t!("bar-texts")}</h2>
                <button
                    type="button"
                    data-testid="new-text"
                    on:click=move |_| {
                        is_open.set(false);
                        app.new_workspace();
                    }
                >
                    {t!("bar-new-text")}
                </button>
                <ul data-testid="texts">{move || app.workspaces.list.get().into_iter().map(|it| own(it, is_open)).collect_view()}</ul>
                <Show when=move || app.workspaces.states.with(|it| it.len() > 1)>
                    <h2>{t!("bar-earlier")}</h2>
                    <ul class="earlier" data-testid="earlier">
                        {move || app.workspaces.states.get().into_iter().skip(1).map(|at| earlier(at, is_open)).collect_view()}
                    </ul>
                </Show>
                <h2>{t!("bar-all")}</h2>
                <Everything />
            </div>
        </div>
    }
    .into_any()
}

/// Actions on all texts at once; deleting asks first.
#[component]
fn Everything() -> impl IntoView {
    let app = use_app();
    let is_asking = RwSignal::new(false);
    view! {
        <div class="everything">
            <button type="button" class="quiet" data-testid="save-texts" on:click=move |_| app.save_all_texts()>
                {t!("bar-save-all")}
            </button>
            <button
                type="button"
                class="quiet"
                data-testid="forget-everything"
                hidden=move || is_asking.get()
                on:click=move |_| is_asking.set(true)
            >
                {t!("bar-forget-all")}
            </button>
            <Show when=move || is_asking.get()>
                <p role="alert">{t!("bar-forget-all-about")}</p>
                <button
                    type="button"
                    class="danger"
                    data-testid="forget-everything-now"
                    on:click=move |_| app.forget_everything()
                >
                    {t!("bar-forget-all-now")}
                </button>
                <button type="button" data-testid="keep-everything" on:click=move |_| is_asking.set(false)>
                    {t!("bar-keep-all")}
                </button>
            </Show>
        </div>
    }
}

/// A text of the user's.
fn own(it: SavedText, is_open: RwSignal<bool>) -> impl IntoView {
    let app = use_app();
    let is_shown = app.is_open(&it.id);
    let (id, to_forget) = (it.id.clone(), it.id);
    view! {
        <li class="own-text">
            <button
                type="button"
                class="quiet"
                data-testid="text"
                aria-current=is_shown.then_some("true")
                on:click=move |_| {
                    is_open.set(false);
                    app.open_workspace(id.clone());
                }
            >
                <span>{it.title.clone()}</span>
                <span class="muted">{time_in_words(it.at)}</span>
            </button>
            {(!is_shown)
                .then(|| view! {
                    <button
                        type="button"
                        class="quiet"
                        aria-label=t!("bar-delete", title = &it.title)
                        title=t!("bar-delete-about")
                        on:click=move |_| app.forget_workspace(to_forget.clone())
                    >
                        "✕"
                    </button>
                })}
        </li>
    }
}

fn earlier(at: f64, is_open: RwSignal<bool>) -> impl IntoView {
    let app = use_app();
    view! {
        <li>
            <button
                type="button"
                class="quiet"
                data-testid="earlier-state"
                on:click=move |_| {
                    is_open.set(false);
                    app.open_earlier(at);
                }
            >
                {time_in_words(at)}
            </button>
        </li>
    }
}
