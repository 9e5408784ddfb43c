//! NumPy's arrays as fields: shape, strides and address, and nothing copied.

use std::ptr::NonNull;

use isobar_compiler::types::DType;
use isobar_runtime::Buffer;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An array that is lent for as long as the buffer is; `origin` is the index of the first point of the compute domain.
///
/// # Safety
///
/// Whoever calls keeps the array alive until the buffer is gone.
#[expect(unsafe_code, reason = "the memory is NumPy's")]
pub(crate) unsafe fn lent(
    name: &str,
    array: &Bound<'_, PyUntypedArray>,
    is_written: bool,
) -> PyResult<Buffer> {
    let dtype = dtype(name, array)?;
    let size = isize::try_from(dtype.size_bytes()).unwrap_or(1);
    let mut strides = Vec::with_capacity(array.ndim());
    for (&bytes, &n) in array.strides().iter().zip(array.shape()) {
        if bytes % size != 0 && n > 1 {
            return Err(PyValueError::new_err(format!(
                "neighbours in `{name}` lie {bytes} bytes apart, which is no multiple of its {size} byte elements"
            )));
        }
        strides.push(i64::try_from(bytes / size).unwrap_or(0));
    }
    // SAFETY: the object is an array, whose structure has both.
    let (first, flags) = unsafe {
        let object = array.as_array_ptr();
        ((*object).fields.data.cast::<u8>(), (*object).fields.flags)
    };
    if is_written && flags & numpy::npyffi::flags::NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyValueError::new_err(format!(
            "`{name}` is written by the stencil, and its array is not writeable"
        )));
    }
    if first.addr() % dtype.size_bytes() != 0 {
        return Err(PyValueError::new_err(format!(
            "the elements of `{name}` are not aligned to their {size} bytes"
        )));
    }
    let first = NonNull::new(first).unwrap_or(NonNull::dangling());
    // SAFETY: NumPy vouches for what shape and strides reach; who calls keeps the array alive.
    let buffer = unsafe { Buffer::lent(dtype, first, array.shape(), &strides) };
    buffer.map_err(|why| PyValueError::new_err(format!("`{name}`: {why:?}")))
}

fn dtype(name: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<DType> {
    let descr = array.dtype();
    let is_native = descr.is_native_byteorder().unwrap_or(true);
    let found = match (descr.kind(), descr.itemsize()) {
        (b'b', 1) => Some(DType::Bool),
        (b'i', 1) => Some(DType::Int8),
        (b'i', 2) => Some(DType::Int16),
        (b'i', 4) => Some(DType::Int32),
        (b'i', 8) => Some(DType::Int64),
        (b'f', 4) => Some(DType::Float32),
        (b'f', 8) => Some(DType::Float64),
        _ => None,
    };
    found.filter(|_| is_native).ok_or_else(|| {
        let told = descr.to_string();
        PyTypeError::new_err(format!("`{name}` has elements of the type {told}, which no field has"))
    })
}
