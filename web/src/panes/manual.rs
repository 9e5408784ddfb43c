//! The manual: the pages of `docs/`, with a table of contents.

use isobar_page_model::route::Route;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::manual::{contents, lead};
use crate::state::manual::{ManualPage, PAGES};
use crate::state::use_app;
use crate::widgets::article::Prose;

/// A page, or the list of pages. Reads which is open.
#[component]
pub fn ManualView() -> impl IntoView {
    let app = use_app();
    let reference = app.reference;
    let page = Memo::new(move |_| reference.page.get());
    // The heading that the address names comes into view once the text is here.
    Effect::new(move |_| {
        let heading = app.learn.route.with(|it| match it {
            Route::Manual(_, heading) => heading.clone(),
            _ => None,
        });
        if reference.blocks.with(Option::is_some)
            && let Some(heading) = heading
        {
            app.scroll_to_heading(heading);
        }
    });
    let list = || {
        let line = |ManualPage { name, title, about }: ManualPage| {
            view! {
                <li><a href=format!("#/manual/{name}")>{title()}</a><span class="muted">" "{about()}</span></li>
            }
        };
        view! {
            <header class="sheet-head"><h2>{t!("manual")}</h2></header>
            <ul class="manual-pages">{PAGES.map(line).collect_view()}</ul>
            <p class="muted">
                {t!("manual-words")}
                " "
                <a href="#/learn">{t!("manual-lessons")}</a>" "{t!("manual-lessons-begin")}
            </p>
        }
    };
    let body = move || match (page.get(), reference.blocks.get(), reference.trouble.get()) {
        (None, ..) => list().into_any(),
        (_, _, Some(why)) => view! { <p class="warn" role="alert">{why}</p> }.into_any(),
        (Some(_), None, None) => {
            view! { <p class="muted" role="status">{t!("manual-loading")}</p> }.into_any()
        }
        (Some(page), Some(blocks), None) => {
            let entries = contents(&blocks).into_iter().map(|(level, id, text)| {
                let address = format!("#/manual/{page}/{id}");
                view! { <li data-level=level.to_string()><a href=address>{text}</a></li> }
            });
            view! {
                <nav class="manual-contents" aria-label=t!("manual-contents")>
                    <p><a href="#/manual">{t!("manual")}</a></p>
                    <ul>{entries.collect_view()}</ul>
                </nav>
                <article class="manual-text" data-testid="manual-text">
                    <Prose blocks=blocks.to_vec() leads=lead />
                </article>
            }
            .into_any()
        }
    };
    view! {
        <main class="sheet" aria-label=t!("manual") data-testid="manual-view">
            <div class="sheet-body sheet-wide manual" class:manual-page=move || page.get().is_some()>{body}</div>
        </main>
    }
}
