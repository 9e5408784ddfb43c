//! Values that are kept in two places: at once in quick storage, and in the browser's database.
//!
//! Quick storage takes a value at once, but it may be full. A browser that is killed may not have written it
//! to the disk for a minute. The database answers more slowly, but by then it has written. So both places
//! keep a value with its time, and the next start takes the later one.

use std::time::Duration;

use leptos::prelude::*;

use crate::bridge::page;
use crate::bridge::storage::{self, Shelf, StorageQuotaError};
use crate::bridge::workspaces as kept;

/// The delay after which changes are kept. It counts from the first change, not from the last, so that a user
/// who types without a pause loses no more.
const LONGEST: Duration = Duration::from_millis(250);

/// Something that is kept soon after each change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredSave {
    /// The time of the first change that is not kept yet, and the timer that will keep it.
    waiting: StoredValue<Option<(f64, TimeoutHandle)>>,
}

impl DeferredSave {
    pub(crate) fn new() -> Self {
        Self { waiting: StoredValue::new(None) }
    }

    /// Something has changed: `keep` is called soon, once for all changes until then.
    pub(crate) fn changed(self, keep: impl FnOnce() + 'static) {
        let now = page::now_ms();
        if let Some((since, handle)) = self.waiting.get_value() {
            // A timer that is due can be kept waiting by keys.
            if now - since > LONGEST.as_secs_f64() * 1000.0 {
                handle.clear();
                self.waiting.set_value(None);
                keep();
            }
            return;
        }
        let later = move || {
            self.waiting.set_value(None);
            keep();
        };
        let handle = set_timeout_with_handle(later, LONGEST);
        self.waiting.set_value(handle.ok().map(|it| (now, it)));
    }
}

fn time_key(key: &str) -> String {
    format!("{key}.at")
}

/// Writes a value and its time to quick storage.
pub(crate) fn keep_quick(key: &str, value: &str, at: f64) -> Result<(), StorageQuotaError> {
    storage::save(Shelf::Lasting, key, value)?;
    // With an older time it is held against the database, which is right as well.
    let _ = storage::save(Shelf::Lasting, &time_key(key), &at.to_string());
    Ok(())
}

/// When the value of quick storage was written; 0 where there is none.
pub(crate) fn quick_at(key: &str) -> f64 {
    storage::load(Shelf::Lasting, &time_key(key)).and_then(|it| it.parse().ok()).unwrap_or(0.0)
}

/// Forgets a value of quick storage with its time.
pub(crate) fn forget_quick(key: &str) {
    storage::forget(Shelf::Lasting, key);
    storage::forget(Shelf::Lasting, &time_key(key));
}

/// Forgets a value that has no history, wherever it is. The database has nothing in its place, and when: quick storage
/// has the value again where the browser is killed soon.
pub(crate) fn forget_aside(key: &'static str) {
    let at = page::time();
    storage::forget(Shelf::Lasting, key);
    // Where the database does not take it, what it has is older than this.
    let _ = storage::save(Shelf::Lasting, &time_key(key), &at.to_string());
    leptos::task::spawn_local(async move {
        let _ = kept::keep_aside(key, "", at).await;
    });
}

/// Such a value, from wherever it was written last.
pub(crate) async fn last_aside(key: &str) -> Option<String> {
    let quick = storage::load(Shelf::Lasting, key);
    later_aside(key).await.or(quick)
}

/// The database's version of such a value, if it is later than that of quick storage; empty if it was
/// forgotten.
pub(crate) async fn later_aside(key: &str) -> Option<String> {
    kept::later(key, quick_at(key)).await
}
