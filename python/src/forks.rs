//! Processes made by `fork`: the copy has neither the threads of the original nor a working driver of a GPU.

use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;

use crate::failures::Unavailable;

/// A resource of a back end that a forked process lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    Nothing = 0,
    /// Threads of OpenMP: a copy would wait for them for ever.
    Openmp = 1,
    /// The driver of the GPU, which answers nothing in a copy.
    Cuda = 2,
}

/// Resources in use in this process, and resources of the process that this one was forked from.
static IN_USE: AtomicU8 = AtomicU8::new(0);
static LEFT_BEHIND: AtomicU8 = AtomicU8::new(0);

/// Notes that this is in use from now on.
pub(crate) fn uses(what: Keeps) {
    IN_USE.fetch_or(what as u8, Ordering::AcqRel);
}

/// Tells that this process was just forked from another one.
#[pyfunction]
pub(crate) fn after_fork() {
    LEFT_BEHIND.store(IN_USE.load(Ordering::Acquire), Ordering::Release);
    isobar_runtime::executors::after_fork();
}

/// Refuses to use a resource that the original process kept.
pub(crate) fn refuse_forked(what: Keeps) -> PyResult<()> {
    if LEFT_BEHIND.load(Ordering::Acquire) & what as u8 == 0 {
        return Ok(());
    }
    Err(Unavailable::new_err(match what {
        Keeps::Cuda => {
            "this process was forked after the GPU was in use, and the driver works in the first one alone: start \
             processes by `spawn`"
        }
        Keeps::Openmp | Keeps::Nothing => {
            "this process was forked after a stencil was compiled for `openmp`, whose threads stayed behind: start \
             processes by `spawn`, or take `rayon`"
        }
    }))
}
