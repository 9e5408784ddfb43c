//! The GPU that the process uses: its context, its memory, and what it can do.
//!
//! There is one for the whole process, which is looked for at the first request. A missing driver is an
//! answer as well, and later requests get it at once. A kernel that breaks the context, or does not end,
//! makes it unusable for good: the driver offers no recovery but another process. From then on every call
//! reports that, and memory is left to the system.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use isobar_compiler::pass::GpuModel;

use super::context::ContextGuard;
use super::error::{CudaError, LEAST_DRIVER};
use super::staging::Staging;
use crate::copying::CopyMeasurement;
use crate::device::DeviceMemory;
use crate::failure::Failure;

/// The first GPU that the driver lists; `CUDA_VISIBLE_DEVICES` tells which that is.
pub struct Gpu {
    pub(super) context: Arc<CudaContext>,
    /// The stream of all work here, which runs in the order of submission.
    pub(super) stream: Arc<CudaStream>,
    pub(super) name: String,
    model: String,
    /// As NVRTC spells it: `sm_90`.
    pub(super) arch: String,
    /// The driver's version of CUDA, as the driver encodes it: 12000 for 12.0.
    pub(super) driver: i32,
    /// Bytes of shared memory that a block may ask for.
    pub(super) shared_bytes: u32,
    /// The model that schedules for it are made for.
    figures: GpuModel,
    /// The stream on which others signal the end of their work, once requested: see [`Gpu::arrivals`].
    pub(super) arrivals: OnceLock<Result<Arc<CudaStream>, CudaError>>,
    /// The rate of its copies, once measured.
    pub(super) copies: OnceLock<Result<CopyMeasurement, Failure>>,
    /// Memory for copies. Its lock guards the stream: otherwise the work of one thread would become part of
    /// the graph that another thread captures.
    staging: Mutex<Option<Staging>>,
    /// Whether it is unusable: a kernel of this process does not end, or the GPU was lost.
    is_lost: AtomicBool,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("model", &self.model).field("arch", &self.arch).finish_non_exhaustive()
    }
}

impl Gpu {
    /// The GPU of this process, which is looked for at the first call.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn here() -> Result<Arc<Self>, CudaError> {
        static HERE: OnceLock<Result<Arc<Gpu>, CudaError>> = OnceLock::new();
        HERE.get_or_init(|| Self::first().map(Arc::new)).clone()
    }

    #[expect(unsafe_code, reason = "the driver is asked here")]
    fn first() -> Result<Self, CudaError> {
        // SAFETY: it loads the driver's library, which runs no code of ours and is not unloaded while in use.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        let mut version = 0;
        // SAFETY: the library is there, and writes one integer.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
        if version < LEAST_DRIVER {
            return Err(CudaError::OldDriver(version));
        }
        if CudaContext::device_count()? == 0 {
            return Err(CudaError::NoGpu);
        }
        let _kept = ContextGuard::now();
        let context = CudaContext::new(0)?;
        // SAFETY: all work on the memory of this module is put on one stream, whose order is that of its calls.
        unsafe { context.disable_event_tracking() };
        // The default one cannot be captured.
        let stream = context.new_stream()?;
        let (major, minor) = context.compute_capability()?;
        let shared = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(Self {
            name: "cuda:0".to_owned(),
            model: context.name()?,
            arch: format!("sm_{major}{minor}"),
            driver: version,
            figures: figures(&context),
            arrivals: OnceLock::new(),
            copies: OnceLock::new(),
            shared_bytes: u32::try_from(shared).unwrap_or(0),
            context,
            stream,
            staging: Mutex::new(None),
            is_lost: AtomicBool::new(false),
        })
    }

    /// Its name, as the driver gives it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// As NVRTC spells it: `sm_90`.
    #[must_use]
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// The model that schedules for it are made for.
    pub(super) fn figures(&self) -> &GpuModel {
        &self.figures
    }

    /// Notes an error. One that makes the GPU unusable marks it as lost.
    pub(super) fn note(&self, why: CudaError) -> CudaError {
        if matches!(why, CudaError::Lost(_) | CudaError::Endless(_)) {
            self.is_lost.store(true, Ordering::Relaxed);
        }
        why
    }

    /// Whether nothing runs on it any more.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Checks that the GPU can be used, and makes its context that of this thread, as each call of the driver
    /// requires.
    ///
    /// # Errors
    ///
    /// That it was lost.
    pub(super) fn usable(&self) -> Result<(), CudaError> {
        if self.is_lost() {
            return Err(CudaError::Lost("a run before this one broke it".to_owned()));
        }
        Ok(self.context.bind_to_thread()?)
    }

    /// Reserves so many bytes, which are not initialised.
    #[expect(unsafe_code, reason = "the driver is called here")]
    pub(super) fn reserve(self: &Arc<Self>, bytes: usize) -> Result<CudaMemory, CudaError> {
        self.usable()?;
        // No bytes need no memory, and their address is never used.
        // SAFETY: the context is that of this thread.
        let start = if bytes == 0 { 0 } else { unsafe { result::malloc_sync(bytes) }? };
        Ok(CudaMemory { gpu: Arc::clone(self), start, bytes, owner: Owner::Ours })
    }

    /// Takes memory of another owner, who frees it.
    pub(super) fn lent(self: &Arc<Self>, start: CUdeviceptr, bytes: usize) -> CudaMemory {
        CudaMemory { gpu: Arc::clone(self), start, bytes, owner: Owner::Other }
    }

    /// Reserves the stream for this thread, until the guard is dropped.
    pub(super) fn order(&self) -> MutexGuard<'_, Option<Staging>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies through pinned memory: calls `work` with that memory and the stream.
    fn staged<T>(
        &self,
        work: impl FnOnce(&mut Staging, &Arc<CudaStream>) -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        self.usable()?;
        let mut staging = self.order();
        if staging.is_none() {
            *staging = Some(Staging::new(&self.context)?);
        }
        match staging.as_mut() {
            Some(it) => work(it, &self.stream).map_err(|why| self.note(why)),
            None => Err(CudaError::OutOfMemory),
        }
    }
}

