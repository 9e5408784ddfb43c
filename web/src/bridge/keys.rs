//! The keyboard, wherever the focus is.

use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, KeyboardEvent};

use super::chord::{Modifiers, chord};

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
        if event.is_composing() || is_dialog_open() {
            return;
        }
        if let Some(chord) = chord(&event.key(), &event.code(), Modifiers::of(&event, has_command_key))
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
        // An element that cannot take the focus leaves it where it is.
        let _ = element.focus();
    }
}

/// Takes what is being typed into a field of the page for its value, as leaving the field would.
pub fn commit_typed() {
    let active = web_sys::window().and_then(|it| it.document()).and_then(|it| it.active_element());
    let Some(input) = active.and_then(|it| it.dyn_into::<HtmlInputElement>().ok()) else { return };
    if takes_text(&input)
        && let Ok(change) = Event::new("change")
    {
        // Refused for an event that is on its way already, which this one is not.
        let _ = input.dispatch_event(&change);
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

impl Modifiers {
    /// Those of an event.
    fn of(event: &KeyboardEvent, has_command_key: bool) -> Self {
        let (control, command) = (event.ctrl_key(), event.meta_key());
        let (is_mod, is_other) = if has_command_key { (command, control) } else { (control, command) };
        Self {
            is_mod,
            is_other,
            is_alt: event.alt_key(),
            is_shift: event.shift_key(),
            // Such a keyboard has Option in its place, which Firefox reports as both.
            is_alt_graph: !has_command_key && event.get_modifier_state("AltGraph"),
        }
    }
}

fn is_in_text(event: &KeyboardEvent) -> bool {
    // The innermost element, inside of the editor's shadow root as well.
    let Ok(target) = event.composed_path().get(0).dyn_into::<Element>() else { return false };
    match target.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "INPUT" => takes_text(&target),
        _ => target.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable),
    }
}

fn takes_text(input: &Element) -> bool {
    !matches!(input.get_attribute("type").as_deref(), Some("range" | "checkbox" | "button"))
}
