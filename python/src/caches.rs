//! The folder with what is kept of compiled stencils.

use std::path::PathBuf;

use isobar_runtime::cache;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Everything that is kept, the one that was used last first: back end, stencil, key, bytes, and whether it is as it was
/// written.
#[pyfunction]
pub(crate) fn cache_list(py: Python<'_>, folder: PathBuf) -> Vec<(String, String, String, u64, bool)> {
    let found = py.detach(|| cache::list(&folder));
    let told =
        |it: cache::CacheEntry| (it.kind.backend().to_owned(), it.stencil, it.key, it.bytes, it.is_whole);
    found.into_iter().map(told).collect()
}

/// Removes everything that is kept; answers how much there was.
#[pyfunction]
pub(crate) fn cache_clear(py: Python<'_>, folder: PathBuf) -> PyResult<usize> {
    py.detach(|| cache::clear(&folder)).map_err(|why| PyOSError::new_err(why.to_string()))
}
