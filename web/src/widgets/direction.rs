//! Which way one reads.

/// Whether the page is read from right to left.
#[must_use]
pub fn is_rtl() -> bool {
    let root = web_sys::window().and_then(|it| it.document()).and_then(|it| it.document_element());
    root.and_then(|it| it.get_attribute("dir")).is_some_and(|it| it == "rtl")
}

/// Returns the arrow key that means the same where one reads from left to right: onward or back. Arrows point
/// the way that one reads.
#[must_use]
pub fn read(key: &str) -> &str {
    match key {
        "ArrowLeft" if is_rtl() => "ArrowRight",
        "ArrowRight" if is_rtl() => "ArrowLeft",
        key => key,
    }
}
