//! Files that come with the page, fetched when they are needed; and files that the user takes along or brings.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, HtmlElement, HtmlInputElement, Response};

use super::locale::t;

/// The text of a file beside the page, such as `lessons/glossary.toml`.
///
/// # Errors
///
/// Why it cannot be had, in words.
pub async fn text(path: &str) -> Result<String, String> {
    let window = web_sys::window().ok_or_else(|| t!("files-no-page"))?;
    let unreachable = |_| t!("files-unreachable", path = path);
    let response: Response =
        JsFuture::from(window.fetch_with_str(path)).await.map_err(unreachable)?.unchecked_into();
    if !response.ok() {
        return Err(t!("files-status", path = path, status = response.status()));
    }
    let text = JsFuture::from(response.text().map_err(unreachable)?).await.map_err(unreachable)?;
    Ok(text.as_string().unwrap_or_default().replace("\r\n", "\n"))
}

/// Hands a text to the user as a file.
pub fn save(name: &str, kind: &str, text: &str) {
    let Some(document) = web_sys::window().and_then(|it| it.document()) else { return };
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let Ok(blob) = Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &options) else {
        return;
    };
    let Ok(address) = web_sys::Url::create_object_url_with_blob(&blob) else { return };
    if let Some(link) = document.create_element("a").ok().and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // Attributes of plain names are never refused.
        let _ = link.set_attribute("href", &address);
        let _ = link.set_attribute("download", name);
        link.click();
    }
    // The download has begun, or will not.
    let _ = web_sys::Url::revoke_object_url(&address);
}

/// The text of the file that was chosen in an `<input type="file">`; none where it is larger than `most` bytes.
pub async fn chosen(input: &HtmlInputElement, most: f64) -> Option<String> {
    let files = js_sys::Reflect::get(input, &"files".into()).ok()?;
    let file: Blob = js_sys::Reflect::get(&files, &0.into()).ok()?.dyn_into().ok()?;
    if file.size() > most {
        return None;
    }
    JsFuture::from(file.text()).await.ok()?.as_string()
}
