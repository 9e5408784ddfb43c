//! The source text.

use leptos::html::Div;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// The editor. Reads diagnostics and lit statements; an edit goes to the project.
#[component]
pub fn EditorPane() -> impl IntoView {
    let app = use_app();
    let node = NodeRef::<Div>::new();
    node.on_load(move |node| app.attach_editor(&node));
    view! {
        <section class="pane pane-editor" aria-label=t!("source")>
            <div class="editor" data-testid="editor" node_ref=node></div>
        </section>
    }
}
