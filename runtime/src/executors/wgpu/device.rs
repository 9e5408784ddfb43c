//! The GPU of this process: found, opened, probed; buffers and pipelines, with errors that are values.
//!
//! wgpu reports errors in three ways, and none of them may end the process. Scopes ([`Gpu::guarded`]) catch
//! the errors of a call on the device. Callbacks note the loss of a device, and errors that no scope catches.
//! The next operation reports these, and the next call opens the device again ([`Devices`]). A call that does
//! not end is given up after a while. Such a kernel ends only with its process, and a job has a process of
//! its own.
//!
//! The pipelines of a text are stored by the text, for all stencils of the process; [`PipelineEntry`] stores
//! them for others.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use isobar_compiler::pass::GpuModel;
use isobar_compiler::wgsl::{Doubles, WgslOptions};
use wgpu::{
    Adapter, BackendOptions, Backends, BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry,
    BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages, CommandEncoderDescriptor,
    ComputePipeline, ComputePipelineDescriptor, DeviceDescriptor, DeviceType, ErrorFilter,
    ExperimentalFeatures, Features, Instance, InstanceDescriptor, InstanceFlags, Limits, MapMode,
    MemoryHints, PipelineCache, PipelineCacheDescriptor, PipelineCompilationOptions,
    PipelineLayoutDescriptor, PollError, PollType, ShaderModule, ShaderModuleDescriptorPassthrough,
    ShaderStages, SubmissionIndex,
};

use super::error::WgpuError;
use super::stored::PipelineEntry;
use super::{model, probe, spirv};
use crate::copying::CopyMeasurement;
use crate::failure::Failure;
use crate::store::{Store, StoreEntry};

/// A call that takes longer than this counts as one that never ends. Compiling is part of the first one.
const PATIENCE: Duration = Duration::from_mins(10);

/// An open device.
pub(crate) struct Gpu {
    pub(super) device: wgpu::Device,
    /// All callers share it: what is submitted runs in order.
    pub(super) queue: wgpu::Queue,
    /// The limits of the adapter, not the least ones that wgpu promises.
    pub(super) limits: Limits,
    /// The features that are asked for and that the adapter has.
    pub(super) features: Features,
    /// The options of texts for this device.
    pub(super) options: WgslOptions,
    /// Its name, as the adapter gives it.
    pub(crate) name: String,
    pub(super) kind: DeviceType,
    /// The driver and its version, in its own words.
    pub(crate) driver: String,
    /// The key of devices that can share stored pipelines; none where those of this device cannot be stored.
    pub(super) cache_key: Option<String>,
    /// A sentence that tells where its results differ, if they do.
    pub(crate) remark: Option<String>,
    /// No other device of the process has this number. Objects of one device are of no use on another.
    pub(super) number: u64,
    /// A call that takes longer counts as one that never ends.
    pub(super) patience: Duration,
    /// The pipelines of the texts that were asked for last.
    programs: Store<PipelineInputs, TextPipelines>,
    /// The model that schedules for it are made for.
    pub(super) model: GpuModel,
    /// The rate of its copies, once measured.
    pub(super) copies: OnceLock<Result<CopyMeasurement, Failure>>,
    /// Why nothing works on it any more, in the words of the driver.
    lost: Arc<Mutex<Option<String>>>,
}

/// The inputs of pipelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PipelineInputs {
    pub(super) text: String,
    /// Entry points, and the threads of each along x, y, z.
    pub(super) entries: Vec<(String, [u32; 3])>,
    /// Whether each buffer is only read, in the order of the bindings.
    pub(super) are_read: Vec<bool>,
    /// Bytes that each launch gets.
    pub(super) immediate_bytes: u32,
}

/// Pipelines of a text.
#[derive(Debug)]
pub(super) struct TextPipelines {
    /// In the order of the entry points.
    pub(super) pipelines: Vec<ComputePipeline>,
    pub(super) layout: BindGroupLayout,
}

/// Where a device is found: opened when it is first asked for, and again after it was lost.
pub(super) struct Devices {
    open: Box<dyn Fn() -> Result<Gpu, WgpuError> + Send + Sync>,
    known: Mutex<Option<Result<Arc<Gpu>, WgpuError>>>,
}

