//! NumPy's arrays as fields: shape, strides and address, and nothing copied.

use std::ptr::NonNull;

use isobar_compiler::types::DType;
use isobar_runtime::Buffer;
use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

/// How an array lies, and what its elements are, in NumPy's letters.
pub(crate) struct ArrayDescription<'a> {
    /// Of the element at index 0.
    pub(crate) address: u64,
    pub(crate) shape: &'a [usize],
    /// Bytes between neighbours.
    pub(crate) strides: &'a [isize],
    pub(crate) kind: u8,
    pub(crate) byteorder: u8,
    pub(crate) bytes: usize,
    pub(crate) is_writeable: bool,
}

impl ArrayDescription<'_> {
    /// Adds all that decides a call with this array, so that calls with equal words mean the same memory.
    pub(crate) fn describe(&self, words: &mut Vec<u64>) {
        let traits = [self.kind, self.byteorder, u8::from(self.is_writeable)].map(u64::from);
        let traits = traits.into_iter().chain([self.bytes as u64, self.shape.len() as u64]);
        words.push(self.address);
        words.push(traits.fold(0, |all, one| all << 8 | one));
        words.extend(self.shape.iter().map(|&n| n as u64));
        words.extend(self.strides.iter().map(|&n| n as u64));
    }

    /// The type of its elements, and its strides in elements; `told` is the type in its owner's words.
    pub(crate) fn checked(
        &self,
        name: &str,
        told: impl FnOnce() -> String,
        is_written: bool,
    ) -> PyResult<(DType, Vec<i64>)> {
        let is_native = matches!(self.byteorder, b'=' | b'|') || self.byteorder == NATIVE;
        let dtype = dtype(self.kind, self.bytes).filter(|_| is_native).ok_or_else(|| {
            let told = told();
            PyTypeError::new_err(format!("`{name}` has elements of the type {told}, which no field has"))
        })?;
        let size = isize::try_from(dtype.size_bytes()).unwrap_or(1);
        let mut strides = Vec::with_capacity(self.shape.len());
        for (&bytes, &n) in self.strides.iter().zip(self.shape) {
            if bytes % size != 0 && n > 1 {
                return Err(PyValueError::new_err(format!(
                    "neighbours in `{name}` lie {bytes} bytes apart, which is no multiple of its {size} byte elements"
                )));
            }
            strides.push(i64::try_from(bytes / size).unwrap_or(0));
        }
        if is_written && !self.is_writeable {
            return Err(PyValueError::new_err(format!(
                "`{name}` is written by the stencil, and its array is not writeable"
            )));
        }
        if !self.address.is_multiple_of(dtype.size_bytes() as u64) {
            return Err(PyValueError::new_err(format!(
                "the elements of `{name}` are not aligned to their {size} bytes"
            )));
        }
        Ok((dtype, strides))
    }
}

/// The layout of an array and its first element, read from NumPy's structure without a call into Python.
#[expect(unsafe_code, reason = "the structure is NumPy's")]
fn told<'a>(array: &'a Bound<'_, PyUntypedArray>) -> (ArrayDescription<'a>, *mut u8) {
    let (shape, strides) = (array.shape(), array.strides());
    let object = array.as_array_ptr();
    // SAFETY: the object is an array, whose structure has these; its description is one for as long as the array is.
    let (first, flags, descr) = unsafe {
        let fields = &(*object).fields;
        (fields.data.cast::<u8>(), fields.flags, &(*fields.descr).fields)
    };
    let (kind, byteorder) = (descr.kind as u8, descr.byteorder as u8);
    // The numbers that NumPy gives its own types have not changed since there are any.
    let bytes = match descr.type_num {
        0..=2 => 1,
        3 | 4 => 2,
        5 | 6 | 11 => 4,
        7..=10 | 12 => 8,
        _ => 0,
    };
    let (address, is_writeable) = (first.addr() as u64, flags & NPY_ARRAY_WRITEABLE != 0);
    (ArrayDescription { address, shape, strides, kind, byteorder, bytes, is_writeable }, first)
}

/// Refuses an array that names its dimensions (`__gt_dims__`) and has other axes than the field, in whatever order.
pub(crate) fn hold_dimensions(name: &str, axes: &[usize], value: &Bound<'_, PyAny>) -> PyResult<()> {
    let dims = value.getattr_opt(intern!(value.py(), "__gt_dims__"))?.filter(|it| !it.is_none());
    let Some(dims) = dims else { return Ok(()) };
    let dims: Vec<String> = dims.try_iter()?.map(|it| Ok(it?.str()?.to_string())).collect::<PyResult<_>>()?;
    let mut own: Vec<usize> = dims.iter().filter_map(|it| AXES.iter().position(|axis| axis == it)).collect();
    own.sort_unstable();
    // An array that names none of the axes speaks of other dimensions.
    if own.is_empty() || own == axes {
        return Ok(());
    }
    let expected: String = axes.iter().map(|&it| AXES[it]).collect();
    Err(PyValueError::new_err(format!(
        "field `{name}` has the axes {expected}, and its array says that its dimensions are {}",
        dims.join(", ")
    )))
}

const AXES: [&str; 3] = ["I", "J", "K"];

/// Adds all that decides a call with this array.
pub(crate) fn describe(array: &Bound<'_, PyUntypedArray>, words: &mut Vec<u64>) {
    told(array).0.describe(words);
}

/// An array that is lent for as long as the buffer is.
///
/// # Safety
///
/// The caller keeps the array alive for as long as something runs on the buffer.
#[expect(unsafe_code, reason = "the memory is NumPy's")]
pub(crate) unsafe fn lent(
    name: &str,
    array: &Bound<'_, PyUntypedArray>,
    is_written: bool,
) -> PyResult<Buffer> {
    let (lies, first) = told(array);
    let (dtype, strides) = lies.checked(name, || array.dtype().to_string(), is_written)?;
    let first = NonNull::new(first).unwrap_or(NonNull::dangling());
    // SAFETY: NumPy vouches for the reach of shape and strides; the caller keeps the array alive.
    let buffer = unsafe { Buffer::lent(dtype, first, lies.shape, &strides) };
    buffer.map_err(|why| PyValueError::new_err(format!("`{name}`: {why:?}")))
}

const NATIVE: u8 = if cfg!(target_endian = "little") { b'<' } else { b'>' };

fn dtype(kind: u8, bytes: usize) -> Option<DType> {
    match (kind, bytes) {
        (b'b', 1) => Some(DType::Bool),
        (b'i', 1) => Some(DType::Int8),
        (b'i', 2) => Some(DType::Int16),
        (b'i', 4) => Some(DType::Int32),
        (b'i', 8) => Some(DType::Int64),
        (b'f', 4) => Some(DType::Float32),
        (b'f', 8) => Some(DType::Float64),
        _ => None,
    }
}
