//! Words of the page that explain themselves: what the pointer rests on, or the keyboard.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement, KeyboardEvent};

/// Milliseconds that the pointer rests on a word before its card comes; and that it may take on its way to the card.
const REST_MS: i32 = 350;

/// A word, and where it stands in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct HoveredWord {
    pub word: String,
    pub left: f64,
    pub top: f64,
    pub bottom: f64,
}

/// Tells of each word that is looked at, and of none any more. Words carry `data-term`; the card is `.term-card`.
pub fn on_word(heard: impl Fn(Option<HoveredWord>) + 'static) {
    let Some(document) = web_sys::window().and_then(|it| it.document()) else { return };
    let heard = Rc::new(heard);
    // The number of the last thing that happened: whatever was planned before it is not done.
    let count = Rc::new(Cell::new(0_u32));
    let later = {
        let (heard, count) = (heard.clone(), count.clone());
        move |word: Option<HoveredWord>, ms: i32| {
            let number = count.get().wrapping_add(1);
            count.set(number);
            let (heard, count) = (heard.clone(), count.clone());
            let then = Closure::once_into_js(move || {
                if count.get() == number {
                    heard(word);
                }
            });
            if let Some(window) = web_sys::window() {
                // Refused for closed pages only.
                let _ =
                    window.set_timeout_with_callback_and_timeout_and_arguments_0(then.unchecked_ref(), ms);
            }
        }
    };
    let pointed = later.clone();
    let over = move |event: Event| match target(&event) {
        // On the card itself nothing changes.
        Some(element) if closest(&element, ".term-card").is_some() => count.set(count.get().wrapping_add(1)),
        Some(element) => pointed(word_at(&element), REST_MS),
        None => {}
    };
    let at_once = later.clone();
    let focus = move |event: Event| {
        if let Some(element) = target(&event).filter(|it| closest(it, ".term-card").is_none()) {
            at_once(word_at(&element), 0);
        }
    };
    let gone = later;
    let key = move |event: Event| {
        let is_escape = event.dyn_ref::<KeyboardEvent>().is_some_and(|it| it.key() == "Escape");
        if is_escape {
            gone(None, 0);
        }
    };
    listen(&document, "pointerover", over);
    listen(&document, "focusin", focus.clone());
    listen(&document, "click", focus);
    listen(&document, "keydown", key);
}

fn listen(document: &web_sys::Document, name: &str, heard: impl Fn(Event) + 'static) {
    let closure = Closure::<dyn Fn(Event)>::new(heard).into_js_value();
    // Every browser has these events.
    let _ = document.add_event_listener_with_callback(name, closure.unchecked_ref());
}

fn target(event: &Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

fn closest(element: &Element, selector: &str) -> Option<Element> {
    element.closest(selector).ok().flatten()
}

fn word_at(element: &Element) -> Option<HoveredWord> {
    let found = closest(element, "[data-term]")?;
    let area = found.dyn_ref::<HtmlElement>()?.get_bounding_client_rect();
    Some(HoveredWord {
        word: found.get_attribute("data-term")?,
        left: area.left(),
        top: area.top(),
        bottom: area.bottom(),
    })
}
