//! What the user has to know before anything else: a crash, a broken link, a full storage.

use leptos::prelude::*;

use crate::state::compilation::Trouble;
use crate::state::use_app;

/// Lines below the bar, none on a good day. Reads troubles; offers what can be done about each.
#[component]
pub fn Notices() -> impl IntoView {
    let app = use_app();
    let trouble = move || {
        let trouble = app.compilation.trouble.get()?;
        let text = match &trouble {
            Trouble::Crashed(_) => {
                "The compiler crashed. Your source is safe. It is compiled again when you change it or an external.".to_owned()
            }
            Trouble::TookTooLong => {
                "The compiler took too long and was stopped. Your source is safe. It is compiled again when you change it or an external."
                    .to_owned()
            }
            Trouble::NotLoaded(why) => {
                format!("The compiler could not be started: {why}. Your source is safe; reload the page to try again.")
            }
        };
        Some(view! {
            <div class="notice notice-error" role="alert">
                <span>{text}</span>
                <button type="button" on:click=move |_| app.try_again()>"Try again"</button>
            </div>
        })
    };
    let broken = move || {
        let broken = app.sharing.broken.get()?;
        Some(view! {
            <div class="notice notice-error">
                <span data-testid="share-error" role="alert">
                    "The link could not be opened: "{broken.to_string()}". Your last text is here instead."
                </span>
                <button type="button" on:click=move |_| app.sharing.broken.set(None)>"Dismiss"</button>
            </div>
        })
    };
    let linked = move || {
        app.project.is_linked.get().then(|| view! {
            <div class="notice" role="status">
                <span>
                    "This text came with a link; your own is kept beside it. "
                    {move || app.sharing.notes.get().join("; ")}
                </span>
                <button type="button" data-testid="leave-link" on:click=move |_| app.leave_link()>"Back to my text"</button>
                <button type="button" data-testid="adopt-link" on:click=move |_| app.adopt_link()>"Keep this one"</button>
            </div>
        })
    };
    let storage = move || {
        app.project
            .storage_warning
            .get()
            .map(|it| view! { <div class="notice notice-warn" role="alert">{it}</div> })
    };
    view! { <div class="notices">{trouble}{broken}{linked}{storage}</div> }
}
