//! Files of the visitor: dropped onto the page or chosen, through `web/files/files.js`.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/files/files.js")]
extern "C" {
    #[wasm_bindgen(js_name = listenForDrops)]
    fn listen_for_drops(hover: &JsValue, take: &JsValue);

    fn choose(of_folder: bool) -> Promise;
}

/// Files by their paths.
pub type DroppedFiles = Vec<(String, Vec<u8>)>;

/// Calls back while files are held over the page, and when they are dropped there.
pub fn on_drop(hover: impl Fn(bool) + 'static, take: impl Fn(DroppedFiles) + 'static) {
    let hover = Closure::<dyn Fn(bool)>::new(hover).into_js_value();
    let take = Closure::<dyn Fn(Array)>::new(move |files: Array| take(read(&files))).into_js_value();
    listen_for_drops(&hover, &take);
}

/// Asks the visitor for files, or for a folder; none where nothing is chosen.
pub async fn chosen(of_folder: bool) -> DroppedFiles {
    // A promise that is only ever resolved, with a list.
    JsFuture::from(choose(of_folder)).await.map(|it| read(&Array::from(&it))).unwrap_or_default()
}

fn read(files: &Array) -> DroppedFiles {
    let one = |it: JsValue| {
        let pair = Array::from(&it);
        Some((pair.get(0).as_string()?, Uint8Array::new(&pair.get(1)).to_vec()))
    };
    files.iter().filter_map(one).collect()
}
