//! The texts of the page, in the language of its reader.
//!
//! Texts stand in `static/locales/LANGUAGE/*.ftl`, as messages of Project Fluent. All other languages are
//! checked against English. A view names a message by its key, `t!("bar-run")`, with the values to fill in,
//! `t!("files-open", count = n)`. The message itself chooses plural forms and the notation of numbers.
//! Messages are plain texts.
//!
//! The page keeps its language while it is open; choosing another one loads the page again.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[cfg(target_arch = "wasm32")]
use js_sys::Array;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::*;

/// The languages that there are: the tag, and the language's own name for itself. Also in `web/editor/src/locale.js`.
pub const LANGUAGES: [(&str, &str); 2] = [("en", "English"), ("de", "Deutsch")];

/// The storage key of the chosen language.
pub const KEY: &str = "isobar.language";

/// A value that is filled into a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageValue<'a> {
    /// A number, in the notation of the language; it also selects the plural form.
    Number(f64),
    /// Taken as it is.
    Text(Cow<'a, str>),
}

impl<'a> From<&'a str> for MessageValue<'a> {
    fn from(it: &'a str) -> Self {
        MessageValue::Text(Cow::Borrowed(it))
    }
}

impl<'a> From<&'a String> for MessageValue<'a> {
    fn from(it: &'a String) -> Self {
        MessageValue::Text(Cow::Borrowed(it))
    }
}

impl From<String> for MessageValue<'_> {
    fn from(it: String) -> Self {
        MessageValue::Text(Cow::Owned(it))
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for MessageValue<'_> {
            #[allow(clippy::cast_precision_loss, reason = "counts and sizes, far below 2^53")]
            #[allow(clippy::cast_lossless, reason = "one body for all of them")]
            fn from(it: $number) -> Self {
                MessageValue::Number(it as f64)
            }
        })*
    };
}
numbers!(i32, i64, u8, u16, u32, u64, usize, f64);

/// The message of a key, which must be a literal: `t!("key")` is a `&'static str`, `t!("key", name = value, ...)` a
/// `String`. Values are numbers or strings.
macro_rules! t {
    ($key:literal) => {
        $crate::bridge::locale::text($key)
    };
    ($key:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::bridge::locale::text_with(
            $key,
            &[$((stringify!($name), $crate::bridge::locale::MessageValue::from($value))),+],
        )
    };
}
pub(crate) use t;

thread_local! {
    /// Messages that nothing is filled into: each is read once, and stays as long as the page.
    static READ: RefCell<BTreeMap<&'static str, &'static str>> = const { RefCell::new(BTreeMap::new()) };
}

/// The message of a key; the key itself where there is none. Written as `t!("key")`, so that tests find it.
#[must_use]
pub fn text(key: &'static str) -> &'static str {
    READ.with_borrow_mut(|read| *read.entry(key).or_insert_with(|| text_with(key, &[]).leak()))
}

/// The message of a key with what is filled in. Written as `t!("key", name = value)`.
#[must_use]
pub fn text_with(key: &str, args: &[(&str, MessageValue<'_>)]) -> String {
    #[cfg(target_arch = "wasm32")]
    {
        let array = Array::new();
        for (name, value) in args {
            array.push(&JsValue::from_str(name));
            array.push(&match value {
                MessageValue::Number(it) => JsValue::from_f64(*it),
                MessageValue::Text(it) => JsValue::from_str(it),
            });
        }
        js_text(key, &array)
    }
    #[cfg(not(target_arch = "wasm32"))]
    native::text(key, args)
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen(module = "/editor/dist/locale.js")]
extern "C" {
    #[wasm_bindgen(js_name = text)]
    fn js_text(key: &str, args: &Array) -> String;

    #[wasm_bindgen(js_name = language)]
    fn js_language() -> String;
}

/// The tag of the language that is spoken.
#[must_use]
pub fn language() -> String {
    #[cfg(target_arch = "wasm32")]
    {
        js_language()
    }
    #[cfg(not(target_arch = "wasm32"))]
    "en".to_owned()
}

/// A number that was written with a point, as the language writes it. For what is shown only: never for what is
/// exported, nor for code.
#[must_use]
pub fn decimal(written: String) -> String {
    match t!("number-decimal") {
        "." => written,
        sign => written.replace('.', sign),
    }
}
