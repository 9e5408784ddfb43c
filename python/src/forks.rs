//! Processes that are copies of others, made by `fork`: threads stay behind in those.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::failures::Unavailable;

/// Whether C with OpenMP was made ready in this process, and whether that was in another one, which this is a copy of:
/// its threads are not here, and it would wait for them for ever.
static USES_OPENMP: AtomicBool = AtomicBool::new(false);
static HAS_FORKED: AtomicBool = AtomicBool::new(false);

pub(crate) fn uses_openmp() {
    USES_OPENMP.store(true, Ordering::Release);
}

/// Tells that this process was just forked from another one.
#[pyfunction]
pub(crate) fn after_fork() {
    HAS_FORKED.store(USES_OPENMP.load(Ordering::Acquire), Ordering::Release);
    isobar_runtime::executors::after_fork();
}

/// Refuses to call C with OpenMP where its threads are not.
pub(crate) fn refuse_forked(is_openmp: bool) -> PyResult<()> {
    if is_openmp && HAS_FORKED.load(Ordering::Acquire) {
        return Err(Unavailable::new_err(
            "this process was forked after a stencil was compiled for `openmp`, whose threads stayed behind: start \
             processes by `spawn`, or take `rayon`",
        ));
    }
    Ok(())
}
