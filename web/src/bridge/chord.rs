//! Spelling of a key together with its modifiers.

/// The modifier keys that are held down beside a key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Modifiers {
    /// `is_mod`: Command on a Mac, Control elsewhere. `is_other`: the other of these two, which no shortcut
    /// uses.
    pub is_mod: bool,
    pub is_other: bool,
    pub is_alt: bool,
    pub is_shift: bool,
    /// AltGr, or what the browser takes for it: to Firefox on Windows, Control+Alt is AltGr as well.
    pub is_alt_graph: bool,
}

/// The chord of a key with this sign, in this place of the keyboard; none for modifiers alone, and for text.
#[must_use]
pub fn chord(key: &str, code: &str, held: Modifiers) -> Option<String> {
    let Modifiers { is_mod, is_other, is_alt, is_shift, is_alt_graph } = held;
    if is_other || matches!(key, "Control" | "Shift" | "Alt" | "AltGraph" | "Meta") {
        return None;
    }
    let is_chord = is_mod || is_alt;
    let is_sign = key.chars().count() == 1;
    let place = code.strip_prefix("Key").or_else(|| code.strip_prefix("Digit"));
    // AltGr types the third sign of a key: that is text, and no chord of the key's own letter.
    if is_chord && is_alt_graph && is_sign && place.is_none_or(|it| !it.eq_ignore_ascii_case(key)) {
        return None;
    }
    let mut chord = String::new();
    // A sign has its Shift in it.
    for (is_down, modifier) in
        [(is_mod, "Mod+"), (is_alt, "Alt+"), (is_shift && (!is_sign || is_chord), "Shift+")]
    {
        if is_down {
            chord.push_str(modifier);
        }
    }
    chord.push_str(place.filter(|_| is_chord).unwrap_or(key));
    Some(chord)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOD_ALT: Modifiers =
        Modifiers { is_mod: true, is_other: false, is_alt: true, is_shift: false, is_alt_graph: false };
    const ALT_GRAPH: Modifiers = Modifiers { is_alt_graph: true, ..MOD_ALT };

    #[test]
    fn a_letter_with_a_modifier_is_the_key_in_its_place() {
        assert_eq!(chord("ß", "KeyS", MOD_ALT).as_deref(), Some("Mod+Alt+S"));
        assert_eq!(chord("Enter", "Enter", MOD_ALT).as_deref(), Some("Mod+Alt+Enter"));
        let shift = Modifiers { is_shift: true, ..Modifiers::default() };
        assert_eq!(chord("?", "Slash", shift).as_deref(), Some("?"));
        assert_eq!(chord("F8", "F8", shift).as_deref(), Some("Shift+F8"));
    }

    #[test]
    fn a_chord_that_the_browser_takes_for_alt_graph_is_one() {
        assert_eq!(chord("s", "KeyS", ALT_GRAPH).as_deref(), Some("Mod+Alt+S"));
        assert_eq!(chord("1", "Digit1", ALT_GRAPH).as_deref(), Some("Mod+Alt+1"));
        assert_eq!(chord("Enter", "Enter", ALT_GRAPH).as_deref(), Some("Mod+Alt+Enter"));
    }

    #[test]
    fn a_sign_that_alt_graph_types_is_text() {
        for (key, code) in [("ś", "KeyS"), ("²", "Digit2"), ("\\", "Minus")] {
            assert_eq!(chord(key, code, ALT_GRAPH), None, "{key}");
        }
        let alone = Modifiers { is_alt_graph: true, ..Modifiers::default() };
        assert_eq!(chord("[", "Digit8", alone).as_deref(), Some("["));
    }
}