impl Devices {
    pub(super) fn new(open: impl Fn() -> Result<Gpu, WgpuError> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), known: Mutex::new(None) }
    }

    /// The one of this process.
    pub(super) fn here() -> Arc<Self> {
        static HERE: LazyLock<Arc<Devices>> =
            LazyLock::new(|| Arc::new(Devices::new(|| Gpu::open(|_, _| ()))));
        Arc::clone(&HERE)
    }

    /// The device, open.
    ///
    /// # Errors
    ///
    /// Why there is none. Where there never was one, that is not asked again.
    pub(super) fn find(&self) -> Result<Arc<Gpu>, WgpuError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_lost = match &*known {
            Some(Ok(gpu)) => gpu.lost().is_some(),
            Some(Err(_)) => false,
            None => true,
        };
        if let Some(found) = &*known
            && !is_lost
        {
            return found.clone();
        }
        let opened = (self.open)().map(Arc::new);
        // A device that was there may come back: the next request tries again.
        if opened.is_ok() || known.is_none() {
            *known = Some(opened.clone());
        }
        opened
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Returns the result of a future that is ready when it is polled, as those of a native device are.
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

/// The order of preference: a graphics card comes before a GPU that the processor emulates.
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
    /// Opens the best device that Vulkan lists, with all that it can do except for what `less` takes away.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(super) fn open(less: impl FnOnce(&mut Features, &mut Limits)) -> Result<Self, WgpuError> {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::VULKAN,
            flags: InstanceFlags::empty(),
            memory_budget_thresholds: wgpu::MemoryBudgetThresholds::default(),
            backend_options: BackendOptions::default(),
            display: None,
        });
        let adapters = now(instance.enumerate_adapters(Backends::VULKAN));
        let adapter = adapters.into_iter().min_by_key(|it| rank(it.get_info().device_type));
        Self::of(&adapter.ok_or(WgpuError::NoGpu)?, less)
    }

    fn of(adapter: &Adapter, less: impl FnOnce(&mut Features, &mut Limits)) -> Result<Self, WgpuError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let info = adapter.get_info();
        let wanted = Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::PASSTHROUGH_SHADERS
            | Features::IMMEDIATES
            | Features::PIPELINE_CACHE
            | Features::TIMESTAMP_QUERY
            | Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        let mut features = adapter.features() & wanted;
        let mut limits = adapter.limits();
        less(&mut features, &mut limits);
        let (device, queue) = now(adapter.request_device(&DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: experimental(),
            memory_hints: MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))
        .map_err(|why| WgpuError::Closed { gpu: info.name.clone(), why: why.to_string() })?;
        let lost = Arc::new(Mutex::new(None));
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, why| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        });
        // Errors that no scope catches: the next operation reports them, and they do not end the process.
        let told = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |why| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
        }));
        let has_doubles = features.contains(Features::SHADER_F64 | Features::SHADER_INT64);
        let doubles = if has_doubles { Doubles::Native } else { Doubles::Pairs };
        let options = WgslOptions { doubles, ..WgslOptions::default() };
        let keeps = features.contains(Features::PIPELINE_CACHE);
        let cache_key = wgpu::util::pipeline_cache_key(&info).filter(|_| keeps);
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
            cache_key,
            remark: None,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            patience: PATIENCE,
            programs: Store::default(),
            model,
            copies: OnceLock::new(),
            lost,
        };
        let found = probe::of(&gpu)
            .map_err(|why| WgpuError::ComputesNothing { gpu: gpu.name.clone(), why: why.to_string() })?;
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

    /// Runs `work`, which may fail on the device. Scopes belong to the thread, so that no caller gets another
    /// one's errors.
    ///
    /// # Errors
    ///
    /// The error that the device reported meanwhile: no memory, a fault of ours, or its loss.
    pub(super) fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, WgpuError> {
        let filters = [ErrorFilter::Internal, ErrorFilter::Validation, ErrorFilter::OutOfMemory];
        let scopes: Vec<_> = filters.into_iter().map(|it| self.device.push_error_scope(it)).collect();
        let done = work();
        let mut failure = None;
        for scope in scopes.into_iter().rev() {
            if let Some(error) = now(scope.pop()) {
                failure.get_or_insert(match error {
                    wgpu::Error::OutOfMemory { .. } => WgpuError::OutOfMemory,
                    wgpu::Error::Validation { description, .. }
                    | wgpu::Error::Internal { description, .. } => self.failed(description),
                });
            }
        }
        if failure.is_some() {
            // Errors that follow from a loss are reported as the loss. The device tells of it when it is
            // polled.
            let _ = self.device.poll(PollType::Poll);
        }
        self.usable()?;
        failure.map_or(Ok(done), Err)
    }

    /// Whether something may run on it.
    ///
    /// # Errors
    ///
    /// That it was lost.
    pub(super) fn usable(&self) -> Result<(), WgpuError> {
        match self.lost() {
            Some(why) => Err(WgpuError::Lost { gpu: self.name.clone(), why }),
            None => Ok(()),
        }
    }

    /// The error of an operation, in the words of wgpu.
    pub(super) fn failed(&self, why: impl fmt::Display) -> WgpuError {
        WgpuError::Driver { gpu: self.name.clone(), why: why.to_string() }
    }

    /// A buffer of at least so many bytes; it holds zeros.
    pub(super) fn buffer(&self, bytes: u64, usage: BufferUsages) -> Result<Buffer, WgpuError> {
        // A buffer without bytes cannot be bound, and copies are of whole words.
        let size = bytes.max(16).next_multiple_of(8);
        if size > self.limits.max_buffer_size {
            return Err(WgpuError::OutOfMemory);
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
    pub(super) fn storage(&self, bytes: u64) -> Result<Buffer, WgpuError> {
        self.buffer(bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    }

    /// Copies bytes to the device; they begin and end at words of 32 bits. Work submitted before sees the old
    /// bytes.
    pub(super) fn write(&self, buffer: &Buffer, at: u64, bytes: &[u8]) -> Result<(), WgpuError> {
        self.guarded(|| self.queue.write_buffer(buffer, at, bytes))
    }

    /// Reads bytes of the device, from a word on, after all work submitted before.
    ///
    /// They come through a buffer that the host can read, since it cannot read those that kernels work on.
    pub(super) fn read(&self, buffer: &Buffer, at: u64, bytes: u64) -> Result<Vec<u8>, WgpuError> {
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
        let view = view.map_err(|why| self.failed(why))?;
        let bytes = usize::try_from(bytes).map_err(|_| WgpuError::OutOfMemory)?;
        Ok(view[..bytes].to_vec())
    }

    /// Waits until submitted work is over.
    pub(super) fn wait(&self, index: &SubmissionIndex) -> Result<(), WgpuError> {
        let begun = Instant::now();
        loop {
            let left = self.patience.saturating_sub(begun.elapsed());
            let asked = PollType::Wait {
                submission_index: Some(index.clone()),
                timeout: Some(left.min(Duration::from_secs(1))),
            };
            match self.device.poll(asked) {
                Ok(_) => return self.usable(),
                Err(PollError::Timeout) if begun.elapsed() < self.patience => self.usable()?,
                Err(PollError::Timeout) => return Err(self.given_up()),
                Err(why) => {
                    self.usable()?;
                    return Err(self.failed(why));
                }
            }
        }
    }

    /// Gives up on a kernel that does not end. Leaks the device, because dropping it would wait for the kernel.
    fn given_up(&self) -> WgpuError {
        let endless = WgpuError::Endless { gpu: self.name.clone(), patience: self.patience };
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(endless.to_string());
        std::mem::forget((self.device.clone(), self.queue.clone()));
        endless
    }

    /// The pipelines of a text; made where it is the first like it.
    ///
    /// # Errors
    ///
    /// Those of making them.
    pub(super) fn program(
        &self,
        text: PipelineInputs,
        place: Option<&PipelineEntry>,
    ) -> Result<Arc<StoreEntry<PipelineInputs, TextPipelines>>, Failure> {
        self.programs.get(text, |it| Ok(self.made(it, place)?))
    }

    /// Makes the pipelines of a text anew, with data that another process stored at a place. Stores the new
    /// data there.
    pub(super) fn made(
        &self,
        text: &PipelineInputs,
        place: Option<&PipelineEntry>,
    ) -> Result<TextPipelines, WgpuError> {
        let module = self.module(&text.text, &text.entries)?;
        let layout = self.layout(&text.are_read)?;
        let cache = match place {
            Some(place) => Some((place, self.pipeline_cache(place.data().as_deref())?)),
            None => None,
        };
        let before = cache.as_ref().and_then(|it| it.1.get_data());
        let cached = cache.as_ref().map(|it| &it.1);
        let one = |(name, _): &(String, _)| {
            self.pipeline_with(&module, name, &layout, text.immediate_bytes, cached)
        };
        let pipelines: Result<Vec<_>, WgpuError> = text.entries.iter().map(one).collect();
        let pipelines = pipelines?;
        // Some drivers keep nothing there.
        if let Some((place, cache)) = &cache
            && let Some(data) = cache.get_data()
            && before.as_ref() != Some(&data)
        {
            place.keep(&data);
        }
        Ok(TextPipelines { pipelines, layout })
    }

    /// A cache in which a driver stores pipelines. It begins with earlier data, if the driver accepts them.
    pub(super) fn pipeline_cache(&self, data: Option<&[u8]>) -> Result<PipelineCache, WgpuError> {
        let filled = |data| self.guarded(|| filled(&self.device, data));
        match filled(data) {
            Err(_) if data.is_some() && self.lost().is_none() => filled(None),
            made => made,
        }
    }

    /// The module of a text, whose entry points have these names and threads.
    ///
    /// Where the device takes SPIR-V as it is, drivers get words that naga wrote and that are decorated.
    /// Elsewhere wgpu translates the text once more, and the text itself keeps operations apart
    /// ([`WgslOptions::keeps`]).
    ///
    /// # Errors
    ///
    /// Where the text is not valid, which is a fault of ours, or the driver refuses.
    pub(super) fn module(
        &self,
        text: &str,
        entries: &[(String, [u32; 3])],
    ) -> Result<ShaderModule, WgpuError> {
        if !self.is_decorated() {
            spirv::checked(text).map_err(WgpuError::Text)?;
            let source = wgpu::ShaderSource::Wgsl(Cow::Borrowed(text));
            let of = wgpu::ShaderModuleDescriptor { label: None, source };
            return self.guarded(|| self.device.create_shader_module(of));
        }
        let words = spirv::translate(text, true).map_err(WgpuError::Text)?;
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
    pub(super) fn layout(&self, are_read: &[bool]) -> Result<BindGroupLayout, WgpuError> {
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

    /// The pipeline of an entry point, which gets so many bytes with each launch. Making it takes most of a
    /// driver's time.
    pub(super) fn pipeline(
        &self,
        module: &ShaderModule,
        entry: &str,
        layout: &BindGroupLayout,
        immediate_size: u32,
    ) -> Result<ComputePipeline, WgpuError> {
        self.pipeline_with(module, entry, layout, immediate_size, None)
    }

    fn pipeline_with(
        &self,
        module: &ShaderModule,
        entry: &str,
        layout: &BindGroupLayout,
        immediate_size: u32,
        cache: Option<&PipelineCache>,
    ) -> Result<ComputePipeline, WgpuError> {
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
                cache,
            })
        })
    }
}

