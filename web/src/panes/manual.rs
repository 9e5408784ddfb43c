//! The manual: the pages of `docs/`, with a table of contents.

use isobar_lessons::markdown::{Block, plain};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::reference::{PAGES, Page};
use crate::state::route::Route;
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
        let line = |Page { name, title, about }: Page| {
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

/// Headings down to the third level: level, id, text.
fn contents(blocks: &[Block]) -> Vec<(u8, String, String)> {
    let of = |it: &Block| match it {
        Block::Heading { level, text, id } if (2..=3).contains(level) => {
            Some((*level, address(id), plain(text)))
        }
        _ => None,
    };
    blocks.iter().filter_map(of).collect()
}

/// The heading as addresses name it: that of a diagnostic by its code alone.
fn address(id: &str) -> String {
    let code = id.split('-').next().unwrap_or_default();
    let is_code = code.len() == 3
        && code.starts_with(['e', 'w', 'c', 'd'])
        && code[1..].chars().all(|it| it.is_ascii_digit());
    if is_code { code.to_owned() } else { id.to_owned() }
}

/// Pages that link each other stay in the page; files of the repository are not here.
fn lead(to: &str) -> Option<String> {
    if to.starts_with("https://") || to.starts_with("#/") {
        return Some(to.to_owned());
    }
    let (file, heading) = to.split_once('#').unwrap_or((to, ""));
    let name = file.strip_suffix(".md")?;
    PAGES.iter().any(|it| it.name == name).then(|| match heading {
        "" => format!("#/manual/{name}"),
        heading => format!("#/manual/{name}/{heading}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_pages_stay_in_the_page() {
        assert_eq!(lead("schedule.md#pins").as_deref(), Some("#/manual/schedule/pins"));
        assert_eq!(lead("diagnostics.md").as_deref(), Some("#/manual/diagnostics"));
        assert_eq!(lead("../tests/conformance/README.md"), None);
        assert_eq!(lead("javascript:alert(1)"), None);
    }

    #[test]
    fn a_diagnostic_is_found_by_its_code() {
        assert_eq!(address("e18-an-assignment-reads"), "e18");
        assert_eq!(address("calls"), "calls");
    }
}
