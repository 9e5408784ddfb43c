//! Where a run is that goes on in this tab, played, stopped and taken step by step.

use leptos::prelude::*;

use super::run::Run;

/// Where a run is in time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The steps since the beginning; nothing where the result is of a single run.
    pub step: Memo<Option<u64>>,
    pub is_playing: Memo<bool>,
    /// The time of one step, in milliseconds.
    pub ms: Memo<Option<f64>>,
    /// Whether the text that comes next is to be run when it is compiled.
    pub(crate) is_awaited: Memo<bool>,
}

impl Clock {
    pub(crate) fn new(run: Run) -> Self {
        let clock = run.clock;
        Self {
            step: Memo::new(move |_| clock.with(|it| it.step)),
            is_playing: Memo::new(move |_| clock.with(|it| it.is_playing())),
            ms: Memo::new(move |_| clock.with(|it| it.ms)),
            is_awaited: Memo::new(move |_| clock.with(|it| it.is_awaited())),
        }
    }
}
