//! Items that are seldom needed: comparisons, the other views where there is no room for them, theme,
//! language, help.

use leptos::prelude::*;

use super::{Panel, places};
use crate::bridge::locale::t;
use crate::state::settings::{Settings, Theme};
use crate::state::use_app;

/// The items. Reads runner, run and settings; starts comparisons, opens dialogs, chooses theme and language.
#[must_use]
pub fn later() -> AnyView {
    let app = use_app();
    let Panel(is_open) = expect_context();
    let theme = app.settings.theme;
    let cannot = move || app.run.is_working() || app.compilation.n_errors() > 0;
    let is_remote = move || app.connection.is_there();
    let why_not = move || {
        if is_remote() { t!("bar-compare-about") } else { t!("no-runner-start") }
    };
    view! {
        <button
            type="button"
            data-testid="check"
            title=t!("bar-check-about")
            disabled=cannot
            on:click=move |_| {
                is_open.set(false);
                app.check();
            }
        >
            {t!("bar-check")}
        </button>
        <button
            type="button"
            data-testid="compare"
            title=why_not
            disabled=move || cannot() || !is_remote()
            on:click=move |_| {
                is_open.set(false);
                app.compare();
            }
        >
            {t!("bar-compare")}
        </button>
        <button
            type="button"
            class="when-narrow"
            data-testid="share-more"
            on:click=move |_| {
                is_open.set(false);
                app.share();
            }
        >
            {t!("share")}
        </button>
        {places()
            .map(|(_, title, address)| view! {
                <a href=address on:click=move |_| is_open.set(false)>{title}</a>
            })
            .into_iter()
            .collect_view()}
        <label class="control">
            <span class="visually-hidden">{t!("bar-theme")}</span>
            <select
                data-testid="theme-select"
                title=t!("bar-theme")
                prop:value=move || theme.get().name()
                on:change:target=move |event| {
                    app.settings.choose_theme(Theme::from_name(&event.target().value()));
                }
            >
                <option value="system">{t!("bar-theme-system")}</option>
                <option value="light">{t!("bar-theme-light")}</option>
                <option value="dark">{t!("bar-theme-dark")}</option>
            </select>
        </label>
        <label class="control">
            <span class="visually-hidden">{t!("bar-language")}</span>
            <select
                data-testid="language-select"
                title=t!("bar-language")
                on:change:target=move |event| app.choose_language(&event.target().value())
            >
                {Settings::languages()
                    .map(|(tag, name)| view! {
                        // Each name is in its own language, so that its speakers find it.
                        <option value=tag lang=tag selected=tag == Settings::language()>{name}</option>
                    })}
            </select>
        </label>
        <button
            type="button"
            data-testid="help"
            title=t!("bar-help-about")
            on:click=move |_| {
                is_open.set(false);
                app.layout.help_open.set(true);
            }
        >
            {t!("help")}
        </button>
    }
    .into_any()
}
