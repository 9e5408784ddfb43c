//! Values that are kept in two places: at once in quick storage, and in the browser's database.
//!
//! Quick storage takes a value at once, but it may be full. A browser that is killed may not have written it
//! to the disk for a minute. The database answers more slowly, but by then it has written. So both places
//! keep a value with its time, and the next start takes the later one.

use std::time::Duration;

use isobar_page_model::workspaces::{LONGEST_MS, SaveDelay, SaveEffect, SaveEvent};
use leptos::prelude::*;

use crate::bridge::page;
use crate::bridge::storage::{self, Shelf, StorageQuotaError};
use crate::bridge::workspaces as kept;

/// Something that is kept soon after each change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeferredSave {
    delay: StoredValue<SaveDelay>,
    timer: StoredValue<Option<TimeoutHandle>>,
}

impl DeferredSave {
    pub(crate) fn new() -> Self {
        Self { delay: StoredValue::new(SaveDelay::default()), timer: StoredValue::new(None) }
    }

    /// Something has changed: `keep` is called soon, once for all changes until then.
    pub(crate) fn changed(self, keep: impl FnOnce() + 'static) {
        self.happened(SaveEvent::Changed(page::now_ms()), keep);
    }

    fn happened(self, event: SaveEvent, keep: impl FnOnce() + 'static) {
        let mut effect = None;
        self.delay.update_value(|it| effect = it.take(event));
        match effect {
            None => {}
            Some(SaveEffect::Wait) => {
                let due = move || self.happened(SaveEvent::Due, keep);
                let timer = set_timeout_with_handle(due, Duration::from_secs_f64(LONGEST_MS / 1e3));
                self.timer.set_value(timer.ok());
            }
            Some(SaveEffect::Save) => {
                if let Some(timer) = self.timer.get_value() {
                    timer.clear();
                }
                keep();
            }
        }
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
