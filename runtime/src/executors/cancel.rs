//! A call that somebody may end: back ends ask between their steps.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

/// Tells a call to end; clones tell the same one.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// As generated C reads it: other than 0 once it is to end.
    flag: Arc<AtomicI32>,
}

/// So often is asked.
const ASKED: Duration = Duration::from_millis(50);

/// Of the other thread: a stencil may be compiled there.
const STACK_BYTES: usize = 64 << 20;

/// Wakes who waits, also where the work panics.
struct Told<'a>(&'a Thread);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
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

    /// Does the same on another thread, and meanwhile asks on this one now and then, for instance whether somebody wants it
    /// to end. Where there is no other thread, it is done here, and nobody asks.
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
                let _told = Told(&waiting);
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
        // Behind it, this thread is in no call.
        assert!(!is_wanted() && Cancel::current().is_none());
        assert_eq!(Cancel::default().attended(|| (), || 7), Some(7));
    }
}
