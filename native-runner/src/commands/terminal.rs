//! Text of others on a terminal: it can be read, and cannot control the terminal.

use std::borrow::Cow;

use isobar_protocol::names::is_harmful;

/// The text with what could move the cursor, hide or turn the direction spelled out, but for ends of lines and tabs.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    spelled(text, |it| it.escape_unicode().to_string())
}

/// The same for a JSON document, which stays the same document.
pub(super) fn harmless_json(text: &str) -> Cow<'_, str> {
    let mut units = [0; 2];
    spelled(text, |it| it.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect())
}

fn spelled(text: &str, mut spell: impl FnMut(char) -> String) -> Cow<'_, str> {
    let is_plain = |it: char| matches!(it, '\n' | '\t') || !is_harmful(it);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let parts = text.chars().map(|it| if is_plain(it) { it.to_string() } else { spell(it) });
    Cow::Owned(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_is_shown_and_not_obeyed() {
        assert_eq!(harmless("a\tb\n"), "a\tb\n");
        assert_eq!(
            harmless("\u{1b}]0;x\u{7}\r\u{9b}2J\u{202e}"),
            "\\u{1b}]0;x\\u{7}\\u{d}\\u{9b}2J\\u{202e}"
        );
    }

    #[test]
    fn a_document_stays_the_same() {
        let value = serde_json::json!({"q": "\u{1b}[2J\u{9b}\u{202e}\u{e0001}é\n"});
        let text = serde_json::to_string_pretty(&value).expect("it has string keys");
        let shown = harmless_json(&text);
        assert!(!shown.chars().any(|it| is_harmful(it) && it != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("it is JSON still"), value);
    }
}
