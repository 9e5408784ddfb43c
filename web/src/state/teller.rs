//! The compiler's answers to the editor's questions about its text.
//!
//! A worker of its own answers, so that neither a compilation nor a run makes the editor wait.

use std::rc::Rc;

use leptos::prelude::*;

use crate::bridge::asker::Asker;

/// The worker, from the first question on.
#[derive(Clone, Copy, Debug)]
pub struct EditorWorker {
    asker: StoredValue<Option<Rc<Asker>>, LocalStorage>,
}

impl EditorWorker {
    pub(crate) fn new() -> Self {
        Self { asker: StoredValue::new_local(None) }
    }

    /// The worker; another one where the last has ended.
    pub(crate) fn asker(self) -> Option<Rc<Asker>> {
        let is_gone = self.asker.with_value(|it| it.as_ref().is_none_or(|it| it.is_gone()));
        if is_gone {
            self.asker.set_value(Asker::start(|_, _| {}).ok());
        }
        self.asker.get_value()
    }
}
