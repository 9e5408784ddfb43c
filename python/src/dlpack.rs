//! Reads the description of an array from DLPack's capsules, in place.
//!
//! The layouts are those of the specification (`dlpack.h`), for both kinds of capsules: `dltensor`, and from version 1
//! on `dltensor_versioned`, which has flags. A capsule is looked at and not taken over: when it goes, so does the loan.

use std::ffi::{CStr, c_void};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";

/// The version that is known here; a later one with the same first number only adds to it.
pub(crate) const VERSION: (u32, u32) = (1, 1);

const IS_READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2],
    n_dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    /// Per dimension, in elements; null where the last dimension is contiguous, without gaps.
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: *mut c_void,
    flags: u64,
    tensor: Tensor,
}

/// An array of a capsule.
pub(crate) struct OfCapsule {
    pub(crate) address: u64,
    /// The number of the device among those of its kind.
    pub(crate) device: i32,
    pub(crate) shape: Vec<usize>,
    /// In elements.
    pub(crate) strides: Vec<i64>,
    /// As NumPy has it: `f`, `i`, `u`, `b`, `c`, or `V` for what it has not.
    pub(crate) kind: u8,
    pub(crate) bytes: usize,
    pub(crate) is_writeable: bool,
}

/// Reads a capsule; `name` is the field's.
#[expect(unsafe_code, reason = "the structures are DLPack's")]
pub(crate) fn read(name: &str, capsule: &Bound<'_, PyAny>) -> PyResult<OfCapsule> {
    let wrong =
        |why: &str| PyTypeError::new_err(format!("`{name}` does not hand over its memory by DLPack: {why}"));
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong("it answers no capsule"))?;
    let (tensor, flags) = if capsule.is_valid_checked(Some(VERSIONED)) {
        let whole = capsule.pointer_checked(Some(VERSIONED))?.cast::<Versioned>();
        // SAFETY: a capsule of this name has that structure, for as long as it is there.
        let whole = unsafe { whole.as_ref() };
        if whole.version[0] != VERSION.0 {
            return Err(wrong(&format!("its version is {}", whole.version[0])));
        }
        (&whole.tensor, whole.flags)
    } else if capsule.is_valid_checked(Some(PLAIN)) {
        // SAFETY: as above; the tensor is the first thing in it.
        (unsafe { capsule.pointer_checked(Some(PLAIN))?.cast::<Tensor>().as_ref() }, 0)
    } else {
        return Err(wrong("its capsule is of no kind that is known"));
    };
    if flags & IS_COPIED != 0 {
        return Err(wrong("it hands over a copy"));
    }
    let n = usize::try_from(tensor.n_dimensions).map_err(|_| wrong("it has less than no dimension"))?;
    // SAFETY: a tensor has as many sizes as dimensions, and strides unless there are none.
    let of = |them: *const i64| unsafe {
        if them.is_null() || n == 0 { &[][..] } else { std::slice::from_raw_parts(them, n) }
    };
    let shape: Result<Vec<usize>, _> = of(tensor.shape).iter().map(|&it| usize::try_from(it)).collect();
    let shape = shape.ok().filter(|it| it.len() == n).ok_or_else(|| wrong("it tells no shape"))?;
    let strides = if tensor.strides.is_null() { contiguous(&shape) } else { of(tensor.strides).to_vec() };
    let address = (tensor.data.addr() as u64).wrapping_add(tensor.byte_offset);
    let kind = match (tensor.code, tensor.lanes) {
        (0, 1) => b'i',
        (1, 1) => b'u',
        (2, 1) => b'f',
        (5, 1) => b'c',
        (6, 1) => b'b',
        _ => b'V',
    };
    let is_writeable = flags & IS_READ_ONLY == 0;
    let (device, bytes) = (tensor.device[1], usize::from(tensor.bits) / 8);
    Ok(OfCapsule { address, device, shape, strides, kind, bytes, is_writeable })
}

/// Strides in elements of an array without gaps; the last dimension is contiguous.
pub(crate) fn contiguous(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut n = 1_i64;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = n;
        n = n.saturating_mul(i64::try_from(size).unwrap_or(i64::MAX));
    }
    strides
}
