//! The browser's page: its address, theme, clock, clipboard and downloads.

use std::time::Duration;

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, HtmlElement, Url};

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

/// Goes to another view of the page, as a link does.
pub fn go(fragment: &str) {
    if let Some(window) = window() {
        // Fragments are never refused.
        let _ = window.location().set_hash(fragment);
    }
}

/// Scrolls to the beginning of the page.
pub fn scroll_to_top() {
    if let Some(window) = window() {
        window.scroll_to_with_x_and_y(0.0, 0.0);
    }
}

/// Brings the heading of that id into view, or the first whose id goes on behind it, and the keyboard to it.
pub fn scroll_to_heading(id: &str) {
    let Some(document) = window().and_then(|it| it.document()) else { return };
    let exact = document.get_element_by_id(&format!("h-{id}"));
    // Ids come from addresses that hold letters, digits and hyphens alone.
    let longer = || document.query_selector(&format!("[id^='h-{id}-']")).ok().flatten();
    let longer = || longer().or_else(|| document.query_selector(&format!("[id^='h-{id}']")).ok().flatten());
    if let Some(element) = exact.or_else(longer).and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        element.scroll_into_view();
        // An element that cannot take the focus leaves it where it is.
        let _ = element.focus();
    }
}

/// The address without its fragment.
#[must_use]
pub fn address() -> String {
    let href = window().and_then(|it| it.location().href().ok()).unwrap_or_default();
    href.split('#').next().unwrap_or_default().to_owned()
}

/// The value of an attribute of `<html>`, by which the boot script tells what it knows.
fn told(attribute: &str) -> Option<String> {
    window()?.document()?.document_element()?.get_attribute(attribute)
}

/// The address of a program of this version.
#[must_use]
pub fn program(name: &str) -> String {
    told("data-files").map_or_else(|| format!("./{name}"), |it| it + name)
}

/// How large the worker's program is: unpacked, and as it travels.
#[must_use]
pub fn worker_bytes() -> Option<[u64; 2]> {
    let told = told("data-worker-bytes")?;
    let (unpacked, packed) = told.split_once(' ')?;
    Some([unpacked.parse().ok()?, packed.parse().ok()?])
}

/// Calls back when the files of a newer version are here; at once where they are already.
pub fn on_update(is_ready: impl Fn() + 'static) {
    if told("data-update").is_some() {
        is_ready();
    }
    if let Some(window) = window() {
        let closure = Closure::<dyn Fn()>::new(is_ready).into_js_value();
        // Listening is never refused.
        let _ = window.add_event_listener_with_callback("isobar-update", closure.unchecked_ref());
    }
}

/// Lets the newer version take over, which loads the page again.
pub fn take_update() {
    let event = web_sys::Event::new("isobar-reload").ok();
    if let (Some(window), Some(event)) = (window(), event) {
        // Nobody stops it.
        let _ = window.dispatch_event(&event);
    }
}

/// Loads the page again.
pub fn reload() {
    if let Some(window) = window() {
        // Refused for pages within others only, which this is not.
        let _ = window.location().reload();
    }
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

/// Whether the system asks that nothing moves by itself.
#[must_use]
pub fn prefers_reduced_motion() -> bool {
    let query = window().and_then(|it| it.match_media("(prefers-reduced-motion: reduce)").ok().flatten());
    query.is_some_and(|it| it.matches())
}

/// Whether the system asks for dark colours.
#[must_use]
pub fn is_system_dark() -> bool {
    let query = window().and_then(|it| it.match_media("(prefers-color-scheme: dark)").ok().flatten());
    query.is_some_and(|it| it.matches())
}

/// Whether the page is as narrow as on a phone.
#[must_use]
pub fn is_narrow() -> bool {
    let query = window().and_then(|it| it.match_media("(max-width: 699px)").ok().flatten());
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
        // Every browser has these events. The second comes when another tab is chosen as well, after which a phone may
        // end the page without a word.
        let _ = window.add_event_listener_with_callback("pagehide", closure.unchecked_ref());
        let _ = window.add_event_listener_with_callback("visibilitychange", closure.unchecked_ref());
    }
}

/// Tells whether there is a network, now and whenever that changes.
pub fn on_network(changed: impl Fn(bool) + 'static) {
    let Some(window) = window() else { return };
    let is_there = || web_sys::window().is_none_or(|it| it.navigator().on_line());
    changed(is_there());
    let closure = Closure::<dyn Fn()>::new(move || changed(is_there())).into_js_value();
    for event in ["online", "offline"] {
        // Every browser has these events.
        let _ = window.add_event_listener_with_callback(event, closure.unchecked_ref());
    }
}

/// Gives the keyboard to the element of that id, and brings it into view.
pub fn focus(id: &str) {
    let element = window().and_then(|it| it.document()).and_then(|it| it.get_element_by_id(id));
    if let Some(element) = element.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Refused for what cannot have it.
        let _ = element.focus();
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn time() -> f64 {
    js_sys::Date::now()
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

/// The name that the browser gives itself, its user agent.
#[must_use]
pub fn browser() -> String {
    window().and_then(|it| it.navigator().user_agent().ok()).unwrap_or_default()
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

/// How long an address of a file is good for: browsers begin to read it at once.
const FILE_TIME: Duration = Duration::from_secs(60);

/// Hands a file to the browser's downloads; `false` where it refuses.
pub fn save(name: &str, mime: &str, bytes: &Uint8Array) -> bool {
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let parts = Array::of1(bytes);
    let Ok(blob) = Blob::new_with_u8_array_sequence_and_options(&parts, &options) else { return false };
    let Ok(address) = Url::create_object_url_with_blob(&blob) else { return false };
    let link = window()
        .and_then(|it| it.document())
        .and_then(|it| it.create_element("a").ok())
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    let Some(link) = link else { return false };
    let is_set = link.set_attribute("href", &address).is_ok() && link.set_attribute("download", name).is_ok();
    if is_set {
        link.click();
    }
    wasm_bindgen_futures::spawn_local(async move {
        sleep(FILE_TIME).await;
        // An address that is gone is what is wanted.
        let _ = Url::revoke_object_url(&address);
    });
    is_set
}
