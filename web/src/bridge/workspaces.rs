//! Texts and their earlier states, as the browser keeps them: `web/editor/src/workspaces.js`.

use serde::Deserialize;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/editor/dist/editor.js")]
extern "C" {
    #[wasm_bindgen(js_name = newTextId)]
    fn new_text_id() -> String;

    #[wasm_bindgen(js_name = timeInWords)]
    fn time_in_words(at: f64) -> String;

    #[wasm_bindgen(catch, js_name = keepText)]
    async fn keep_text(id: &str, title: &str, state: &str, at: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = keepAside)]
    async fn keep_aside_in(key: &str, state: &str, at: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = laterText)]
    async fn later_text(id: &str, at: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = listTexts)]
    async fn list_texts() -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = loadText)]
    async fn load_text(id: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = listStates)]
    async fn list_states(id: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = loadState)]
    async fn load_state(id: &str, at: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = forgetText)]
    async fn forget_text(id: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = forgetAll)]
    async fn forget_all_texts() -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = claimText)]
    async fn claim_text(id: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = askToKeep)]
    async fn ask_to_keep() -> Result<JsValue, JsValue>;
}

/// A text that is kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SavedText {
    pub id: String,
    pub title: String,
    /// When it was kept, in milliseconds since 1970.
    pub at: f64,
}

/// The browser keeps nothing, or refused this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveRefusal;

/// A name for a new text.
#[must_use]
pub fn new_id() -> String {
    new_text_id()
}

/// A time as the reader's clock tells it.
#[must_use]
pub fn in_words(at: f64) -> String {
    time_in_words(at)
}

/// Keeps a text as it is now, and among its earlier states.
///
/// # Errors
///
/// Where there is no room, or no storage.
pub async fn keep(id: &str, title: &str, state: &str, at: f64) -> Result<(), SaveRefusal> {
    keep_text(id, title, state, at).await.map(drop).map_err(|_| SaveRefusal)
}

/// Keeps something that is no text of the list and has no earlier states.
///
/// # Errors
///
/// Where there is no room, or no storage.
pub async fn keep_aside(key: &str, state: &str, at: f64) -> Result<(), SaveRefusal> {
    keep_aside_in(key, state, at).await.map(drop).map_err(|_| SaveRefusal)
}

/// The state of a text, where it was kept after that time.
pub async fn later(id: &str, at: f64) -> Option<String> {
    later_text(id, at).await.ok()?.as_string()
}

/// All texts, the last one first.
pub async fn list() -> Vec<SavedText> {
    let json = list_texts().await.ok().and_then(|it| it.as_string());
    json.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default()
}

/// The state of a text.
pub async fn load(id: &str) -> Option<String> {
    load_text(id).await.ok()?.as_string()
}

/// When the earlier states of a text were kept, the last one first.
pub async fn states(id: &str) -> Vec<f64> {
    let json = list_states(id).await.ok().and_then(|it| it.as_string());
    json.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default()
}

/// An earlier state of a text.
pub async fn state(id: &str, at: f64) -> Option<String> {
    load_state(id, at).await.ok()?.as_string()
}

/// Forgets a text with its earlier states.
pub async fn forget(id: &str) {
    // A text that cannot be forgotten stays in the list.
    let _ = forget_text(id).await;
}

/// Forgets every text with its earlier states, and keeps none from now on.
///
/// # Errors
///
/// Where the browser refuses.
pub async fn forget_all() -> Result<(), SaveRefusal> {
    forget_all_texts().await.map(drop).map_err(|_| SaveRefusal)
}

/// Takes the right to write a text; false where another tab has it.
pub async fn claim(id: &str) -> bool {
    claim_text(id).await.ok().and_then(|it| it.as_bool()).unwrap_or(true)
}

/// Asks the browser not to clear what is kept.
pub async fn ask_to_stay() {
    // It may say no, and nothing here depends on it.
    let _ = ask_to_keep().await;
}
