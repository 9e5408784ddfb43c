//! The browser's storage: a lasting one, and one for this tab.

use std::cell::Cell;

use web_sys::Storage;

thread_local! {
    /// Whether nothing is kept any more: this page is about to end.
    static IS_SHUT: Cell<bool> = const { Cell::new(false) };
}

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
pub fn save(to: Shelf, key: &str, value: &str) -> Result<(), StorageQuotaError> {
    if IS_SHUT.get() {
        return Err(StorageQuotaError);
    }
    let shelf = shelf(to).ok_or(StorageQuotaError)?;
    shelf.set_item(key, value).map_err(|_| StorageQuotaError)
}

/// Forgets a value.
pub fn forget(from: Shelf, key: &str) {
    if let Some(shelf) = shelf(from) {
        // Where it is refused there is nothing to forget.
        let _ = shelf.remove_item(key);
    }
}

/// Forgets every value whose key begins so, and keeps nothing from now on.
pub fn forget_all(prefix: &str) {
    IS_SHUT.set(true);
    for shelf in [Shelf::Lasting, Shelf::Tab].into_iter().filter_map(shelf) {
        let keys = (0..shelf.length().unwrap_or(0)).filter_map(|at| shelf.key(at).ok().flatten());
        for key in keys.filter(|it| it.starts_with(prefix)).collect::<Vec<_>>() {
            // Where it is refused there is nothing to forget.
            let _ = shelf.remove_item(&key);
        }
    }
}

/// The browser keeps nothing more, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageQuotaError;
