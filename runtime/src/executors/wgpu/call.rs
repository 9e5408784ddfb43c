//! A stencil on a GPU: texts and pipelines for each kind of call, buffers of each caller, and the call itself.
//!
//! Calls of one kind have one text. The kind is decided by whether neighbours along i lie side by side in all
//! fields. Where a block or a thread has arrays for whole columns, the number of levels decides as well.
//! Everything else, sizes and strides and scalars, is data of a call.
//!
//! A call is one command buffer. It has all launches in one pass, and wgpu lets each wait for what earlier
//! ones write. Then come copies for the host: the slots of traps, and the moments at which steps ended. So a
//! call waits once for all its launches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::kernel::Kernels;
use isobar_compiler::loops::nodes::Array;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_compiler::wgsl::{self, Binding, WgslArtifact, WgslOptions, memory::lives};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, Buffer, BufferUsages, CommandEncoder,
    CommandEncoderDescriptor, ComputePassDescriptor, Features, MapMode, QuerySet, QuerySetDescriptor,
    QueryType, SubmissionIndex,
};

use super::boxes;
use super::device::{Devices, Gpu, PipelineInputs, TextPipelines};
use super::error::WgpuError;
use super::memory::{WgpuMemory, is_alike, narrowed, sent, take, widened};
use super::stored::{self, PipelineStore};
use crate::cache::KeyParts;
use crate::device::{DeviceMemory, Ticket};
use crate::events::{Sink, step};
use crate::executors::{Caller, Code, Mode, Progress};
use crate::failure::Failure;
use crate::store::{Store, StoreEntry};
use crate::wanted::FetchSelection;
use isobar_compiler::kernel::call::{ArrayArgument, ended};
use isobar_compiler::wgsl::plan::{DeviceLimits, Plan, is_unit};

/// The kernels of a plan, and their texts for each kind of call.
pub(super) struct WgpuCode {
    /// Where it runs: each call on the device that is open then.
    pub(super) devices: Arc<Devices>,
    pub(super) kernels: Arc<Kernels>,
    /// By position in the arrays of the kernels: the argument of a launch.
    pub(super) places: SideTable<Array, ArrayArgument>,
    pub(super) mode: Mode,
    pub(super) pipelines: PipelineStore,
    pub(super) texts: Store<TextKey, ReadyText>,
}

/// The properties that calls of one kind share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextKey {
    /// The number of the device, which changes after a loss.
    gpu: u64,
    options: WgslOptions,
}

/// A text that is ready to be launched.
#[derive(Debug)]
pub(super) struct ReadyText {
    pub(super) gpu: Arc<Gpu>,
    artifact: WgslArtifact,
    /// Shared with all that have this text.
    pub(super) program: Arc<StoreEntry<PipelineInputs, TextPipelines>>,
    tables: Option<Buffer>,
}

impl Code for WgpuCode {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        self.text_for(launch, sink).map(drop)
    }

    fn may_trap(&self) -> bool {
        !self.kernels.places.is_empty()
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        let n_steps = self.kernels.program.steps.len();
        progress.total.store(i64::try_from(n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        Box::new(WgpuCaller { made: self, progress, gpu: None, own: BTreeMap::new(), resident: None })
    }
}

impl WgpuCode {
    /// The options of the text for a call.
    fn options(&self, gpu: &Gpu, launch: &Launch) -> WgslOptions {
        let levels = u32::try_from(launch.domain.k).ok();
        options(gpu, &self.kernels, self.mode, (is_unit(&self.places, launch), levels))
    }

    /// The text for a call, on the device that is open now; made where it is the first of its kind.
    pub(super) fn text_for(
        &self,
        launch: &Launch,
        sink: Sink<'_>,
    ) -> Result<Arc<StoreEntry<TextKey, ReadyText>>, Failure> {
        let gpu = self.devices.find()?;
        // Texts of a device that is lost are of no use.
        self.texts.retain(|it| it.gpu == gpu.number);
        let kind = TextKey { gpu: gpu.number, options: self.options(&gpu, launch) };
        self.texts.get(kind, |it| {
            let artifact = step("wgsl", sink, || wgsl::generate(&self.kernels, &it.options));
            step("pipelines", sink, || ready(&gpu, artifact, &self.pipelines, sink))
        })
    }

    fn dtype(&self, array: Handle<Array>) -> DType {
        self.kernels.program.arrays[array].dtype
    }
}

/// The choices of the text for calls with so many levels, of fields whose neighbours along i lie side by side or not.
fn options(gpu: &Gpu, kernels: &Kernels, mode: Mode, (is_unit, levels): (bool, Option<u32>)) -> WgslOptions {
    let limits = &gpu.limits;
    let plain = WgslOptions {
        buffers: limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group),
        shared_bytes: limits.max_compute_workgroup_storage_size,
        is_unit,
        levels: None,
        // Only reproducible results forbid fused operations.
        keeps: gpu.options.keeps && mode == Mode::Reproducible,
        ..gpu.options
    };
    let for_levels = WgslOptions { levels, ..plain };
    // A column fits beside a block or it does not, which is told by the number of levels.
    if lives(kernels, &plain) == lives(kernels, &for_levels) { plain } else { for_levels }
}

