//! Numbers of Python and of NumPy as scalars of a call.

use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::types::Value;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// A number for the parameter of this name.
pub(crate) fn scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ScalarInput> {
    if let Ok(it) = value.cast_exact::<PyFloat>() {
        return Ok(ScalarInput::Float(it.extract()?));
    }
    if let Ok(it) = value.cast_exact::<PyBool>() {
        return Ok(ScalarInput::Bool(it.is_true()));
    }
    // Members of an `IntEnum` are integers as well.
    if value.cast::<PyInt>().is_ok() {
        return Ok(ScalarInput::Int(value.extract()?));
    }
    let py = value.py();
    // NumPy's own numbers need no question; of others, those without a value are refused in the words of the package.
    if !is_of_numpy(value)? {
        py.import(intern!(py, "isobar._arrays"))?
            .call_method1(intern!(py, "refuse_scalar"), (name, value))?;
    }
    // NumPy's numbers, and arrays without dimensions, know their type; its `float64` is a number of Python's too.
    let dtype = value.getattr(intern!(py, "dtype")).and_then(|it| it.getattr(intern!(py, "name")));
    let dtype: Option<String> = dtype.ok().and_then(|it| it.extract().ok());
    let is_number =
        value.getattr(intern!(py, "ndim")).is_ok_and(|it| it.extract::<u32>().is_ok_and(|it| it == 0));
    let typed = |value| Ok(ScalarInput::Typed(value));
    match dtype.as_deref().filter(|_| is_number) {
        None if value.cast::<PyFloat>().is_ok() => Ok(ScalarInput::Float(value.extract()?)),
        Some("float64") => typed(Value::Float64(item(value)?.extract()?)),
        Some("float32") => typed(Value::Float32(item(value)?.extract()?)),
        Some("int64") => typed(Value::Int64(item(value)?.extract()?)),
        Some("int32") => typed(Value::Int32(item(value)?.extract()?)),
        Some("int16") => typed(Value::Int16(item(value)?.extract()?)),
        Some("int8") => typed(Value::Int8(item(value)?.extract()?)),
        Some("bool") => typed(Value::Bool(item(value)?.extract()?)),
        _ => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("`{name}` is a scalar, and was given a {kind}")))
        }
    }
}

/// Whether NumPy made its type, but for masked arrays and constants.
fn is_of_numpy(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.get_type().module()?.to_cow()? == "numpy")
}

/// As a number of Python's.
fn item<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value.call_method0(intern!(value.py(), "item"))
}
