//! The native part of the Python package `isobar`: it compiles requests, and calls stencils on arrays that Python lends.
//!
//! Texts (requests, diagnostics, signatures) cross the boundary as JSON. Arrays cross by their structure: no
//! element is copied on the way.

mod arrays;
mod scalars;
mod failures;
mod dlpack;
mod gpu;
mod forks;
mod plans;
mod attended;
mod levels;
mod caches;
mod call;
mod stencil;
mod ranks;
mod program;

use pyo3::prelude::*;

/// The module that the package imports.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<stencil::Stencil>()?;
    module.add_class::<stencil::Frozen>()?;
    module.add_class::<call::BoundCall>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<ranks::Ranks>()?;
    module.add_function(wrap_pyfunction!(stencil::backends, module)?)?;
    module.add_function(wrap_pyfunction!(stencil::cache_explain, module)?)?;
    module.add_function(wrap_pyfunction!(levels::compiled, module)?)?;
    module.add_function(wrap_pyfunction!(caches::cache_list, module)?)?;
    module.add_function(wrap_pyfunction!(caches::cache_clear, module)?)?;
    module.add_function(wrap_pyfunction!(forks::after_fork, module)?)?;
    module.add("Refused", module.py().get_type::<failures::Refused>())?;
    module.add("Trapped", module.py().get_type::<failures::Trapped>())?;
    module.add("Cancelled", module.py().get_type::<failures::Cancelled>())?;
    module.add("Elsewhere", module.py().get_type::<failures::Elsewhere>())?;
    module.add("Unavailable", module.py().get_type::<failures::Unavailable>())?;
    module.add("Panicked", module.py().get_type::<pyo3::panic::PanicException>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
