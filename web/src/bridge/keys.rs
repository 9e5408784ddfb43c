//! The keyboard, wherever the focus is.

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, KeyboardEvent};

/// A key that was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    /// `Mod+Alt+S`, `Shift+F8`, `?`: modifiers in this order. A letter with a modifier is the key in that place,
    /// since Alt makes other signs of them; without, it is the sign.
    pub chord: String,
    /// Whether it goes to a text, a number or a choice that is being made.
    pub is_in_text: bool,
}

/// Hears every key before the page's elements do, unless a dialog is open; `true` keeps it from them.
pub fn on_press(heard: impl Fn(Press) -> bool + 'static) {
    let Some(window) = web_sys::window() else { return };
    let has_command_key = has_command_key();
    let listener = Closure::<dyn Fn(KeyboardEvent)>::new(move |event: KeyboardEvent| {
        let is_composing = event.is_composing() || event.get_modifier_state("AltGraph");
        if is_composing || is_dialog_open() {
            return;
        }
        if let Some(chord) = chord(&event, has_command_key)
            && heard(Press { chord, is_in_text: is_in_text(&event) })
        {
            event.prevent_default();
            event.stop_propagation();
        }
    });
    // Every browser has this event.
    let _ = window.add_event_listener_with_callback_and_bool(
        "keydown",
        listener.into_js_value().unchecked_ref(),
        true,
    );
}

/// Whether this is a machine whose shortcuts begin with Command.
#[must_use]
pub fn has_command_key() -> bool {
    let platform = web_sys::window().and_then(|it| it.navigator().platform().ok()).unwrap_or_default();
    ["Mac", "iPhone", "iPad"].iter().any(|it| platform.starts_with(it))
}

/// Gives the keyboard to the first element that `selector` finds.
pub fn focus(selector: &str) {
    let found = web_sys::window()
        .and_then(|it| it.document())
        .and_then(|it| it.query_selector(selector).ok().flatten())
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    if let Some(element) = found {
        // What takes no focus leaves it where it is.
        let _ = element.focus();
    }
}

/// The position of the first selector that finds what has the keyboard, or something around it.
#[must_use]
pub fn focused_among(selectors: &[&str]) -> Option<usize> {
    let active = web_sys::window()?.document()?.active_element()?;
    selectors.iter().position(|it| active.closest(it).is_ok_and(|it| it.is_some()))
}

fn is_dialog_open() -> bool {
    let document = web_sys::window().and_then(|it| it.document());
    document.is_some_and(|it| it.query_selector("dialog[open]").is_ok_and(|it| it.is_some()))
}

fn chord(event: &KeyboardEvent, has_command_key: bool) -> Option<String> {
    let is_mod = if has_command_key { event.meta_key() } else { event.ctrl_key() };
    let is_other = if has_command_key { event.ctrl_key() } else { event.meta_key() };
    let key = event.key();
    if is_other || matches!(key.as_str(), "Control" | "Shift" | "Alt" | "Meta") {
        return None;
    }
    let is_sign = key.chars().count() == 1;
    let code = event.code();
    let name = match code.strip_prefix("Key").or_else(|| code.strip_prefix("Digit")) {
        Some(place) if is_mod || event.alt_key() => place.to_owned(),
        _ => key,
    };
    let mut chord = String::new();
    for (is_down, modifier) in [
        (is_mod, "Mod+"),
        (event.alt_key(), "Alt+"),
        // A sign has its Shift in it.
        (event.shift_key() && (!is_sign || is_mod || event.alt_key()), "Shift+"),
    ] {
        if is_down {
            chord.push_str(modifier);
        }
    }
    chord.push_str(&name);
    Some(chord)
}

fn is_in_text(event: &KeyboardEvent) -> bool {
    // The innermost element, inside of the editor's shadow root as well.
    let Ok(target) = event.composed_path().get(0).dyn_into::<Element>() else { return false };
    match target.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "INPUT" => !matches!(target.get_attribute("type").as_deref(), Some("range" | "checkbox" | "button")),
        _ => target.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable),
    }
}
