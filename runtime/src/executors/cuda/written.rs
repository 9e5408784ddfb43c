//! Kernels written by hand, on the same GPU and stream as those of stencils. Both have to run alike to be
//! compared.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaFunction, result};

use super::error::CudaError;
use super::gpu::{CudaMemory, Gpu};
use super::module::{Module, ModuleInputs, module};
use super::nvrtc::Nvrtc;
use super::plan::ModuleKey;
use crate::device::DeviceMemory;
use crate::executors::{Failure, Mode};

/// A text with kernels, compiled as those of stencils are, and loaded.
#[derive(Debug)]
pub struct HandWrittenModule {
    gpu: Arc<Gpu>,
    module: Module,
    /// Events in front of a launch and behind it.
    events: [CudaEvent; 2],
}

/// Blocks and threads along x, y, z, and bytes of shared memory that a block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    pub blocks: [u32; 3],
    pub threads: [u32; 3],
    pub shared_bytes: u32,
}

/// An argument of a kernel.
#[derive(Debug)]
pub enum KernelArgument<'a> {
    /// An address: so many bytes behind the start of memory of [`CudaDevice`](super::device::CudaDevice).
    Memory(&'a mut dyn DeviceMemory, u64),
    /// The first bytes of a word, as many as the parameter has: an integer, or the bits of a float.
    Bits(u64),
}

impl HandWrittenModule {
    /// Compiles a text for the GPU of this process, without a cache.
    ///
    /// # Errors
    ///
    /// Where there is no GPU or no NVRTC, or it does not take the text, or one of the kernels is not in it.
    pub fn new(text: &str, kernels: &[&str]) -> Result<Self, Failure> {
        let gpu = Gpu::here()?;
        let nvrtc = Nvrtc::here().map_err(CudaError::from)?;
        Self::on(&gpu, nvrtc, text, kernels)
    }

    pub(super) fn on(gpu: &Arc<Gpu>, nvrtc: &Nvrtc, text: &str, kernels: &[&str]) -> Result<Self, Failure> {
        let making = ModuleInputs {
            gpu,
            nvrtc,
            cache: None,
            stencil: "written by hand",
            mode: Mode::Reproducible,
            key: ModuleKey::default(),
        };
        let module = module(text, kernels, making, &|_| ())?;
        let event = || gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let events = [event().map_err(CudaError::from)?, event().map_err(CudaError::from)?];
        Ok(Self { gpu: Arc::clone(gpu), module, events })
    }

    /// Launches a kernel, by its position among the named ones, and waits for it. Returns the milliseconds
    /// that the GPU took.
    ///
    /// # Errors
    ///
    /// Where memory is another device's, or the driver refuses.
    ///
    /// # Safety
    ///
    /// The kernel takes such arguments, in this order, and reads and writes nothing but the memory among them.
    #[expect(unsafe_code, reason = "kernels that a person wrote are launched here")]
    pub unsafe fn launch(
        &self,
        kernel: usize,
        shape: LaunchShape,
        given: &mut [KernelArgument<'_>],
    ) -> Result<f64, Failure> {
        let mut words = Vec::with_capacity(given.len());
        for it in given {
            words.push(match it {
                KernelArgument::Bits(bits) => *bits,
                KernelArgument::Memory(memory, at) => {
                    let elsewhere = || Failure::Machine("memory lies on another device".to_owned());
                    let memory = memory.as_any().downcast_ref::<CudaMemory>().ok_or_else(elsewhere)?;
                    memory.start + *at
                }
            });
        }
        // SAFETY: the words are those of the caller, who vouches for them.
        unsafe { self.launch_words(kernel, shape, &mut words) }
    }

    /// A kernel, by its position among the named ones.
    pub(super) fn kernel(&self, at: usize) -> Result<&CudaFunction, Failure> {
        let missing = || Failure::Machine("there is no such kernel".to_owned());
        self.module.kernels.get(at).ok_or_else(missing)
    }

    /// Launches it with addresses, waits, and returns the milliseconds that the GPU took.
    ///
    /// # Safety
    ///
    /// As above.
    #[expect(unsafe_code, reason = "kernels that a person wrote are launched here")]
    pub(super) unsafe fn launch_words(
        &self,
        kernel: usize,
        shape: LaunchShape,
        words: &mut [u64],
    ) -> Result<f64, Failure> {
        let gpu = &self.gpu;
        let failed = |why| CudaError::from(why);
        gpu.usable()?;
        let _order = gpu.order();
        self.events[0].record(&gpu.stream).map_err(failed)?;
        // SAFETY: the caller vouches for the arguments.
        unsafe { self.put(kernel, shape, words) }?;
        self.events[1].record(&gpu.stream).map_err(failed)?;
        self.events[1].synchronize().map_err(|why| gpu.note(why.into()))?;
        let ms = self.events[0].elapsed_ms(&self.events[1]).map_err(failed)?;
        Ok(f64::from(ms))
    }

    /// Puts a launch on the stream, which the caller holds.
    #[expect(unsafe_code, reason = "kernels that a person wrote are launched here")]
    unsafe fn put(
        &self,
        kernel: usize,
        LaunchShape { blocks: [x, y, z], threads: [i, j, k], shared_bytes }: LaunchShape,
        words: &mut [u64],
    ) -> Result<(), Failure> {
        let gpu = &self.gpu;
        let function = self.kernel(kernel)?;
        let mut arguments: Vec<*mut c_void> = words.iter_mut().map(|it| (&raw mut *it).cast()).collect();
        // SAFETY: the caller vouches for the arguments, which the driver copies.
        let launched = unsafe {
            result::launch_kernel(
                function.cu_function(),
                (x, y, z),
                (i, j, k),
                shared_bytes,
                gpu.stream.cu_stream(),
                &mut arguments,
            )
        };
        Ok(launched.map_err(|why| gpu.note(why.into()))?)
    }
}