/// All that decides the pipelines of a stencil in calls with so many levels; none where the driver keeps none.
pub(super) fn code_keys(gpu: &Gpu, kernels: &Kernels, mode: Mode, levels: Option<u32>) -> Vec<KeyParts> {
    let Some(adapter) = &gpu.cache_key else { return Vec::new() };
    let one = |is_unit| {
        let artifact = wgsl::generate(kernels, &options(gpu, kernels, mode, (is_unit, levels)));
        stored::parts(gpu, adapter, &text_of(&artifact))
    };
    [true, false].map(one).into()
}

/// The text that a device makes pipelines of.
fn text_of(artifact: &WgslArtifact) -> PipelineInputs {
    let is_read = |it: &Binding| match it {
        Binding::Sizes | Binding::Tables => true,
        Binding::Traps => false,
        Binding::Arrays { is_written, .. } => !is_written,
    };
    PipelineInputs {
        text: artifact.listing.text.clone(),
        entries: artifact.entries.iter().map(|it| (it.name.clone(), it.threads)).collect(),
        are_read: artifact.bindings.iter().map(is_read).collect(),
        immediate_bytes: artifact.immediate_bytes,
    }
}

/// Has the device make pipelines of a text, or takes those that it has.
fn ready(
    gpu: &Arc<Gpu>,
    artifact: WgslArtifact,
    pipelines: &PipelineStore,
    sink: Sink<'_>,
) -> Result<ReadyText, Failure> {
    let name = || gpu.name.clone();
    let limits = &gpu.limits;
    if artifact.immediate_bytes > 0 && !gpu.features.contains(Features::IMMEDIATES) {
        return Err(WgpuError::NoImmediates(name()).into());
    }
    let (needed, there) = (artifact.bindings.len(), artifact.options.buffers);
    if needed > usize::try_from(there).unwrap_or(usize::MAX) {
        return Err(WgpuError::Buffers { gpu: name(), needed, there }.into());
    }
    // wgpu does not check texts that reach the driver as they are, so their limits are checked here.
    let along = [
        limits.max_compute_workgroup_size_x,
        limits.max_compute_workgroup_size_y,
        limits.max_compute_workgroup_size_z,
    ];
    for it in &artifact.entries {
        let (needed, most) = (it.threads.iter().product(), limits.max_compute_invocations_per_workgroup);
        if needed > most || it.threads.iter().zip(along).any(|(&n, most)| n > most) {
            let kernel = it.name.clone();
            return Err(WgpuError::Threads { gpu: name(), kernel, needed, there: most }.into());
        }
    }
    let text = text_of(&artifact);
    let place = pipelines.place(gpu, &text, sink);
    let program = gpu.program(text, place.as_ref())?;
    let tables = match artifact.tables.entries.as_slice() {
        [] => None,
        entries => {
            let bytes: Vec<u8> = entries.iter().flat_map(|it| it.to_le_bytes()).collect();
            let buffer = gpu.storage(bytes.len() as u64)?;
            gpu.write(&buffer, 0, &bytes)?;
            Some(buffer)
        }
    };
    Ok(ReadyText { gpu: Arc::clone(gpu), artifact, program, tables })
}

/// The limits of a device.
fn most(gpu: &Gpu) -> DeviceLimits {
    DeviceLimits {
        bytes: gpu.limits.max_storage_buffer_binding_size,
        blocks: gpu.limits.max_compute_workgroups_per_dimension,
    }
}

/// The state of one caller.
struct WgpuCaller {
    made: Arc<WgpuCode>,
    progress: Arc<Progress>,
    /// The device that has the buffers below.
    gpu: Option<Arc<Gpu>>,
    /// Buffers by binding, and those of sizes and traps: kept from call to call.
    own: BTreeMap<usize, Buffer>,
    /// The call whose fields are on the device, until they are asked for.
    resident: Option<Plan>,
}

