//! What the browser keeps: for good, or for this tab.

use web_sys::Storage;

/// Where a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Until it is deleted.
    Lasting,
    /// As long as this tab, for this tab alone.
    Tab,
}

fn shelf(shelf: Shelf) -> Option<Storage> {
    let window = web_sys::window()?;
    match shelf {
        Shelf::Lasting => window.local_storage(),
        Shelf::Tab => window.session_storage(),
    }
    .ok()?
}

/// The value of `key`; `None` where there is none or the browser refuses.
#[must_use]
pub fn load(from: Shelf, key: &str) -> Option<String> {
    shelf(from)?.get_item(key).ok()?
}

/// Keeps a value.
///
/// # Errors
///
/// When the storage is full or refused.
pub fn save(to: Shelf, key: &str, value: &str) -> Result<(), Full> {
    let shelf = shelf(to).ok_or(Full)?;
    shelf.set_item(key, value).map_err(|_| Full)
}

/// Forgets a value.
pub fn forget(from: Shelf, key: &str) {
    if let Some(shelf) = shelf(from) {
        // Where it is refused there is nothing to forget.
        let _ = shelf.remove_item(key);
    }
}

/// The browser keeps nothing more, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;
