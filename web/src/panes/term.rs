//! The card of a word that explains itself.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;
use crate::widgets::prose::prose;

/// A card below the word that is looked at. Reads which one that is.
#[component]
pub fn TermCard() -> impl IntoView {
    let app = use_app();
    let card = move || {
        app.reference.card().map(|(word, term)| {
            // Below the word, and above it where that is near the lower edge; style sheets keep it in the window.
            let more = (!term.manual.is_empty()).then(|| {
                let address = format!("#/manual/{}", term.manual.replace('#', "/"));
                view! { <a href=address on:click=move |_| app.reference.close_card()>{t!("term-more")}</a> }
            });
            view! {
                <div
                    class="term-card"
                    id="term-card"
                    role="tooltip"
                    data-testid="term-card"
                    style:left=format!("min({:.0}px, 100vw - 21rem)", word.left)
                    style:top=format!("min({:.0}px, 100vh - 12rem)", word.bottom + 6.0)
                >
                    <strong>{term.title}</strong>
                    <p>{prose(&term.means)}</p>
                    {more}
                </div>
            }
        })
    };
    view! { {card} }
}
