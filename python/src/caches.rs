//! The folder with what is kept of compiled stencils.

use std::path::PathBuf;

use isobar_runtime::cache;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Something that is kept: back end, stencil, key, bytes, whether it is as it was written, seconds since it was used.
type Entry = (String, String, String, u64, bool, f64);

/// Everything that is kept, the one that was used last first.
#[pyfunction]
pub(crate) fn cache_list(py: Python<'_>, folder: PathBuf) -> Vec<Entry> {
    let found = py.detach(|| cache::list(&folder));
    let told = |it: cache::CacheEntry| {
        let backend = it.kind.backend().to_owned();
        (backend, it.stencil, it.key, it.bytes, it.is_whole, it.unused.as_secs_f64())
    };
    found.into_iter().map(told).collect()
}

/// Removes everything that is kept; answers how much there was.
#[pyfunction]
pub(crate) fn cache_clear(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
    py.detach(|| cache::clear(&folder)).map_err(|why| PyOSError::new_err(why.to_string()))
}
