//! Memory that a program already has on a GPU: which GPU that is, and the work that it still has to wait for.
//!
//! A program that lends memory may have unfinished work on it, on a stream of its own. Our stream waits for
//! that work; the host waits for neither. A stream whose launches are being captured into a graph would
//! capture such a wait as well. Therefore others never get our stream: they get one on which nothing else
//! happens. The functions here restore the context of the calling thread.

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUpointer_attribute, CUresult, CUstream};

use super::error::CudaError;
use super::gpu::Gpu;

impl Gpu {
    /// Its number among the GPUs that the driver lists for this process.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    /// The number of the GPU that has this address; none where the driver knows no such memory.
    ///
    /// # Errors
    ///
    /// That the GPU was lost.
    #[expect(unsafe_code, reason = "the driver is asked here")]
    pub fn owner(&self, address: u64) -> Result<Option<usize>, CudaError> {
        let _kept = self.keep_context();
        self.usable()?;
        let mut ordinal = -1_i32;
        let what = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        // SAFETY: the attribute is an integer; any address may be asked for.
        let told = unsafe { sys::cuPointerGetAttribute((&raw mut ordinal).cast(), what, address) };
        match told {
            CUresult::CUDA_ERROR_INVALID_VALUE => Ok(None),
            other => {
                other.result().map_err(|why| self.note(why.into()))?;
                Ok(usize::try_from(ordinal).ok())
            }
        }
    }

    /// A stream for others. They make it wait for their work, and runs here wait for it through
    /// [`wait_for`](Self::wait_for).
    ///
    /// # Errors
    ///
    /// Where the driver makes none.
    pub fn arrivals(&self) -> Result<u64, CudaError> {
        let _kept = self.keep_context();
        self.usable()?;
        let made = self.arrivals.get_or_init(|| Ok(self.context.new_stream()?));
        let stream = made.as_ref().map_err(Clone::clone)?;
        Ok(stream.cu_stream().expose_provenance() as u64)
    }

    /// Makes later runs wait for the work that is on a stream now. Stream 1 is the default one of the
    /// process, and 2 that of this thread.
    ///
    /// # Errors
    ///
    /// Where the driver knows no such stream.
    ///
    /// # Safety
    ///
    /// It is a stream of this GPU's primary context, and exists.
    #[expect(unsafe_code, reason = "streams of others are named by numbers")]
    pub unsafe fn wait_for(&self, stream: u64) -> Result<(), CudaError> {
        let _kept = self.keep_context();
        self.usable()?;
        let failed = |why| self.note(CudaError::from(why));
        let event = self.context.new_event(None).map_err(failed)?;
        let other: CUstream = std::ptr::with_exposed_provenance_mut(usize::try_from(stream).unwrap_or(0));
        let _order = self.order();
        // SAFETY: the caller vouches for the stream. An event that is destroyed before it has happened is kept by the
        // driver until then.
        unsafe {
            result::event::record(event.cu_event(), other).map_err(failed)?;
            let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            result::stream::wait_event(self.stream.cu_stream(), event.cu_event(), flags).map_err(failed)
        }
    }
}