/// The model of a GPU, as the driver describes it. Numbers that the driver does not tell are those of an
/// H100.
fn figures(context: &CudaContext) -> GpuModel {
    let told =
        |of: Attribute| context.attribute(of).ok().and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0);
    let usual = GpuModel::H100;
    // Memory moves data twice in a cycle. Some drivers do not tell the clock any more.
    let bandwidth = told(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
        .zip(told(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH))
        .and_then(|(khz, bits)| u32::try_from(2 * u64::from(khz) * u64::from(bits / 8) / 1_000_000).ok());
    let bytes = |of: Attribute| told(of).map(u64::from);
    GpuModel {
        multiprocessors: told(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .unwrap_or(usual.multiprocessors),
        clock_mhz: told(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
            .map_or(usual.clock_mhz, |khz| (khz / 1000).max(1)),
        bandwidth_gb: bandwidth.filter(|it| *it > 0).unwrap_or(usual.bandwidth_gb),
        l2_bytes: bytes(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).unwrap_or(usual.l2_bytes),
        shared_bytes: bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
            .unwrap_or(usual.shared_bytes),
        shared_bytes_of_block: bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .unwrap_or(usual.shared_bytes_of_block),
        registers: told(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
            .unwrap_or(usual.registers),
        threads: told(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR).unwrap_or(usual.threads),
        threads_of_block: told(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
            .unwrap_or(usual.threads_of_block),
        f64_ratio: told(Attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)
            .unwrap_or(usual.f64_ratio),
        ..usual
    }
}

/// Memory of a GPU.
pub struct CudaMemory {
    gpu: Arc<Gpu>,
    pub(super) start: CUdeviceptr,
    bytes: usize,
    owner: Owner,
}

/// The owner of memory, which frees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Ours,
    /// The program that lent it.
    Other,
}

impl fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaMemory").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl CudaMemory {
    /// Fills the memory with a byte, after the work submitted before. The caller holds the stream: see
    /// [`Gpu::order`].
    #[expect(unsafe_code, reason = "the driver is called here")]
    pub(super) fn fill(&self, byte: u8) -> Result<(), CudaError> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.gpu.usable()?;
        // SAFETY: the memory has so many bytes, and is there until what was submitted is over: see `drop`.
        let filled =
            unsafe { result::memset_d8_async(self.start, byte, self.bytes, self.gpu.stream.cu_stream()) };
        filled.map_err(|why| self.gpu.note(why.into()))
    }

    /// The address of a byte at which `n` bytes begin.
    ///
    /// # Errors
    ///
    /// Where there are fewer.
    fn within(&self, at: usize, n: usize) -> Result<CUdeviceptr, Failure> {
        let end = at.checked_add(n).filter(|end| *end <= self.bytes);
        let start = end.and_then(|_| self.start.checked_add(u64::try_from(at).ok()?));
        start.ok_or_else(|| Failure::Machine("there are not so many bytes on the GPU".to_owned()))
    }
}

impl DeviceMemory for CudaMemory {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Failure> {
        let start = self.within(at, from.len())?;
        // SAFETY: `within` holds the range against this memory, which is lent for this call alone.
        #[expect(unsafe_code, reason = "memory is written by its address")]
        let written = self.gpu.staged(|staging, stream| unsafe { staging.write(stream, start, from) });
        Ok(written?)
    }

    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Failure> {
        let start = self.within(at, to.len())?;
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "memory is read by its address")]
        let read = self.gpu.staged(|staging, stream| unsafe { staging.read(stream, start, to) });
        Ok(read?)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaMemory {
    #[expect(unsafe_code, reason = "the driver is called here")]
    fn drop(&mut self) {
        if self.owner == Owner::Other {
            return;
        }
        // A kernel that does not end may still use it, and freeing would wait for that.
        if self.bytes == 0 || self.gpu.is_lost() || self.gpu.context.bind_to_thread().is_err() {
            return;
        }
        // SAFETY: it was allocated by `reserve`, and nobody else frees it. The call waits for work that still
        // uses it. A failure to free it is no harm.
        let _ = unsafe { result::free_sync(self.start) };
    }
}
