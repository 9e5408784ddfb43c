//! One call, watched: another thread tells how far it is while it goes on.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::Thread;
use std::time::Instant;

use isobar_compiler::call::launch::Launch;

use super::{Failure, Prepared, Progress};
use crate::events::{Event, PROGRESS, Sink, Step};

/// Calls the stencil once, as the step `run`, and tells its progress meanwhile. The call moves at least
/// `bytes` bytes, which gives its rate; 0 stands for no rate.
///
/// # Errors
///
/// Those of the call.
pub fn run(prepared: &mut Prepared, launch: &mut Launch, bytes: u64, sink: Sink<'_>) -> Result<(), Failure> {
    let progress = prepared.progress();
    let is_over = AtomicBool::new(false);
    let (step, done, elapsed) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&progress, &is_over, sink));
        let over = EndSignal { is_over: &is_over, watching: watching.thread() };
        let step = Step::begin("run", sink);
        // Neither the start of the other thread nor its end belongs to the time of the call.
        let begun = Instant::now();
        let done = prepared.run(launch);
        let elapsed = begun.elapsed();
        drop(over);
        (step, done, elapsed)
    });
    // A call that ended early has moved fewer bytes.
    step.over_after(elapsed, done.is_ok().then_some(bytes).filter(|it| *it > 0));
    done
}

/// Tells the watching thread that the call is over, also where the call panics.
struct EndSignal<'a> {
    is_over: &'a AtomicBool,
    watching: &'a Thread,
}

impl Drop for EndSignal<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.watching.unpark();
    }
}

fn watch(progress: &Progress, is_over: &AtomicBool, sink: Sink<'_>) {
    let mut told = 0;
    let mut tell = || {
        let whole = |it: &AtomicI64| u64::try_from(it.load(Ordering::Relaxed)).unwrap_or(0);
        let (done, total) = (whole(&progress.done), whole(&progress.total));
        if done != told {
            told = done;
            sink(Event::Progress { done, total });
        }
    };
    let mut next = Instant::now() + PROGRESS;
    while !is_over.load(Ordering::SeqCst) {
        std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
        if Instant::now() >= next {
            next = Instant::now() + PROGRESS;
            tell();
        }
    }
    // The end is told, however short the call was.
    tell();
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex};

    use isobar_compiler::space::Domain;

    use super::super::{Caller, Code};
    use super::*;

    /// Does its parts one after the other; panics before one of them.
    struct Parts {
        progress: Arc<Progress>,
        falls_over_before: i64,
    }

    impl Code for Parts {
        fn caller(self: Arc<Self>) -> Box<dyn Caller> {
            Box::new(Self { progress: Arc::clone(&self.progress), ..*self })
        }
    }

    impl Caller for Parts {
        fn run(&mut self, _launch: &mut Launch) -> Result<(), Failure> {
            self.progress.total.store(3, Ordering::Relaxed);
            for done in 1..=3 {
                assert_ne!(done, self.falls_over_before);
                self.progress.done.store(done, Ordering::Relaxed);
            }
            Ok(())
        }

        fn progress(&self) -> Arc<Progress> {
            Arc::clone(&self.progress)
        }
    }

    fn told(falls_over_before: i64) -> (bool, Vec<Event>) {
        let told = Mutex::new(Vec::new());
        let sink = |event: Event| told.lock().expect("no sink panics").push(event);
        let parts = Parts { progress: Arc::default(), falls_over_before };
        let mut parts = Prepared::of(Arc::new(parts));
        let mut launch = Launch { domain: Domain::new(1, 1, 1), arguments: Vec::new() };
        let ended = catch_unwind(AssertUnwindSafe(|| run(&mut parts, &mut launch, 8, &sink)));
        (ended.is_ok_and(|it| it.is_ok()), told.into_inner().expect("no sink panics"))
    }

    #[test]
    fn the_end_of_a_run_is_told_however_short_it_was() {
        let (is_done, events) = told(0);
        assert!(is_done && events.contains(&Event::Progress { done: 3, total: 3 }), "{events:?}");
        assert!(matches!(&events[..], [.., Event::Timing { bytes: Some(8), .. }]), "{events:?}");
    }

    #[test]
    fn nobody_waits_for_a_run_that_falls_over() {
        let (is_done, events) = told(2);
        assert!(!is_done && events.contains(&Event::Progress { done: 1, total: 3 }), "{events:?}");
    }
}
