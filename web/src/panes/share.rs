//! The dialog that hands on a link.

use isobar_protocol::limits::{LINK_CHARS, LINK_WARN_CHARS};
use leptos::html::{Dialog, Input};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// Shows the link that was made, and the ways to hand it on. Reads it; copies and saves when asked.
#[component]
pub fn ShareDialog() -> impl IntoView {
    let app = use_app();
    let dialog = NodeRef::<Dialog>::new();
    let input = NodeRef::<Input>::new();
    let offer = app.sharing.offer;
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        if offer.with(Option::is_some) {
            // Refused while it is open already.
            let _ = dialog.show_modal();
            if let Some(input) = input.get_untracked() {
                input.select();
            }
        } else {
            dialog.close();
        }
    });
    let size = move || offer.with(|it| it.as_ref().map_or(0, |it| it.link.len()));
    let advice = move || {
        let size = size();
        if size > LINK_CHARS {
            t!("share-too-long", size = size, most = LINK_CHARS)
        } else if size > LINK_WARN_CHARS {
            t!("share-long", size = size, most = LINK_WARN_CHARS)
        } else {
            t!("share-size", size = size)
        }
    };
    let is_long = move || size() > LINK_WARN_CHARS;
    view! {
        <dialog class="dialog share" node_ref=dialog aria-labelledby="share-title" on:close=move |_| offer.set(None)>
            <h2 id="share-title">{t!("share")}</h2>
            <label class="share-label">
                {t!("share-link")}
                <input
                    type="text"
                    readonly
                    data-testid="share-link"
                    node_ref=input
                    prop:value=move || offer.with(|it| it.as_ref().map(|it| it.link.clone())).unwrap_or_default()
                    on:focus:target=|event| event.target().select()
                />
            </label>
            <p class="muted" class:warn=is_long data-testid="share-size">{advice}</p>
            <div class="share-actions">
                <button type="button" class="primary" data-testid="copy-link" on:click=move |_| app.sharing.copy_link()>
                    {t!("share-copy")}
                </button>
                <button
                    type="button"
                    data-testid="copy-markdown"
                    title=t!("share-markdown-about")
                    on:click=move |_| app.sharing.copy_markdown()
                >
                    {t!("share-markdown")}
                </button>
                <button
                    type="button"
                    data-testid="save-zip"
                    title=t!("share-zip-about")
                    on:click=move |_| app.sharing.save_zip()
                >
                    {t!("share-zip")}
                </button>
            </div>
            <label class="share-label">
                {t!("share-command")}
                <input
                    type="text"
                    readonly
                    data-testid="share-command"
                    prop:value=move || offer.with(|it| it.as_ref().map(|it| it.command.clone())).unwrap_or_default()
                    on:focus:target=|event| event.target().select()
                />
            </label>
            <div class="share-actions">
                <button type="button" data-testid="copy-command" on:click=move |_| app.sharing.copy_command()>
                    {t!("share-copy-command")}
                </button>
                <button type="button" on:click=move |_| offer.set(None)>{t!("close")}</button>
                <span role="status" data-testid="share-said">{move || app.sharing.said.get()}</span>
            </div>
        </dialog>
    }
}
