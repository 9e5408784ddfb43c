//! The native part of the Python package `isobar`: it compiles requests, and calls stencils on arrays that Python lends.
//!
//! What crosses is JSON where it is about text (requests, diagnostics, signatures), and arrays by their structure: no
//! element is copied on the way.

mod arrays;
mod stencil;

use pyo3::prelude::*;

/// What the package imports.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<stencil::Stencil>()?;
    module.add_class::<stencil::BoundCall>()?;
    module.add("Refused", module.py().get_type::<stencil::Refused>())?;
    module.add("Trapped", module.py().get_type::<stencil::Trapped>())?;
    module.add("Failed", module.py().get_type::<stencil::Failed>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
