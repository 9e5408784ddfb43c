//! Long calls, which Ctrl-C ends: the call is on another thread, while this one asks Python for signals.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

use isobar_runtime::executors::cancel::Cancel;
use pyo3::prelude::*;

/// So often Python is asked for signals.
const ASKED: Duration = Duration::from_millis(50);

/// Of the other thread: a stencil may be compiled there.
const STACK_BYTES: usize = 64 << 20;

/// From how many points on a call may take so long that somebody wants to end it.
pub(crate) fn long_from(backend: &str) -> i64 {
    match backend {
        "debug" | "numpy" => 10_000,
        // What its device does is not ended, and its context belongs to the thread that calls.
        "cuda" => i64::MAX,
        _ => 4 << 20,
    }
}

/// Does something while other threads of Python run. What may take long ends early where a handler of a signal raises,
/// as that of Ctrl-C does; then that is the answer.
pub(crate) fn attended<R: Send>(
    py: Python<'_>,
    may_be_long: bool,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    if !may_be_long {
        return Ok(py.detach(work));
    }
    let cancel = Cancel::default();
    let work = Mutex::new(Some(work));
    let do_it = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        cancel.during(|| work.map(|it| it()))
    };
    let mut raised = None;
    let waiting = thread::current();
    let done = py.detach(|| {
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
                if raised.is_none() && !working.is_finished() {
                    raised = Python::attach(|py| py.check_signals().err());
                    if raised.is_some() {
                        cancel.cancel();
                    }
                }
            }
            working.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    });
    match (raised, done) {
        (None, Some(done)) => Ok(done),
        (Some(raised), _) => Err(raised),
        (None, None) => Err(pyo3::exceptions::PyRuntimeError::new_err("nothing was done")),
    }
}

/// Wakes who waits, also where the work panics.
struct Told<'a>(&'a Thread);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}
