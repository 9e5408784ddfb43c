//! Errors of a GPU, and their remedies.
//!
//! Each error is a sentence, which ends with a remedy where there is one. A text that NVRTC refuses is a
//! fault of ours, and becomes [`Failure::Code`]. A lack of memory becomes [`Failure::OutOfMemory`], as on a
//! CPU.

use std::time::Duration;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use super::nvrtc::NvrtcError;
use crate::failure::Failure;

/// The least driver that loads what NVRTC makes, as it tells its version: 12.0.
pub(super) const LEAST_DRIVER: i32 = 12_000;

/// Why nothing runs on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    #[error("no driver of NVIDIA: there is no `libcuda.so.1`; install the driver of the GPU")]
    NoDriver,
    #[error("the driver knows CUDA {}.{}, and {}.{} or newer is needed: install a newer one", .0 / 1000, .0 % 1000 / 10, LEAST_DRIVER / 1000, LEAST_DRIVER % 1000 / 10)]
    OldDriver(i32),
    #[error(
        "no GPU of NVIDIA: the driver lists none that this process may use; CUDA_VISIBLE_DEVICES may hide it"
    )]
    NoGpu,
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    #[error("the GPU has not that much memory")]
    OutOfMemory,
    #[error(
        "`{kernel}` needs {needed} bytes of shared memory for a block, and the GPU has {there}: choose smaller tiles"
    )]
    Shared { kernel: String, needed: u32, there: u32 },
    #[error("the driver does not take the code: {0}; a newer driver, or an older NVRTC, fits")]
    Module(String),
    #[error("`{kernel}` cannot be launched: {why}")]
    Launch { kernel: String, why: String },
    #[error("kernels did not end within {} s: nothing else runs on the GPU in this process; choose a smaller domain, or \
         fewer turns of a `while`", .0.as_secs_f32())]
    Endless(Duration),
    #[error("the GPU was lost: {0}; nothing else runs on it in this process")]
    Lost(String),
    #[error("the driver fails: {0}")]
    Driver(String),
}

impl From<CudaError> for Failure {
    fn from(why: CudaError) -> Self {
        match why {
            CudaError::OutOfMemory => Failure::OutOfMemory,
            CudaError::Nvrtc(NvrtcError::Refused(log)) => Failure::Code(log),
            other => Failure::Machine(other.to_string()),
        }
    }
}

impl From<DriverError> for CudaError {
    fn from(why: DriverError) -> Self {
        let told = said(why);
        match why.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory,
            CUresult::CUDA_ERROR_NO_DEVICE => Self::NoGpu,
            // After these errors the context is unusable.
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => Self::Lost(told),
            _ => Self::Driver(told),
        }
    }
}

/// The driver's own words for an error.
pub(super) fn said(why: DriverError) -> String {
    match why.error_string() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("{:?}", why.0),
    }
}
