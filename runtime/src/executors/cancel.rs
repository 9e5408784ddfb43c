//! A call that somebody may end: back ends ask between their steps.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

/// Asks a call to end; clones ask the same call.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// Nonzero once the call is to end; generated C reads it.
    flag: Arc<AtomicI32>,
}

/// The interval at which a waiting thread calls `ask`.
const ASKED: Duration = Duration::from_millis(50);

/// The stack of the other thread: large, since a stencil may be compiled there.
const STACK_BYTES: usize = 64 << 20;

/// Wakes the waiting thread when it is dropped, also where the work panics.
struct WakeGuard<'a>(&'a Thread);

impl Drop for WakeGuard<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

thread_local! {
    /// The token of the call that this thread is in.
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
}

impl Cancel {
    /// Has the call end where it next asks: with [`Failure::Cancelled`](super::Failure::Cancelled), unless it
    /// is over before. Results that it has written by then stay.
    pub fn cancel(&self) {
        self.flag.store(1, Ordering::Relaxed);
    }

    /// Whether the call is to end.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.flag.load(Ordering::Relaxed) != 0
    }

    /// Runs `work`, which calls stencils; this token may end those calls.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Restores the previous token, also where the work panics.
        struct Before(Option<Cancel>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }

    /// Runs `work` on another thread. Meanwhile this thread calls `ask` now and then, for instance to see
    /// whether a user wants to end it. Where no thread can be started, `work` runs here, and `ask` is not
    /// called.
    pub fn attended<R: Send>(
        &self,
        mut ask: impl FnMut() + Send,
        work: impl FnOnce() -> R + Send,
    ) -> Option<R> {
        let work = Mutex::new(Some(work));
        let do_it = || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.during(|| work.map(|it| it()))
        };
        let waiting = thread::current();
        thread::scope(|scope| {
            let on_another = || {
                let _told = WakeGuard(&waiting);
                do_it()
            };
            let Ok(working) = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, on_another) else {
                return do_it();
            };
            while !working.is_finished() {
                thread::park_timeout(ASKED);
                if !working.is_finished() {
                    ask();
                }
            }
            working.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// The token of the call that this thread is in; none outside of a call.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The address of the flag, which generated code reads.
    pub(super) fn address(&self) -> *const i32 {
        self.flag.as_ptr()
    }
}

/// Whether the call that this thread is in is to end.
pub(super) fn is_wanted() -> bool {
    CURRENT.with_borrow(|it| it.as_ref().is_some_and(Cancel::is_wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_attended_ends_where_somebody_asks_for_it_and_is_done_where_nobody_does() {
        let cancel = Cancel::default();
        let mut n_asked = 0;
        let ended = cancel.attended(
            || {
                n_asked += 1;
                cancel.cancel();
            },
            || {
                while !is_wanted() {
                    thread::sleep(Duration::from_millis(1));
                }
                "ended"
            },
        );
        assert_eq!((ended, n_asked > 0), (Some("ended"), true));
        // After it, this thread is in no call.
        assert!(!is_wanted() && Cancel::current().is_none());
        assert_eq!(Cancel::default().attended(|| (), || 7), Some(7));
    }
}
