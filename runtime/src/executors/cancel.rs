//! A call that somebody may end: back ends ask between their steps.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Tells a call to end; clones tell the same one.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// As generated C reads it: other than 0 once it is to end.
    flag: Arc<AtomicI32>,
}

thread_local! {
    /// Of the call that this thread is in.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    /// Has the call end where it next asks: with [`Failure::Cancelled`](super::Failure::Cancelled), unless it is over
    /// before. What it has written by then stays.
    pub fn cancel(&self) {
        self.flag.store(1, Ordering::Relaxed);
    }

    /// Whether it is to end.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.flag.load(Ordering::Relaxed) != 0
    }

    /// Does something that calls stencils, which may be told to end meanwhile.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Brings back what was there, also where the work panics.
        struct Before(Option<Cancel>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// What may end the call that this thread is in.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Where code looks whether it is to end.
    pub(super) fn address(&self) -> *const i32 {
        self.flag.as_ptr()
    }
}

/// Whether the call that this thread is in is to end.
pub(super) fn is_wanted() -> bool {
    CURRENT.with_borrow(|it| it.as_ref().is_some_and(Cancel::is_wanted))
}
