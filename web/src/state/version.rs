//! Whether a newer version of the page has been loaded behind it.

use leptos::prelude::*;

use crate::bridge::page;

/// The version that is shown, against what the service worker has.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// All files of a newer version are here: the next load of the page takes them.
    pub is_newer_ready: RwSignal<bool>,
}

impl Version {
    pub(crate) fn new() -> Self {
        let is_newer_ready = RwSignal::new(false);
        page::on_update(move || is_newer_ready.set(true));
        Self { is_newer_ready }
    }

    /// Loads the page again, with the newer version.
    pub fn take(self) {
        page::take_update();
    }

    /// Stays with this one until the page is loaded again anyway.
    pub fn dismiss(self) {
        self.is_newer_ready.set(false);
    }
}
