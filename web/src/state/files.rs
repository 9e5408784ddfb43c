//! Files on their way into the workspace.

use std::collections::BTreeMap;

use leptos::prelude::*;

/// The state of dropped, renamed and offered files.
#[derive(Clone, Copy, Debug)]
pub struct Files {
    /// Whether the visitor holds files over the page.
    pub are_held: RwSignal<bool>,
    /// Notes about the files that came last.
    pub notes: RwSignal<Vec<String>>,
    /// The file whose name is being changed.
    pub renaming: RwSignal<Option<String>>,
    /// Files that the visitor offered where modules were missing; each is taken when it is needed.
    pub(crate) offered: StoredValue<BTreeMap<String, String>>,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self {
            are_held: RwSignal::new(false),
            notes: RwSignal::default(),
            renaming: RwSignal::default(),
            offered: StoredValue::default(),
        }
    }
}
