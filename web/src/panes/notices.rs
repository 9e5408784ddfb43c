//! Urgent messages for the user: a crash, a broken link, a full storage.

use isobar_page_model::compilation::CompilerFailure;
use isobar_page_model::workspaces::WorkspaceEvent;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// Lines below the bar, none on a good day. Reads troubles; offers what can be done about each.
#[component]
pub fn Notices() -> impl IntoView {
    let app = use_app();
    let trouble = move || {
        let trouble = app.compilation.trouble.get()?;
        let text = match &trouble {
            CompilerFailure::Crashed(_) => t!("notice-crashed").to_owned(),
            CompilerFailure::TookTooLong => t!("notice-too-long").to_owned(),
            CompilerFailure::NotLoaded(why) => {
                t!("notice-not-loaded", why = why)
            }
        };
        let is_reported = !matches!(trouble, CompilerFailure::NotLoaded(_));
        Some(view! {
            <div class="notice notice-error" role="alert">
                <span>{text}</span>
                <button type="button" on:click=move |_| app.compilation.try_again()>{t!("notice-again")}</button>
                <button
                    type="button"
                    data-testid="copy-report"
                    title=t!("notice-report-about")
                    hidden=!is_reported
                    on:click=move |_| app.copy_report()
                >
                    {t!("notice-report")}
                </button>
            </div>
        })
    };
    let broken = move || {
        let broken = app.sharing.broken.get()?;
        Some(view! {
            <div class="notice notice-error">
                <span data-testid="share-error" role="alert">
                    {t!("notice-link-broken", why = broken.to_string())}
                </span>
                <button type="button" on:click=move |_| app.sharing.broken.set(None)>{t!("dismiss")}</button>
            </div>
        })
    };
    let linked = move || {
        app.workspaces.is_linked.get().then(|| view! {
            <div class="notice" role="status">
                <span>
                    {t!("notice-linked")}
                    " "
                    {move || app.sharing.notes.get().join("; ")}
                </span>
                <button type="button" data-testid="leave-link" on:click=move |_| app.leave_link()>{t!("notice-leave-link")}</button>
                <button type="button" data-testid="adopt-link" on:click=move |_| app.adopt_link()>{t!("notice-adopt-link")}</button>
            </div>
        })
    };
    // For who is here for the first time.
    let welcome = move || {
        app.is_welcome().then(|| view! {
            <div class="notice welcome" role="note" data-testid="welcome">
                <span>
                    {t!("notice-welcome")}
                    " "
                    <a href="#/learn/first-course/01-first" data-testid="start-lesson">{t!("learn-start")}</a>
                </span>
                <button type="button" class="quiet" aria-label=t!("dismiss") on:click=move |_| app.dismiss_welcome()>"✕"</button>
            </div>
        })
    };
    let copy = move || {
        app.workspaces.is_copy.get().then(|| view! {
            <div class="notice" role="status" data-testid="copy-notice">
                <span>{t!("notice-copy")}</span>
                <button type="button" on:click=move |_| app.workspaces.happened(WorkspaceEvent::CopyNoticed)>{t!("dismiss")}</button>
            </div>
        })
    };
    let safe = move || {
        app.compilation.is_safe.get().then(|| view! {
            <div class="notice notice-warn" role="alert" data-testid="safe-mode">
                <span>
                    {t!("notice-safe")}
                </span>
                <button type="button" data-testid="leave-safe-mode" on:click=move |_| app.leave_safe_mode()>
                    {t!("notice-compile")}
                </button>
                <button type="button" on:click=move |_| {
                    app.new_workspace();
                    app.leave_safe_mode();
                }>{t!("notice-new-text")}</button>
            </div>
        })
    };
    let storage = move || {
        app.workspaces.is_unkept.get().then(|| {
            view! {
                <div class="notice notice-warn" role="alert" data-testid="storage-warning">
                    <span>{t!("notice-unkept")}</span>
                    <button type="button" data-testid="storage-zip" on:click=move |_| {
                        app.share();
                        app.sharing.save_zip();
                    }>{t!("share-zip")}</button>
                    <button type="button" on:click=move |_| app.share()>{t!("notice-share")}</button>
                </div>
            }
        })
    };
    let version = move || {
        app.version.is_newer_ready.get().then(|| view! {
            <div class="notice" role="status" data-testid="new-version">
                <span>{t!("notice-version")}</span>
                <button type="button" data-testid="take-version" on:click=move |_| app.version.take()>{t!("notice-reload")}</button>
                <button type="button" on:click=move |_| app.version.dismiss()>{t!("notice-later")}</button>
            </div>
        })
    };
    view! { <aside class="notices" aria-label=t!("notices")>{safe}{welcome}{trouble}{broken}{linked}{copy}{storage}{version}</aside> }
}
