//! The dialog that offers a link.

use isobar_protocol::limits::{LINK_CHARS, LINK_WARN_CHARS};
use leptos::html::{Dialog, Input};
use leptos::prelude::*;

use crate::state::use_app;

/// Shows the link that was made. Reads it, and copies it when asked.
#[component]
pub fn ShareDialog() -> impl IntoView {
    let app = use_app();
    let dialog = NodeRef::<Dialog>::new();
    let input = NodeRef::<Input>::new();
    let link = app.sharing.link;
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        if link.with(Option::is_some) {
            // Refused while it is open already.
            let _ = dialog.show_modal();
            if let Some(input) = input.get_untracked() {
                input.select();
            }
        } else {
            dialog.close();
        }
    });
    let size = move || link.with(|it| it.as_ref().map_or(0, String::len));
    let advice = move || {
        let size = size();
        if size > LINK_CHARS {
            "This link is longer than a page opens: shorten the text.".to_owned()
        } else if size > LINK_WARN_CHARS {
            format!("{size} characters: some programs cut links that are longer than {LINK_WARN_CHARS}.")
        } else {
            format!("{size} characters. The link holds the text itself; no server sees it.")
        }
    };
    let is_long = move || size() > LINK_WARN_CHARS;
    let copied = move || match app.sharing.is_copied.get() {
        None => "",
        Some(true) => "Copied.",
        Some(false) => "The browser refused: copy the marked text by hand.",
    };
    view! {
        <dialog class="dialog share" node_ref=dialog aria-labelledby="share-title" on:close=move |_| link.set(None)>
            <h2 id="share-title">"Share"</h2>
            <label class="share-label">
                "Link to this text, its run settings and views"
                <input
                    type="text"
                    readonly
                    data-testid="share-link"
                    node_ref=input
                    prop:value=move || link.get().unwrap_or_default()
                    on:focus:target=|event| event.target().select()
                />
            </label>
            <p class="muted" class:warn=is_long>{advice}</p>
            <p role="status">{copied}</p>
            <div class="share-actions">
                <button type="button" class="primary" on:click=move |_| app.copy_link()>"Copy link"</button>
                <button type="button" on:click=move |_| link.set(None)>"Close"</button>
            </div>
        </dialog>
    }
}
