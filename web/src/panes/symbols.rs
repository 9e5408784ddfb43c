//! A row of signs below the text: those that stencils are full of and touch keyboards hide.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// The signs, in the order in which they are needed most.
const SIGNS: [&str; 10] = ["[", "]", "(", ")", ":", "=", ",", "-1", "0", "1"];

/// Types a sign where the caret is. The style sheet shows it on touch screens, while the text has the keyboard.
#[component]
pub fn Symbols() -> impl IntoView {
    let app = use_app();
    let sign = move |sign: &'static str| {
        view! {
            <button
                type="button"
                data-testid="symbol"
                // The keyboard stays with the text.
                on:pointerdown=|event| event.prevent_default()
                on:mousedown=|event| event.prevent_default()
                on:click=move |_| app.type_text(sign)
            >
                {sign}
            </button>
        }
    };
    view! {
        <div class="symbols" role="group" aria-label=t!("bar-symbols") data-testid="symbols">
            {SIGNS.map(sign).collect_view()}
        </div>
    }
}
