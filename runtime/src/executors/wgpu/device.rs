//! The GPU of this process: found, opened, probed; buffers and pipelines, with errors that are values.
//!
//! wgpu tells errors in three ways, and none of them may end the process. What a call on the device finds wrong is caught
//! by scopes ([`Gpu::guarded`]). A device that is lost, and what no scope catches, is noted by callbacks and told with
//! whatever comes next; the next call opens the device again. What does not end is given up after a while: nothing else
//! can end a kernel, but for the end of the process, which is what a job has.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use isobar_compiler::backend::wgsl::{Doubles, WgslOptions};
use isobar_compiler::pass::GpuModel;
use wgpu::{
    Adapter, BackendOptions, Backends, BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry,
    BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages, CommandEncoderDescriptor,
    ComputePipeline, ComputePipelineDescriptor, DeviceDescriptor, DeviceType, ErrorFilter,
    ExperimentalFeatures, Features, Instance, InstanceDescriptor, InstanceFlags, Limits, MapMode,
    MemoryHints, PipelineCompilationOptions, PipelineLayoutDescriptor, PollError, PollType, ShaderModule,
    ShaderModuleDescriptorPassthrough, ShaderStages, SubmissionIndex,
};

use super::{model, probe, spirv};
use crate::copying::Copies;
use crate::failure::Failure;

/// A call that takes longer than this counts as one that never ends. Compiling is part of the first one.
const PATIENCE: Duration = Duration::from_mins(10);

/// An open device.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    /// All callers share it: what is submitted runs in order.
    pub(super) queue: wgpu::Queue,
    /// Those of the adapter, not the least ones that wgpu promises.
    pub(super) limits: Limits,
    /// Those of what is asked for that there are.
    pub(super) features: Features,
    /// How texts compute here what they have to.
    pub(super) options: WgslOptions,
    /// What people call it.
    pub(crate) name: String,
    pub(super) kind: DeviceType,
    /// The driver and its version, in its own words.
    pub(crate) driver: String,
    /// What it computes differently, in a sentence, if anything.
    pub(crate) remark: Option<String>,
    /// What schedules for it are made for.
    pub(super) model: GpuModel,
    /// How it copies, once somebody has asked.
    pub(super) copies: OnceLock<Result<Copies, Failure>>,
    /// Why nothing works on it any more, in the words of the driver.
    lost: Arc<Mutex<Option<String>>>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// What a future gives whose work is done when it is asked: those of a native device are such.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        std::thread::yield_now();
    }
}

/// The device of this process, opened when it is first asked for, and again after it was lost.
///
/// # Errors
///
/// A sentence that says why there is none.
pub(crate) fn find() -> Result<Arc<Gpu>, String> {
    static OPEN: Mutex<Option<Result<Arc<Gpu>, String>>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*open
        && known.as_ref().is_ok_and(|it| it.lost().is_none())
    {
        return known.clone();
    }
    if let Some(Err(why)) = &*open {
        return Err(why.clone());
    }
    let opened = Gpu::open().map(Arc::new);
    *open = Some(opened.clone());
    opened
}

