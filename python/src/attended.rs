//! Long calls, which Ctrl-C ends: the call is on another thread, while this one asks Python for signals.

use isobar_runtime::executors::cancel::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// From how many points on a call may take so long that somebody wants to end it.
pub(crate) fn long_from(backend: &str) -> i64 {
    match backend {
        "debug" | "numpy" => 10_000,
        // A kernel cannot be cancelled, and the device's context belongs to the calling thread.
        "cuda" => i64::MAX,
        _ => 4 << 20,
    }
}

/// Does some work while other threads of Python run. If the work may be long, it ends early when a signal
/// handler raises, as that of Ctrl-C does. Then the exception is the answer.
pub(crate) fn attended<R: Send>(
    py: Python<'_>,
    may_be_long: bool,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    if !may_be_long {
        return Ok(py.detach(work));
    }
    let (cancel, mut raised) = (Cancel::default(), None);
    let ask = || {
        if raised.is_none() {
            raised = Python::attach(|py| py.check_signals().err());
            if raised.is_some() {
                cancel.cancel();
            }
        }
    };
    let done = py.detach(|| cancel.attended(ask, work));
    match (raised, done) {
        (None, Some(done)) => Ok(done),
        (Some(raised), _) => Err(raised),
        (None, None) => Err(PyRuntimeError::new_err("nothing was done")),
    }
}