#[expect(unsafe_code, reason = "texts reach the driver past the checks of wgpu")]
fn experimental() -> ExperimentalFeatures {
    // SAFETY: `PASSTHROUGH_SHADERS` is the only experimental feature in use, and its own conditions are met
    // below.
    unsafe { ExperimentalFeatures::enabled() }
}

#[expect(unsafe_code, reason = "texts reach the driver past the checks of wgpu")]
fn made_of_ours(device: &wgpu::Device, of: ShaderModuleDescriptorPassthrough<'_>) -> ShaderModule {
    // SAFETY: naga wrote the words from a text that it found valid, and every driver knows the decorations.
    // Layouts are made from the bindings of the text. No index leaves its buffer. `bind` checked that arrays
    // hold every element that the domain and the stencil's extents reach. Each statement checks its run-time
    // indices.
    unsafe { device.create_shader_module_passthrough(of) }
}

#[expect(unsafe_code, reason = "a driver gets data of its own back")]
fn filled(device: &wgpu::Device, data: Option<&[u8]>) -> PipelineCache {
    // SAFETY: data is what `get_data` gave to a process of ours. It lies in a folder where nobody else can
    // put anything. Its hash matches, and its key contains adapter, driver and version. wgpu and the driver
    // each check a header of their own, and begin anew where it does not match.
    unsafe { device.create_pipeline_cache(&PipelineCacheDescriptor { label: None, data, fallback: true }) }
}
