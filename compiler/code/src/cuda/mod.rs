//! CUDA C++ of kernels, as NVRTC takes it: one text without headers, whose kernels are one module.
//!
//! The notation is that of C (`emit/c_family`); what stands in front is in `shaders/*.cuh`. Sizes, strides and where
//! shared arrays lie are parameters, so that one module serves all calls; threads, tiles and rings are constants. With
//! the options of a run the text computes the bits of `debug`, and a host program runs it as well
//! (`tests/emulation`). Nothing is decided here.

mod print;
mod words;

use crate::diag::Listing;
use crate::entity::Handle;
use crate::kernel::Kernels;
use crate::kernel::nodes::ArrayMemory;
use crate::loops::nodes::{Array, Side, Storage, Strides};
use crate::space::{Axis, Symbol};

/// A text, and how its kernels are launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaArtifact {
    /// Its lines know their statements.
    pub listing: Listing,
    /// In the order of [`Kernels::kernels`].
    pub kernels: Vec<Signature>,
}

/// The parameters and settings of a kernel's launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    /// In order.
    pub params: Vec<Param>,
    /// Along x, y, z.
    pub threads: [u32; 3],
    /// Its arrays of a block, or of a thread in shared memory.
    pub shared: Vec<Handle<Array>>,
    /// Whether the launch has to ask for the memory of these, and tells where each begins.
    pub is_dynamic: bool,
    /// Its arrays of a thread in the device's memory.
    pub scratch: Vec<Handle<Array>>,
    pub has_barriers: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Param {
    /// Where the element at index 0 along every axis is, or would be; of a thread's array the start of the memory of all.
    Pointer(Handle<Array>),
    /// A value that the caller passes.
    Value(Handle<Array>),
    /// Points of the domain. This and those below are integers of 32 bits, or of 64 in a module for large arrays.
    Size(Axis),
    /// In elements.
    Stride { array: Handle<Array>, dimension: usize },
    /// The levels of an array beside those of the domain.
    Levels { array: Handle<Array>, side: Side },
    /// Of a loop of the host.
    Position(Symbol),
    /// Bytes from the start of the block's memory to an array.
    SharedAt(Handle<Array>),
    /// A word for each place where a run may have to end; see `kernel/cell.rs`.
    Slots,
}

/// Bytes of shared memory that arrays of a kernel may have together without asking for them.
pub const STATIC_SHARED_BYTES: u64 = 48 << 10;

/// Alignment in bytes of each array in shared memory.
pub const SHARED_ALIGNMENT: u64 = 16;

/// Writes kernels down.
#[must_use]
pub fn generate(kernels: &Kernels) -> CudaArtifact {
    print::text(kernels)
}

/// Where an array of a run lives: an array of registers has so many elements as the text can tell.
#[must_use]
pub fn memory(kernels: &Kernels, array: Handle<Array>) -> Option<ArrayMemory> {
    match kernels.memory(array)? {
        ArrayMemory::Registers if elements(kernels, array).is_none() => Some(ArrayMemory::Scratch),
        other => Some(other),
    }
}

/// How many elements an array has, where that is the same for every call.
fn elements(kernels: &Kernels, array: Handle<Array>) -> Option<u64> {
    lengths(kernels, array)
        .into_iter()
        .try_fold(1_u64, |n, it| n.checked_mul(u64::try_from(it?.max(0)).ok()?))
}

/// The length of an array along each dimension, where that is the same for every call.
fn lengths(kernels: &Kernels, array: Handle<Array>) -> Vec<Option<i64>> {
    kernels.program.places(array).map(|it| it.evaluated(&mut |_| None)).collect()
}

/// Whether a dimension is that along i of an array of the caller: there its stride is 1 in a module for such calls.
#[must_use]
pub fn is_along_i(array: &Array, dimension: usize) -> bool {
    array.strides == Strides::Given && dimension == 0 && array.axes.has(Axis::I)
}

/// Whether an array is one that a run allocates for all threads.
#[must_use]
pub fn is_of_run(kernels: &Kernels, array: Handle<Array>) -> bool {
    let it = &kernels.program.arrays[array];
    it.storage != Storage::Caller && memory(kernels, array) == Some(ArrayMemory::Global)
}
