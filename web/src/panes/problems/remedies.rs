//! Buttons for what would mend a problem and is no change of the text.

use isobar_protocol::diagnostic::Remedy;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// More stencils than these are picked in the bar.
const MOST_STENCILS: usize = 6;

/// The buttons of one problem. Reads nothing; changes inputs, files, or the stencil.
#[component]
pub fn Remedies(
    /// The remedy of the problem.
    remedy: Option<Remedy>,
) -> impl IntoView {
    let app = use_app();
    remedy.map(|remedy| {
        let buttons = match remedy {
            Remedy::GiveExternal(name) => {
                let label = t!("problems-give-value", name = &name);
                let give = move |_| app.ask_for("external", &name);
                view! { <button type="button" class="problem-fix" data-testid="give-external" on:click=give>{label}</button> }
                    .into_any()
            }
            Remedy::GiveInput(name) => {
                let label = t!("problems-give-values", name = &name);
                let give = move |_| app.ask_for("generator", &name);
                view! { <button type="button" class="problem-fix" data-testid="give-input" on:click=give>{label}</button> }
                    .into_any()
            }
            Remedy::AddFile(_) => {
                view! {
                    <button type="button" class="problem-fix" data-testid="add-file" on:click=move |_| app.choose_files(false)>
                        {t!("problems-add-file")}
                    </button>
                }
                .into_any()
            }
            Remedy::PickStencil(names) => names
                .into_iter()
                .take(MOST_STENCILS)
                .map(|name| {
                    let label = name.clone();
                    view! {
                        <button type="button" class="problem-fix" data-testid="pick-stencil" on:click=move |_| app.pick_named(&name)>
                            {label}
                        </button>
                    }
                })
                .collect_view()
                .into_any(),
        };
        view! { <div class="problem-fixes">{buttons}</div> }
    })
}