impl Caller for WgpuCaller {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let ended = self.computed(launch);
        if ended.is_err() && self.gpu.as_ref().is_some_and(|it| it.lost().is_some()) {
            // The loss is told once.
            self.resident = None;
        }
        ended
    }

    fn keep(&mut self, launch: &Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let (text, plan) = self.planned(launch)?;
        let ready = text.get()?;
        let buffers = self.buffers(&ready.gpu, &plan)?;
        self.send(&ready.gpu, &plan, launch, &buffers)?;
        self.resident = Some(plan);
        Ok(())
    }

    fn fetch(&mut self, launch: &mut Launch, wanted: &FetchSelection) -> Result<(), Failure> {
        match self.resident.take() {
            Some(plan) => match self.gpu.clone() {
                Some(gpu) if gpu.lost().is_none() => self.bring(&gpu, &plan, launch, wanted),
                _ => Err(WgpuError::FieldLost.into()),
            },
            None => Ok(()),
        }
    }

    fn start(
        &mut self,
        launch: &mut Launch,
        memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Box<dyn Ticket>, Failure> {
        if launch.domain.points() == 0 {
            return Ok(Box::new(crate::device::FinishedTicket));
        }
        let made = Arc::clone(&self.made);
        let (text, plan) = self.planned(launch)?;
        let ready = text.get()?;
        self.resident = None;
        // Elements that are alike are used where they lie; others are copied, and back again. A field shares a buffer
        // with others only where the device binds too few.
        let mut held: BTreeMap<Handle<Array>, Buffer> = BTreeMap::new();
        for (array, place) in made.places.iter() {
            let Some(memory) = memories.get(place.position).copied().flatten() else { continue };
            let Some(it) = memory.as_any().downcast_ref::<WgpuMemory>() else {
                return Err(WgpuError::Elsewhere.into());
            };
            if !Arc::ptr_eq(&it.gpu, &ready.gpu) {
                return Err(WgpuError::FieldLost.into());
            }
            held.insert(array, it.buffer.clone());
        }
        let mut buffers = BTreeMap::new();
        let mut copied = Vec::new();
        for (&binding, packed) in &plan.buffers {
            let direct = match packed.arrays.as_slice() {
                [it] if is_alike(made.dtype(it.array)) => held.get(&it.array).cloned(),
                _ => None,
            };
            match direct {
                Some(buffer) => {
                    buffers.insert(binding, buffer);
                }
                None => {
                    buffers.insert(binding, self.own(&ready.gpu, binding, packed.bytes)?);
                    if !packed.is_own {
                        copied.push(binding);
                    }
                }
            }
        }
        for &binding in &copied {
            for it in &plan.buffers[&binding].arrays {
                let Some(from) = held.get(&it.array) else { continue };
                copy(&ready.gpu, made.dtype(it.array), it, from, &buffers[&binding], true)?;
            }
        }
        let going = submit(&made, ready, &plan, &buffers, launch.domain, &self.progress)?;
        let back: Vec<(usize, Vec<super::plan::BufferArray>)> = copied
            .iter()
            .filter(|it| plan.buffers[it].is_written)
            .map(|it| (*it, plan.buffers[it].arrays.clone()))
            .collect();
        if back.is_empty() {
            return Ok(Box::new(going));
        }
        // Copies back need the end of the call.
        going.end()?;
        for (binding, arrays) in back {
            for it in &arrays {
                if let Some(to) = held.get(&it.array) {
                    copy(&ready.gpu, made.dtype(it.array), it, to, &buffers[&binding], false)?;
                }
            }
        }
        Ok(Box::new(crate::device::FinishedTicket))
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

/// Copies an array between memory that a program holds and where kernels reach it.
fn copy(
    gpu: &Gpu,
    dtype: DType,
    it: &super::plan::BufferArray,
    held: &Buffer,
    buffer: &Buffer,
    is_sent: bool,
) -> Result<(), WgpuError> {
    let size = gpu.options.element_bytes(dtype);
    let (first, bytes) = (it.first * size, it.elements * size);
    let here = it.elements * dtype.size_bytes() as u64;
    if is_alike(dtype) {
        return gpu.guarded(|| {
            let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
            if is_sent {
                encoder.copy_buffer_to_buffer(held, 0, buffer, first, bytes);
            } else {
                encoder.copy_buffer_to_buffer(buffer, first, held, 0, bytes);
            }
            gpu.queue.submit([encoder.finish()]);
        });
    }
    if is_sent {
        let read = gpu.read(held, 0, here)?;
        return gpu.write(buffer, first, &widened(dtype, &read));
    }
    let read = gpu.read(buffer, first, bytes)?;
    let mut narrow = narrowed(dtype, &read);
    narrow.resize(narrow.len().next_multiple_of(4), 0);
    gpu.write(held, 0, &narrow)
}

impl WgpuCaller {
    /// Calls it once, with fields that lie there or that are sent and brought back.
    fn computed(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let made = Arc::clone(&self.made);
        let (text, plan) = self.planned(launch)?;
        let ready = text.get()?;
        let is_there = self.resident.as_ref().is_some_and(|it| it.buffers == plan.buffers);
        let buffers = self.buffers(&ready.gpu, &plan)?;
        if !is_there {
            self.resident = None;
            self.send(&ready.gpu, &plan, launch, &buffers)?;
        }
        let going = submit(&made, ready, &plan, &buffers, launch.domain, &self.progress)?;
        going.end()?;
        if !is_there {
            self.bring(&ready.gpu, &plan, launch, &FetchSelection::default())?;
        }
        Ok(())
    }

    /// The text for a call on the device that is open now, and where everything lies.
    fn planned(&mut self, launch: &Launch) -> Result<(Arc<StoreEntry<TextKey, ReadyText>>, Plan), Failure> {
        let made = Arc::clone(&self.made);
        let text = made.text_for(launch, &|_| ())?;
        let ready = text.get()?;
        self.on(&ready.gpu)?;
        let plan = Plan::of(&made.kernels, &ready.artifact, &made.places, launch, most(&ready.gpu))?;
        Ok((text, plan))
    }

    /// Releases the buffers of a device that was lost.
    fn on(&mut self, gpu: &Arc<Gpu>) -> Result<(), WgpuError> {
        if self.gpu.as_ref().is_some_and(|it| Arc::ptr_eq(it, gpu)) {
            return Ok(());
        }
        self.gpu = Some(Arc::clone(gpu));
        self.own.clear();
        // A caller that left fields there would otherwise go on with older ones.
        if self.resident.take().is_some() { Err(WgpuError::FieldLost) } else { Ok(()) }
    }

    /// The caller's buffer for a binding.
    fn own(&mut self, gpu: &Gpu, binding: usize, bytes: u64) -> Result<Buffer, WgpuError> {
        if let Some(it) = self.own.get(&binding).filter(|it| it.size() >= bytes) {
            return Ok(it.clone());
        }
        self.own.remove(&binding);
        let buffer = gpu.storage(bytes)?;
        self.own.insert(binding, buffer.clone());
        Ok(buffer)
    }

    /// The buffers of a call with arrays of the host.
    fn buffers(&mut self, gpu: &Gpu, plan: &Plan) -> Result<BTreeMap<usize, Buffer>, WgpuError> {
        plan.buffers.iter().map(|(&binding, it)| Ok((binding, self.own(gpu, binding, it.bytes)?))).collect()
    }

    /// Copies fields to the device.
    fn send(
        &self,
        gpu: &Gpu,
        plan: &Plan,
        launch: &Launch,
        buffers: &BTreeMap<usize, Buffer>,
    ) -> Result<(), WgpuError> {
        let made = &self.made;
        for (binding, packed) in plan.buffers.iter().filter(|it| !it.1.is_own) {
            for it in &packed.arrays {
                let position = made.places.get(it.array).map(|it| it.position);
                let argument = position.and_then(|it| launch.arguments.get(it));
                let Some(Argument::Field(field)) = argument else { continue };
                let size = gpu.options.element_bytes(made.dtype(it.array));
                gpu.write(&buffers[binding], it.first * size, &sent(&field.array.elements))?;
            }
        }
        Ok(())
    }

    /// Copies back the wanted parts of fields that were written.
    fn bring(
        &self,
        gpu: &Gpu,
        plan: &Plan,
        launch: &mut Launch,
        wanted: &FetchSelection,
    ) -> Result<(), Failure> {
        let made = &self.made;
        for (binding, packed) in plan.buffers.iter().filter(|it| !it.1.is_own && it.1.is_written) {
            for it in &packed.arrays {
                let place = made.places.get(it.array).filter(|it| wanted.asks_for(it.position));
                let argument = place.and_then(|it| launch.arguments.get_mut(it.position));
                let (Some(Argument::Field(field)), Some(buffer)) = (argument, self.own.get(binding)) else {
                    continue;
                };
                let dtype = made.dtype(it.array);
                let size = gpu.options.element_bytes(dtype);
                let axes = place.and_then(|it| it.axes);
                if let Some(plane) = axes.and_then(|axes| wanted.plane_of(axes, field)) {
                    let plane = plane.as_it_lies();
                    let bytes = boxes::cut(gpu, buffer, it.first * size, size, &plane)?;
                    let mut came = Elements::zeros(dtype, plane.n());
                    take(&mut came, &bytes);
                    plane.put(&mut field.array, &came);
                    continue;
                }
                let n = u64::try_from(field.array.elements.len()).unwrap_or(0);
                let bytes = gpu.read(buffer, it.first * size, n * size)?;
                take(&mut field.array.elements, &bytes);
            }
        }
        Ok(())
    }
}

/// The most moments of a call.
const MOST_MOMENTS: u32 = 4096;

/// Encodes all launches of a call, and hands them to the device, which works on after this returns.
///
/// The block of sizes and the slots of traps are made anew for each call. So a caller may begin its next call
/// before the first one is over.
fn submit(
    made: &Arc<WgpuCode>,
    ready: &ReadyText,
    plan: &Plan,
    buffers: &BTreeMap<usize, Buffer>,
    domain: Domain,
    progress: &Arc<Progress>,
) -> Result<WgpuTicket, Failure> {
    let gpu = &ready.gpu;
    let program = ready.program.get()?;
    let n_slots = made.kernels.places.len() as u64;
    let words: Vec<u8> = plan.words.iter().flat_map(|it| it.to_le_bytes()).collect();
    let sizes = gpu.storage(words.len() as u64)?;
    gpu.write(&sizes, 0, &words)?;
    let traps = if n_slots > 0 {
        let traps = gpu.storage(4 * n_slots)?;
        gpu.write(&traps, 0, &vec![0xff; usize::try_from(4 * n_slots).unwrap_or(0)])?;
        Some(traps)
    } else {
        None
    };
    // One moment in front, and one behind each step.
    let n_steps = u32::try_from(made.kernels.program.steps.len()).unwrap_or(u32::MAX);
    let is_timed = gpu.features.contains(Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_PASSES)
        && n_steps < MOST_MOMENTS;
    let n_moments = if is_timed { n_steps + 1 } else { 0 };
    let back_bytes = 4 * n_slots.next_multiple_of(2) + 8 * u64::from(n_moments);
    let back = gpu.buffer(back_bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
    let moments = match n_moments {
        0 => None,
        n => {
            let count = n;
            let set = gpu.guarded(|| {
                let of = QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count };
                gpu.device.create_query_set(&of)
            })?;
            let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
            Some((set, gpu.buffer(8 * u64::from(n), usage)?))
        }
    };
    let index = gpu.guarded(|| {
        let group = bind(gpu, ready, &program.layout, &sizes, traps.as_ref(), buffers);
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        launches(&mut encoder, made, (ready, program), plan, &group, moments.as_ref().map(|it| &it.0));
        if let Some(traps) = &traps {
            encoder.copy_buffer_to_buffer(traps, 0, &back, 0, 4 * n_slots);
        }
        if let Some((set, resolved)) = &moments {
            encoder.resolve_query_set(set, 0..n_moments, resolved, 0);
            let at = 4 * n_slots.next_multiple_of(2);
            encoder.copy_buffer_to_buffer(resolved, 0, &back, at, 8 * u64::from(n_moments));
        }
        let index = gpu.queue.submit([encoder.finish()]);
        if back_bytes > 0 {
            back.slice(..back_bytes).map_async(MapMode::Read, |_| ());
        }
        index
    })?;
    Ok(WgpuTicket {
        gpu: Arc::clone(gpu),
        made: Arc::clone(made),
        progress: Arc::clone(progress),
        index,
        back,
        back_bytes,
        n_moments: usize::try_from(n_moments).unwrap_or(0),
        domain,
    })
}

/// The buffers of a call as its kernels name them.
fn bind(
    gpu: &Gpu,
    ready: &ReadyText,
    layout: &BindGroupLayout,
    sizes: &Buffer,
    traps: Option<&Buffer>,
    buffers: &BTreeMap<usize, Buffer>,
) -> BindGroup {
    let entries = ready.artifact.bindings.iter().enumerate().filter_map(|(at, it)| {
        let buffer = match it {
            Binding::Sizes => Some(sizes),
            Binding::Tables => ready.tables.as_ref(),
            Binding::Traps => traps,
            Binding::Arrays { .. } => buffers.get(&at),
        };
        let binding = u32::try_from(at).unwrap_or(u32::MAX);
        buffer.map(|it| BindGroupEntry { binding, resource: it.as_entire_binding() })
    });
    let entries: Vec<_> = entries.collect();
    gpu.device.create_bind_group(&BindGroupDescriptor { label: None, layout, entries: &entries })
}

/// All launches in one pass, with a moment in front of the first and one behind the last of each step.
fn launches(
    encoder: &mut CommandEncoder,
    made: &WgpuCode,
    (ready, program): (&ReadyText, &TextPipelines),
    plan: &Plan,
    group: &BindGroup,
    moments: Option<&QuerySet>,
) {
    let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
    pass.set_bind_group(0, group, &[]);
    let n_steps = made.kernels.program.steps.len();
    let mut n_ended = 0;
    if let Some(set) = moments {
        pass.write_timestamp(set, 0);
    }
    let mut end_until = |pass: &mut wgpu::ComputePass<'_>, step: usize| {
        while n_ended < step {
            n_ended += 1;
            if let Some(set) = moments {
                pass.write_timestamp(set, u32::try_from(n_ended).unwrap_or(0));
            }
        }
    };
    for it in &plan.launches {
        end_until(&mut pass, made.kernels.kernels[it.kernel].step);
        pass.set_pipeline(&program.pipelines[it.kernel]);
        if ready.artifact.immediate_bytes > 0 {
            let mut words = it.positions.clone();
            words.resize(usize::try_from(ready.artifact.immediate_bytes / 4).unwrap_or(0), 0);
            let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
            pass.set_immediates(0, &bytes);
        }
        let [x, y, z] = it.blocks;
        pass.dispatch_workgroups(x, y, z);
    }
    end_until(&mut pass, n_steps);
}

/// A call that the device carries out.
struct WgpuTicket {
    gpu: Arc<Gpu>,
    made: Arc<WgpuCode>,
    progress: Arc<Progress>,
    index: SubmissionIndex,
    /// The slots of traps, and the moments at which steps ended.
    back: Buffer,
    back_bytes: u64,
    n_moments: usize,
    domain: Domain,
}

impl WgpuTicket {
    /// Waits until the call is over.
    fn end(&self) -> Result<(), Failure> {
        let gpu = &self.gpu;
        gpu.wait(&self.index)?;
        let n_steps = self.made.kernels.program.steps.len();
        self.progress.done.store(i64::try_from(n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        if self.back_bytes == 0 {
            return Ok(());
        }
        let view = self.back.slice(..self.back_bytes).get_mapped_range();
        let view = view.map_err(|why| gpu.failed(why))?;
        let n_slots = self.made.kernels.places.len();
        let word = |it: &[u8]| u32::from_le_bytes([it[0], it[1], it[2], it[3]]);
        let slots: Vec<u32> = view[..4 * n_slots].chunks(4).map(word).collect();
        let times = &view[4 * n_slots.next_multiple_of(2)..][..8 * self.n_moments];
        let ticks: Vec<u64> =
            times.chunks(8).map(|it| u64::from(word(it)) | u64::from(word(&it[4..])) << 32).collect();
        let period = f64::from(gpu.queue.get_timestamp_period());
        let first = ticks.first().copied().unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "a call takes no years")]
        let moments = ticks.iter().map(|it| it.saturating_sub(first) as f64 * period / 1e6).collect();
        self.progress.set_moments(moments);
        match ended(&self.made.kernels, &slots, self.domain) {
            None => Ok(()),
            Some((statement, cell)) => Err(Failure::Trap {
                message: "an index that is computed here leaves its field, or a `while` does not end"
                    .to_owned(),
                statement,
                cell,
            }),
        }
    }
}

impl Ticket for WgpuTicket {
    fn is_over(&self) -> bool {
        let asked = wgpu::PollType::Wait {
            submission_index: Some(self.index.clone()),
            timeout: Some(std::time::Duration::ZERO),
        };
        self.gpu.device.poll(asked).is_ok() || self.gpu.lost().is_some()
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        self.end()
    }
}
