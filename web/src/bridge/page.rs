//! The browser's page: its address, theme, clock and clipboard.

use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

fn window() -> Option<web_sys::Window> {
    web_sys::window()
}

/// The fragment of the address, without `#`.
#[must_use]
pub fn fragment() -> String {
    let hash = window().and_then(|it| it.location().hash().ok()).unwrap_or_default();
    hash.trim_start_matches('#').to_owned()
}

/// Replaces the fragment, without a step in the history; an empty one leaves no `#` either.
pub fn set_fragment(fragment: &str) {
    let Some(window) = window() else { return };
    let location = window.location();
    let address = format!(
        "{}{}{}",
        location.pathname().unwrap_or_default(),
        location.search().unwrap_or_default(),
        if fragment.is_empty() { String::new() } else { format!("#{fragment}") }
    );
    if let Ok(history) = window.history() {
        // Refused only for another origin, which this is not.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}

/// The address without its fragment.
#[must_use]
pub fn address() -> String {
    let href = window().and_then(|it| it.location().href().ok()).unwrap_or_default();
    href.split('#').next().unwrap_or_default().to_owned()
}

/// Sets `<html data-theme>`; `None` follows the system.
pub fn set_theme(theme: Option<&str>) {
    let root = window().and_then(|it| it.document()).and_then(|it| it.document_element());
    let Some(root) = root else { return };
    // Fails for names that are no attribute names only.
    let _ = match theme {
        Some(theme) => root.set_attribute("data-theme", theme),
        None => root.remove_attribute("data-theme"),
    };
}

/// Whether the system asks for dark colours.
#[must_use]
pub fn is_system_dark() -> bool {
    let query = window().and_then(|it| it.match_media("(prefers-color-scheme: dark)").ok().flatten());
    query.is_some_and(|it| it.matches())
}

/// Calls back when the system changes between light and dark.
pub fn on_system_theme(changed: impl Fn() + 'static) {
    let query = window().and_then(|it| it.match_media("(prefers-color-scheme: dark)").ok().flatten());
    if let Some(query) = query {
        let closure = Closure::<dyn Fn()>::new(changed).into_js_value();
        // Fails where there is no such event only: the theme then changes with the next load.
        let _ = query.add_event_listener_with_callback("change", closure.unchecked_ref());
    }
}

/// Calls back whenever the fragment is changed by the user or by a link.
pub fn on_fragment(changed: impl Fn() + 'static) {
    if let Some(window) = window() {
        let closure = Closure::<dyn Fn()>::new(changed).into_js_value();
        // Every browser has this event.
        let _ = window.add_event_listener_with_callback("hashchange", closure.unchecked_ref());
    }
}

/// Calls back when the page is hidden: the last moment at which something can surely be saved.
pub fn on_hide(hidden: impl Fn() + 'static) {
    if let Some(window) = window() {
        let closure = Closure::<dyn Fn()>::new(hidden).into_js_value();
        // Every browser has this event.
        let _ = window.add_event_listener_with_callback("pagehide", closure.unchecked_ref());
    }
}

/// Milliseconds since the page was opened.
#[must_use]
pub fn now_ms() -> f64 {
    window().and_then(|it| it.performance()).map_or(0.0, |it| it.now())
}

/// Waits.
pub async fn sleep(duration: Duration) {
    let promise = Promise::new(&mut |resolve, _| {
        let ms = i32::try_from(duration.as_millis()).unwrap_or(i32::MAX);
        if let Some(window) = window() {
            // Refused for closed pages only, where nobody waits.
            let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
        }
    });
    // A promise that is only ever resolved.
    let _ = JsFuture::from(promise).await;
}

/// Puts text on the clipboard; `false` where the browser refuses.
pub async fn copy(text: &str) -> bool {
    let Some(clipboard) = window().map(|it| it.navigator().clipboard()) else { return false };
    // Pages that are not served safely have no clipboard, whatever its type says.
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}