/// A graphics card comes before what a processor pretends to be.
fn rank(kind: DeviceType) -> u32 {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

impl Gpu {
    fn open() -> Result<Self, String> {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::VULKAN,
            flags: InstanceFlags::empty(),
            memory_budget_thresholds: wgpu::MemoryBudgetThresholds::default(),
            backend_options: BackendOptions::default(),
            display: None,
        });
        let adapters = now(instance.enumerate_adapters(Backends::VULKAN));
        let adapter = adapters.into_iter().min_by_key(|it| rank(it.get_info().device_type));
        let adapter = adapter.ok_or(
            "no GPU answers through Vulkan: install the driver of the card, or mesa-vulkan-drivers, which computes on \
             the processor",
        )?;
        Self::of(&adapter)
    }

    fn of(adapter: &Adapter) -> Result<Self, String> {
        let info = adapter.get_info();
        let wanted = Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::PASSTHROUGH_SHADERS
            | Features::IMMEDIATES
            | Features::TIMESTAMP_QUERY
            | Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        let features = adapter.features() & wanted;
        let limits = adapter.limits();
        let (device, queue) = now(adapter.request_device(&DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: experimental(),
            memory_hints: MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))
        .map_err(|why| format!("the GPU {} cannot be opened: {why}", info.name))?;
        let lost = Arc::new(Mutex::new(None));
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, why| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        });
        // What no scope catches: it is told with whatever comes next, and ends no process.
        let told = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |why| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
        }));
        let has_doubles = features.contains(Features::SHADER_F64 | Features::SHADER_INT64);
        let doubles = if has_doubles { Doubles::Native } else { Doubles::Pairs };
        let options = WgslOptions { doubles, ..WgslOptions::default() };
        let model = model::of(&info.name, info.device_type, &limits);
        let driver = format!("{} {}", info.driver, info.driver_info).trim().to_owned();
        let mut gpu = Self {
            device,
            queue,
            limits,
            features,
            options,
            name: info.name,
            kind: info.device_type,
            driver,
            remark: None,
            model,
            copies: OnceLock::new(),
            lost,
        };
        let found =
            probe::of(&gpu).map_err(|why| format!("the GPU {} does not compute: {why:?}", gpu.name))?;
        gpu.options = found.options(gpu.options, gpu.is_decorated());
        gpu.remark = found.remark();
        Ok(gpu)
    }

    /// Whether texts reach the driver as we write them, decorated.
    pub(super) fn is_decorated(&self) -> bool {
        self.features.contains(Features::PASSTHROUGH_SHADERS)
    }

    /// Why it is lost, if it is.
    pub(super) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does what may fail on the device. Scopes belong to the thread, so that nobody gets another caller's errors.
    ///
    /// # Errors
    ///
    /// What the device said meanwhile: no memory, a fault of ours, or that it is lost.
    pub(super) fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let filters = [ErrorFilter::Internal, ErrorFilter::Validation, ErrorFilter::OutOfMemory];
        let scopes: Vec<_> = filters.into_iter().map(|it| self.device.push_error_scope(it)).collect();
        let done = work();
        let mut failure = None;
        for scope in scopes.into_iter().rev() {
            if let Some(error) = now(scope.pop()) {
                failure.get_or_insert(match error {
                    wgpu::Error::OutOfMemory { .. } => Failure::OutOfMemory,
                    wgpu::Error::Validation { description, .. }
                    | wgpu::Error::Internal { description, .. } => {
                        Failure::Machine(format!("the GPU {}: {description}", self.name))
                    }
                });
            }
        }
        if let Some(why) = self.lost() {
            return Err(Failure::Machine(format!("the GPU {} was lost: {why}", self.name)));
        }
        failure.map_or(Ok(done), Err)
    }

    /// A buffer of at least so many bytes; it holds zeros.
    pub(super) fn buffer(&self, bytes: u64, usage: BufferUsages) -> Result<Buffer, Failure> {
        // Nothing may be bound that has no bytes, and copies are of whole words.
        let size = bytes.max(16).next_multiple_of(8);
        if size > self.limits.max_buffer_size {
            return Err(Failure::OutOfMemory);
        }
        self.guarded(|| {
            self.device.create_buffer(&BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// A buffer that kernels work on.
    pub(super) fn storage(&self, bytes: u64) -> Result<Buffer, Failure> {
        self.buffer(bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// Copies bytes to the device; they begin and end at words of 32 bits. What was submitted before sees the old ones.
    pub(super) fn write(&self, buffer: &Buffer, at: u64, bytes: &[u8]) -> Result<(), Failure> {
        self.guarded(|| self.queue.write_buffer(buffer, at, bytes))
    }

    /// Bytes of the device, from a word on, once all that was submitted before is over.
    ///
    /// They come through a buffer that the host can read, since those that kernels work on cannot be read by it.
    pub(super) fn read(&self, buffer: &Buffer, at: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let size = bytes.next_multiple_of(4);
        if size == 0 {
            return Ok(Vec::new());
        }
        let staging = self.buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        let index = self.guarded(|| {
            let mut encoder = self.device.create_command_encoder(&CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer, at, &staging, 0, size);
            let index = self.queue.submit([encoder.finish()]);
            staging.slice(..size).map_async(MapMode::Read, |_| ());
            index
        })?;
        self.wait(&index)?;
        let view = staging.slice(..size).get_mapped_range();
        let view = view.map_err(|why| Failure::Machine(format!("the GPU {}: {why}", self.name)))?;
        let bytes = usize::try_from(bytes).map_err(|_| Failure::OutOfMemory)?;
        Ok(view[..bytes].to_vec())
    }

    /// Waits until what was submitted is over.
    pub(super) fn wait(&self, index: &SubmissionIndex) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let submission_index = Some(index.clone());
            let asked = PollType::Wait { submission_index, timeout: Some(Duration::from_secs(1)) };
            match self.device.poll(asked) {
                Ok(_) => break,
                Err(PollError::Timeout) if begun.elapsed() < PATIENCE => {}
                Err(PollError::Timeout) => {
                    let (name, s) = (&self.name, PATIENCE.as_secs());
                    let why = format!("the GPU {name} did not end a call within {s} s; it may never end");
                    *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                    return Err(Failure::Machine(why));
                }
                Err(why) => return Err(Failure::Machine(format!("the GPU {}: {why}", self.name))),
            }
        }
        match self.lost() {
            Some(why) => Err(Failure::Machine(format!("the GPU {} was lost: {why}", self.name))),
            None => Ok(()),
        }
    }

    /// The module of a text, whose entry points have these names and threads.
    ///
    /// Where the device takes SPIR-V as it is, drivers get words that naga wrote and that are decorated; elsewhere wgpu
    /// translates the text once more, and its arithmetic is kept apart by the text itself ([`WgslOptions::keeps`]).
    ///
    /// # Errors
    ///
    /// Where the text is not valid, which is a fault of ours, or the driver refuses.
    pub(super) fn module(&self, text: &str, entries: &[(String, [u32; 3])]) -> Result<ShaderModule, Failure> {
        let ours = |why: String| Failure::Machine(format!("a text for the GPU is wrong: {why}"));
        if !self.is_decorated() {
            spirv::checked(text).map_err(ours)?;
            let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(text));
            let of = wgpu::ShaderModuleDescriptor { label: None, source };
            return self.guarded(|| self.device.create_shader_module(of));
        }
        let words = spirv::translate(text, true).map_err(ours)?;
        let entry_points = entries.iter().map(|(name, [x, y, z])| wgpu::PassthroughShaderEntryPoint {
            name: Cow::Borrowed(name.as_str()),
            workgroup_size: (*x, *y, *z),
        });
        let of = ShaderModuleDescriptorPassthrough {
            label: None,
            entry_points: entry_points.collect(),
            spirv: Some(Cow::Owned(words)),
            ..ShaderModuleDescriptorPassthrough::default()
        };
        self.guarded(|| made_of_ours(&self.device, of))
    }

    /// Buffers in the order of their bindings; whether each is only read.
    pub(super) fn layout(&self, are_read: &[bool]) -> Result<BindGroupLayout, Failure> {
        let entry = |(binding, &read_only): (u32, &bool)| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..).zip(are_read).map(entry).collect();
        self.guarded(|| {
            self.device
                .create_bind_group_layout(&BindGroupLayoutDescriptor { label: None, entries: &entries })
        })
    }

    /// The pipeline of an entry point, which gets so many bytes with each launch. Making it is what takes a driver's time.
    pub(super) fn pipeline(
        &self,
        module: &ShaderModule,
        entry: &str,
        layout: &BindGroupLayout,
        immediate_size: u32,
    ) -> Result<ComputePipeline, Failure> {
        self.guarded(|| {
            let layout = self.device.create_pipeline_layout(&PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(layout)],
                immediate_size,
            });
            let options =
                PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() };
            self.device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: None,
                layout: Some(&layout),
                module,
                entry_point: Some(entry),
                compilation_options: options,
                cache: None,
            })
        })
    }
}

#[expect(unsafe_code, reason = "texts reach the driver past the checks of wgpu")]
fn experimental() -> ExperimentalFeatures {
    // SAFETY: of what counts as experimental only `PASSTHROUGH_SHADERS` is used, whose own promise is kept below.
    unsafe { ExperimentalFeatures::enabled() }
}

#[expect(unsafe_code, reason = "texts reach the driver past the checks of wgpu")]
fn made_of_ours(device: &wgpu::Device, of: ShaderModuleDescriptorPassthrough<'_>) -> ShaderModule {
    // SAFETY: the words are what naga wrote of a text that it found valid, and decorations that every driver knows.
    // Layouts are made from what the text binds. No index leaves its buffer: `bind` checked that arrays hold every
    // element that the domain and the stencil's extents reach, and each index of run time is checked by its statement.
    unsafe { device.create_shader_module_passthrough(of) }
}
