//! Errors of a GPU, and their remedies.
//!
//! Each error is a sentence, which ends with a remedy where there is one. A lack of memory becomes
//! [`Failure::OutOfMemory`], as on a CPU. After a device is lost, or does not end a call, the next run opens
//! it again.

use std::time::Duration;

use crate::failure::Failure;

/// Why nothing runs on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WgpuError {
    #[error(
        "no GPU answers through Vulkan: install the driver of the card, or mesa-vulkan-drivers, which computes on the \
         processor"
    )]
    NoGpu,
    #[error("the GPU {gpu} cannot be opened: {why}; another process may hold it, or its driver is too old")]
    Closed { gpu: String, why: String },
    #[error("the GPU {gpu} does not compute: {why}; install a newer driver")]
    ComputesNothing { gpu: String, why: String },
    #[error("the GPU has not that much memory")]
    OutOfMemory,
    #[error(
        "the stencil has {needed} kinds of arrays, and the GPU {gpu} lets a kernel use {there} buffers; split the \
         stencil, or choose a back end for the CPU"
    )]
    Buffers { gpu: String, needed: usize, there: u32 },
    #[error(
        "`{kernel}` has {needed} threads in a block, and the GPU {gpu} has {there} at most; choose smaller tiles, or \
         the schedule for `webgpu`"
    )]
    Threads { gpu: String, kernel: String, needed: u32, there: u32 },
    #[error(
        "the GPU {0} takes no values with a launch, which loops around launches need; install a newer driver"
    )]
    NoImmediates(String),
    #[error(
        "the GPU {gpu} did not end a call within {} s, and it may never end; choose a smaller domain or fewer turns \
         of a `while`. What runs next opens the GPU again",
        .patience.as_secs_f32()
    )]
    Endless { gpu: String, patience: Duration },
    #[error("the GPU {gpu} was lost: {why}; what runs next opens it again")]
    Lost { gpu: String, why: String },
    #[error("a field lies in memory of a GPU that was lost: make it again")]
    FieldLost,
    #[error("a field lies in memory of another device than its kernels")]
    Elsewhere,
    #[error("the GPU {gpu} fails: {why}")]
    Driver { gpu: String, why: String },
    /// A fault of ours.
    #[error("a text for the GPU is wrong: {0}")]
    Text(String),
}

impl From<WgpuError> for Failure {
    fn from(why: WgpuError) -> Self {
        match why {
            WgpuError::OutOfMemory => Failure::OutOfMemory,
            other => Failure::Machine(other.to_string()),
        }
    }
}
