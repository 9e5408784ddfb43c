//! Sentences: what stands between back quotes is drawn as code.

use leptos::prelude::*;

use super::quotes::parts;

/// A sentence whose names, which stand between back quotes, are drawn as code.
pub fn prose(text: &str) -> impl IntoView + use<> {
    parts(text)
        .into_iter()
        .map(|(part, is_code)| {
            let part = part.to_owned();
            if is_code { view! { <code class="name">{part}</code> }.into_any() } else { part.into_any() }
        })
        .collect_view()
}
