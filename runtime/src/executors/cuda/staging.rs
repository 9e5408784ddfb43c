//! Copies between the host and a GPU through pinned memory, in two halves. While one half is on its way, the
//! other one is filled.
//!
//! The driver copies from any memory, but then it waits, and copies once more. Pinned memory is scarce, and
//! slow to allocate. Therefore the process has one piece of it for all copies, and one copy runs at a time.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, PinnedHostSlice, result};

use super::error::CudaError;

/// Bytes of each half.
const HALF: usize = 8 << 20;

/// Two halves, and an event behind the last copy of each.
pub(super) struct Staging {
    halves: [PinnedHostSlice<u8>; 2],
    moved: [CudaEvent; 2],
}

impl Staging {
    #[expect(unsafe_code, reason = "the driver is called here")]
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, CudaError> {
        let half = || {
            // Without a flag, so that it is cached: the host reads it as well.
            // SAFETY: all bytes are written before they are read, by the host or by a copy.
            unsafe { context.alloc_pinned_with_flags::<u8>(HALF, 0) }
        };
        let event = || context.new_event(None);
        Ok(Self { halves: [half()?, half()?], moved: [event()?, event()?] })
    }

    /// Copies bytes to the device, and waits until they are there.
    ///
    /// # Safety
    ///
    /// Behind `to` there are so many bytes of the device, and nobody else touches them meanwhile.
    #[expect(unsafe_code, reason = "memory is written by its address")]
    pub(super) unsafe fn write(
        &mut self,
        stream: &Arc<CudaStream>,
        to: CUdeviceptr,
        from: &[u8],
    ) -> Result<(), CudaError> {
        let mut at = to;
        for (number, bytes) in from.chunks(HALF).enumerate() {
            let half = number % 2;
            if number >= 2 {
                self.moved[half].synchronize()?;
            }
            let pinned = &mut self.halves[half].as_mut_slice()?[..bytes.len()];
            pinned.copy_from_slice(bytes);
            // SAFETY: the caller vouches for the bytes behind `to`; this half is not touched before `moved`.
            unsafe { result::memcpy_htod_async(at, pinned, stream.cu_stream()) }?;
            self.moved[half].record(stream)?;
            at += bytes.len() as u64;
        }
        Ok(stream.synchronize()?)
    }

    /// Copies bytes from the device, behind what was submitted before.
    ///
    /// # Safety
    ///
    /// Behind `from` there are so many bytes of the device.
    #[expect(unsafe_code, reason = "memory is read by its address")]
    pub(super) unsafe fn read(
        &mut self,
        stream: &Arc<CudaStream>,
        from: CUdeviceptr,
        to: &mut [u8],
    ) -> Result<(), CudaError> {
        let n = to.len().div_ceil(HALF);
        let length = |number: usize| HALF.min(to.len() - number * HALF);
        let lengths: Vec<usize> = (0..n).map(length).collect();
        let begin = |this: &mut Self, number: usize| -> Result<(), CudaError> {
            let half = number % 2;
            let pinned = &mut this.halves[half].as_mut_slice()?[..lengths[number]];
            let at = from + (number * HALF) as u64;
            // SAFETY: the caller vouches for the bytes behind `from`; this half is not touched before `moved`.
            unsafe { result::memcpy_dtoh_async(pinned, at, stream.cu_stream()) }?;
            Ok(this.moved[half].record(stream)?)
        };
        for number in 0..n.min(2) {
            begin(self, number)?;
        }
        for (number, part) in to.chunks_mut(HALF).enumerate() {
            let half = number % 2;
            self.moved[half].synchronize()?;
            part.copy_from_slice(&self.halves[half].as_slice()?[..part.len()]);
            if number + 2 < n {
                begin(self, number + 2)?;
            }
        }
        Ok(())
    }
}
