//! Sentences: what stands between back quotes is drawn as code.

use leptos::prelude::*;

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

/// The same where there is text only: in a title, or in what is read aloud.
#[must_use]
pub fn plain(text: &str) -> String {
    parts(text).into_iter().map(|it| it.0).collect()
}

/// The parts of a sentence, and whether each is code. A back quote without another one is a sign like any other.
fn parts(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, quoted)) = rest.split_once('`') {
        let Some((code, after)) = quoted.split_once('`') else { break };
        found.push((before, false));
        found.push((code, true));
        rest = after;
    }
    found.push((rest, false));
    found.retain(|it| !it.0.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_back_quotes_is_code() {
        assert_eq!(parts("`q` is read"), [("q", true), (" is read", false)]);
        assert_eq!(
            parts("write `a = 1` or `b`"),
            [("write ", false), ("a = 1", true), (" or ", false), ("b", true)]
        );
        assert_eq!(parts("a ` alone"), [("a ` alone", false)]);
        assert_eq!(plain("`q` is ` alone"), "q is ` alone");
    }
}
