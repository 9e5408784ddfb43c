//! A caller: the memory of its runs, its launches as a graph, and how it waits for them.
//!
//! A call plans its launches, takes as much memory as they need, and puts them on the stream. First all bits
//! of the slots are set; then one kernel follows the other. Where plan and arguments are those of a call
//! before, the launches are captured into a graph, and later calls like it launch that graph. Events stand
//! between the steps of a run, and their times are read after it; in a graph they are nodes. Another event
//! stands behind the last kernel, and a ticket waits for it. Then the slots are read. The earliest place in
//! them is where the run has to end; the kernels themselves run on after it.
//!
//! Nothing is freed that may still be in use: freeing waits for the stream, and a run holds its module.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cudarc::driver::sys::{CUdeviceptr, CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaGraph, result, sys};
use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::loops::nodes::{Array, ArrayKind};
use isobar_compiler::space::Domain;

use super::error::{CudaError, said};
use super::gpu::CudaMemory;
use super::plan::{CallPlan, LaunchArgument, bits};
use super::sequence::{CollectedLaunch, CudaSequence, UnderWay};
use super::written::LaunchShape;
use super::{CudaCode, StoredModule, boxes};
use crate::bytes::{bytes_of, with_bytes};
use crate::device::{DeviceMemory, DeviceSequence, FinishedTicket, Ticket};
use crate::executors::{Caller, Failure, Progress, SequenceAddition};
use crate::wanted::FetchSelection;
use isobar_compiler::kernel::call::{ArrayArgument, ended};

/// The state of one caller.
pub(super) struct CudaCaller {
    made: Arc<CudaCode>,
    /// How far its call is, and how long each step of the last one took.
    progress: Arc<Progress>,
    /// The GPU's memory of the host's fields, by position in the launch.
    fields: Vec<Option<CudaMemory>>,
    /// Whether these stay there for calls to come, until they are fetched.
    is_resident: bool,
    /// The arrays that a run allocates.
    own: SideTable<Array, CudaMemory>,
    /// A word for each place where a run may have to end, if there are any.
    slots: Option<Arc<CudaMemory>>,
    /// The calls before this one that differ, the last one first. A program calls a stencil with some arguments in turn.
    before: VecDeque<PreviousCall>,
}

/// The most calls that a caller remembers.
const MOST_BEFORE: usize = 8;

/// A call before this one, and its launches as a graph as soon as a second one was the same.
struct PreviousCall {
    plan: CallPlan,
    /// The bits of each argument of each launch, addresses among them.
    words: Vec<Vec<u64>>,
    /// Events between the steps of the run, and behind the last one.
    events: Arc<Vec<CudaEvent>>,
    graph: Option<LaunchGraph>,
}

/// A graph, used by one caller at a time.
struct LaunchGraph(CudaGraph);

// SAFETY: a graph must not be used by two threads at the same time. It belongs to a caller, which is lent mutably for
// each call, and what it launches goes on without it.
#[expect(unsafe_code, reason = "the driver's graphs may move between threads")]
unsafe impl Send for LaunchGraph {}

impl CudaCaller {
    /// A caller that has not called yet, and has no memory.
    pub(super) fn new(made: Arc<CudaCode>, progress: Arc<Progress>) -> Self {
        let (fields, own) = (Vec::new(), SideTable::default());
        Self { made, progress, fields, is_resident: false, own, slots: None, before: VecDeque::new() }
    }

    /// Puts a run on the stream, with fields that begin at these addresses, by position in the launch.
    fn begin(&mut self, launch: &Launch, starts: &[CUdeviceptr]) -> Result<CudaTicket, Failure> {
        let made = Arc::clone(&self.made);
        let gpu = &made.gpu;
        gpu.usable()?;
        let plan = made.plan(launch)?;
        let module = made.module(plan.module, &|_| ())?;
        self.reserve(&plan)?;
        let words = self.words(&plan, launch, starts)?;
        made.has_shared_memory(&plan)?;
        let _order = gpu.order();
        self.progress.done.store(0, Ordering::Relaxed);
        let at = self.before.iter().position(|it| it.words == words && it.plan == plan);
        let call = match at.and_then(|it| self.before.remove(it)) {
            Some(mut call) => {
                let graph = match call.graph.take() {
                    Some(graph) => graph,
                    None => self.captured(&module, &call)?,
                };
                graph.0.launch().map_err(|why| gpu.note(why.into()))?;
                call.graph = Some(graph);
                call
            }
            None => {
                let events = Arc::new(self.new_events()?);
                let call = PreviousCall { plan, words, events, graph: None };
                self.put(&module, &call, EventRecordMode::Plainly)?;
                call
            }
        };
        let events = Arc::clone(&call.events);
        self.before.push_front(call);
        self.before.truncate(MOST_BEFORE);
        let over = gpu.context.new_event(None).map_err(CudaError::from)?;
        over.record(&gpu.stream).map_err(|why| gpu.note(why.into()))?;
        let under_way = UnderWay { over, gpu: Arc::clone(gpu), begun: Instant::now(), longest: made.longest };
        Ok(CudaTicket {
            under_way,
            made: Arc::clone(&made),
            _module: module,
            domain: launch.domain,
            slots: self.slots.clone(),
            events,
            progress: Arc::clone(&self.progress),
        })
    }

    /// Adds a call to a sequence, with fields that begin at these addresses.
    #[expect(unsafe_code, reason = "launches of generated kernels are collected here")]
    fn collect(
        &mut self,
        launch: &Launch,
        starts: &[CUdeviceptr],
        sequence: &mut CudaSequence,
    ) -> Result<SequenceAddition, Failure> {
        let made = Arc::clone(&self.made);
        made.gpu.usable()?;
        let plan = made.plan(launch)?;
        let module = made.module(plan.module, &|_| ())?;
        if self.replaces_memory(&plan) && !sequence.is_empty() {
            return Ok(SequenceAddition::AfterSubmission);
        }
        self.reserve(&plan)?;
        made.has_shared_memory(&plan)?;
        let words = self.words(&plan, launch, starts)?;
        let kernels = &module.get()?.kernels;
        let launches = plan.launches.iter().zip(words).map(|(it, words)| CollectedLaunch {
            kernel: kernels[it.kernel].clone(),
            name: made.artifact.kernels[it.kernel].name.clone(),
            shape: LaunchShape { blocks: it.blocks, threads: it.threads, shared_bytes: it.shared_bytes },
            words,
        });
        // SAFETY: as in `put`. Fields live as long as their program, and other memory as this caller; neither is freed
        // before the sequence is over.
        unsafe { sequence.add(launches) };
        Ok(SequenceAddition::Added)
    }

    /// Whether a call frees memory of calls before it.
    fn replaces_memory(&self, plan: &CallPlan) -> bool {
        let is_small = |(array, bytes): &(Handle<Array>, u64)| {
            self.own.get(*array).is_some_and(|it| (it.bytes() as u64) < *bytes)
        };
        plan.allocated.iter().any(is_small)
    }

    /// Takes as much memory as a run needs. Memory of an earlier run is kept where it suffices.
    fn reserve(&mut self, plan: &CallPlan) -> Result<(), Failure> {
        let gpu = &self.made.gpu;
        let fits = |it: Option<&CudaMemory>, bytes: usize| it.is_some_and(|it| it.bytes() >= bytes);
        for &(array, bytes) in &plan.allocated {
            let bytes = usize::try_from(bytes).map_err(|_| Failure::OutOfMemory)?;
            if !fits(self.own.get(array), bytes) {
                drop(self.own.remove(array));
                self.own.insert(array, gpu.reserve(bytes)?);
            }
        }
        if plan.n_slots > 0 && self.slots.is_none() {
            self.slots = Some(Arc::new(gpu.reserve(4 * plan.n_slots)?));
        }
        Ok(())
    }

    /// The bits of each argument of each launch.
    fn words(
        &self,
        plan: &CallPlan,
        launch: &Launch,
        starts: &[CUdeviceptr],
    ) -> Result<Vec<Vec<u64>>, Failure> {
        let missing = || Failure::Machine("the code asks for an argument that was not passed".to_owned());
        let made = &self.made;
        let word = |passed: &LaunchArgument| match *passed {
            LaunchArgument::Pointer { array, element } => {
                let start = match made.places.get(array) {
                    Some(&ArrayArgument { position, .. }) => starts.get(position).copied(),
                    None => self.own.get(array).map(|it| it.start),
                };
                let size = i64::try_from(made.kernels.program.arrays[array].dtype.size_bytes()).unwrap_or(8);
                Ok(start.ok_or_else(missing)?.wrapping_add_signed(element.wrapping_mul(size)))
            }
            LaunchArgument::Value(array) => {
                let place = made.places.get(array).ok_or_else(missing)?;
                match launch.arguments.get(place.position) {
                    Some(Argument::Scalar(value)) => Ok(bits(*value)),
                    _ => Err(missing()),
                }
            }
            LaunchArgument::Index(it) => Ok(it.cast_unsigned()),
            LaunchArgument::Slots => self.slots.as_ref().map(|it| it.start).ok_or_else(missing),
        };
        plan.launches.iter().map(|it| it.arguments.iter().map(word).collect()).collect()
    }

    /// One event for the start of each step, and one for the end of the last.
    fn new_events(&self) -> Result<Vec<CudaEvent>, CudaError> {
        let event = || self.made.gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let n = self.made.kernels.program.steps.len() + 1;
        Ok((0..n).map(|_| event()).collect::<Result<_, _>>()?)
    }

    /// The launches of a run as a graph.
    fn captured(&self, module: &StoredModule, call: &PreviousCall) -> Result<LaunchGraph, Failure> {
        let stream = &self.made.gpu.stream;
        let failed = |why| self.made.gpu.note(CudaError::from(why));
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).map_err(failed)?;
        let put = self.put(module, call, EventRecordMode::InGraph);
        // The capture ends also where `put` failed: until then nothing runs on the stream.
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        put?;
        let graph =
            graph.map_err(failed)?.ok_or_else(|| Failure::Machine("the driver makes no graph".to_owned()))?;
        graph.upload().map_err(failed)?;
        Ok(LaunchGraph(graph))
    }

    /// Puts the launches of a run on the stream.
    #[expect(unsafe_code, reason = "this is where generated kernels are launched")]
    fn put(
        &self,
        module: &StoredModule,
        PreviousCall { plan, words, events, .. }: &PreviousCall,
        recorded: EventRecordMode,
    ) -> Result<(), Failure> {
        let made = &self.made;
        let stream = made.gpu.stream.cu_stream();
        if let Some(slots) = &self.slots {
            slots.fill(0xff)?;
        }
        let mut n_recorded = 0;
        let mut record_up_to = |step: usize| -> Result<(), CudaError> {
            for event in events.iter().take(step + 1).skip(n_recorded) {
                // SAFETY: event and stream are those of one context, which is there as long as they are.
                unsafe { sys::cuEventRecordWithFlags(event.cu_event(), stream, recorded as u32) }.result()?;
            }
            n_recorded = n_recorded.max(step + 1);
            Ok(())
        };
        for (launch, words) in plan.launches.iter().zip(words) {
            record_up_to(made.kernels.kernels[launch.kernel].step)?;
            let mut words = words.clone();
            let mut arguments: Vec<*mut c_void> = words.iter_mut().map(|it| (&raw mut *it).cast()).collect();
            let [x, y, z] = launch.blocks;
            let [i, j, k] = launch.threads;
            let kernel = &module.get()?.kernels[launch.kernel];
            // SAFETY: the arguments are those that the kernel was generated with, in its order. Addresses
            // point to memory that lives until the run is over. Integers and values have the types of the
            // parameters, and begin at the first byte of each word. Each array holds every element that the
            // domain and the stencil's extents reach: `bind` checked that. The code guards run-time indices.
            // The driver copies the arguments.
            let launched = unsafe {
                result::launch_kernel(
                    kernel.cu_function(),
                    (x, y, z),
                    (i, j, k),
                    launch.shared_bytes,
                    stream,
                    &mut arguments,
                )
            };
            launched.map_err(|why| {
                let name = made.artifact.kernels[launch.kernel].name.clone();
                match made.gpu.note(why.into()) {
                    CudaError::Driver(_) => CudaError::Launch { kernel: name, why: said(why) },
                    other => other,
                }
            })?;
        }
        Ok(record_up_to(made.kernels.program.steps.len())?)
    }

    /// The memory of a field of the host on the GPU.
    fn field(&mut self, position: usize, bytes: usize) -> Result<&mut CudaMemory, Failure> {
        if self.fields.len() <= position {
            self.fields.resize_with(position + 1, || None);
        }
        let gpu = &self.made.gpu;
        let field = &mut self.fields[position];
        match field.take().filter(|it| it.bytes() == bytes) {
            Some(known) => Ok(field.insert(known)),
            None => Ok(field.insert(gpu.reserve(bytes)?)),
        }
    }
}

/// How an event is recorded: as `cuEventRecordWithFlags` has it.
#[derive(Clone, Copy)]
enum EventRecordMode {
    Plainly = 0,
    /// Recorded by each launch of the graph, so that its time can be read after that.
    InGraph = 1,
}

impl CudaCaller {
    /// Copies fields of the host to the GPU.
    fn send(&mut self, launch: &Launch) -> Result<(), Failure> {
        let made = Arc::clone(&self.made);
        for (at, argument) in launch.arguments.iter().enumerate() {
            let Argument::Field(field) = argument else { continue };
            if made.places.values().any(|it| it.position == at) {
                let bytes = bytes_of(&field.array.elements);
                self.field(at, bytes.len())?.write(0, bytes)?;
            }
        }
        Ok(())
    }

    /// Copies back the wanted fields, or planes of them, that a run writes.
    fn bring(&self, launch: &mut Launch, wanted: &FetchSelection) -> Result<(), Failure> {
        let made = &self.made;
        let arrays = &made.kernels.program.arrays;
        for (array, place) in made.places.iter() {
            let array = &arrays[array];
            let ArrayArgument { position, axes: Some(axes) } = place else { continue };
            if !is_written(array) || made.gpu.is_lost() || !wanted.asks_for(*position) {
                continue;
            }
            if let (Argument::Field(field), Some(Some(memory))) =
                (&mut launch.arguments[*position], self.fields.get(*position))
            {
                if let Some(plane) = wanted.plane_of(*axes, field).map(|it| it.as_it_lies()) {
                    let bytes = boxes::cut(&made.gpu, memory, array.dtype.size_bytes(), &plane)?;
                    let came = Elements::from_le_bytes(array.dtype, &bytes);
                    plane.put(&mut field.array, &came);
                    continue;
                }
                with_bytes(&mut field.array.elements, |bytes| memory.read(0, bytes))?;
            }
        }
        Ok(())
    }

    /// Whether the GPU has memory for each field of a launch.
    fn is_there(&self, launch: &Launch) -> bool {
        launch.arguments.iter().enumerate().all(|(at, argument)| match argument {
            Argument::Field(field) if self.made.places.values().any(|it| it.position == at) => {
                let memory = self.fields.get(at).and_then(Option::as_ref);
                memory.is_some_and(|it| it.bytes() == bytes_of(&field.array.elements).len())
            }
            Argument::Field(_) | Argument::Scalar(_) | Argument::Unused => true,
        })
    }

    /// Where fields of the host lie on the GPU, by position in the launch; 0 where an argument is none.
    fn starts(&self, launch: &Launch) -> Vec<CUdeviceptr> {
        let start = |at: usize| self.fields.get(at).and_then(Option::as_ref).map_or(0, |it| it.start);
        (0..launch.arguments.len()).map(start).collect()
    }
}

impl CudaCaller {
    /// Where fields begin in these memories, by position in the launch.
    fn starts_in(
        &self,
        launch: &Launch,
        memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Vec<CUdeviceptr>, Failure> {
        let elsewhere = || Failure::Machine("a field lies on another device than its kernels".to_owned());
        let mut starts = vec![0; launch.arguments.len()];
        for place in self.made.places.values().filter(|it| it.axes.is_some()) {
            let Some(memory) = memories.get(place.position).copied().flatten() else { continue };
            let memory = memory.as_any().downcast_ref::<CudaMemory>().ok_or_else(elsewhere)?;
            starts[place.position] = memory.start;
        }
        Ok(starts)
    }
}

impl Caller for CudaCaller {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        // A call with arrays of other sizes sends its own.
        self.is_resident &= self.is_there(launch);
        if self.is_resident {
            let starts = self.starts(launch);
            return Box::new(self.begin(launch, &starts)?).wait();
        }
        self.send(launch)?;
        let starts = self.starts(launch);
        let running = self.begin(launch, &starts)?;
        let over = Box::new(running).wait();
        // Results written by a run that ended early are brought back as well.
        self.bring(launch, &FetchSelection::default())?;
        over
    }

    fn keep(&mut self, launch: &Launch) -> Result<(), Failure> {
        self.is_resident = false;
        if launch.domain.points() == 0 {
            return Ok(());
        }
        self.send(launch)?;
        self.is_resident = true;
        Ok(())
    }

    fn fetch(&mut self, launch: &mut Launch, wanted: &FetchSelection) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_resident) { self.bring(launch, wanted) } else { Ok(()) }
    }

    fn start(
        &mut self,
        launch: &mut Launch,
        memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Box<dyn Ticket>, Failure> {
        if launch.domain.points() == 0 {
            return Ok(Box::new(FinishedTicket));
        }
        let starts = self.starts_in(launch, memories)?;
        Ok(Box::new(self.begin(launch, &starts)?))
    }

    fn add(
        &mut self,
        launch: &Launch,
        memories: &[Option<&dyn DeviceMemory>],
        sequence: &mut dyn DeviceSequence,
    ) -> Result<SequenceAddition, Failure> {
        if launch.domain.points() == 0 {
            return Ok(SequenceAddition::Added);
        }
        let other = || Failure::Machine("a sequence is of another device".to_owned());
        let starts = self.starts_in(launch, memories)?;
        let sequence = sequence.as_any_mut().downcast_mut::<CudaSequence>().ok_or_else(other)?;
        self.collect(launch, &starts, sequence)
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

fn is_written(array: &Array) -> bool {
    matches!(array.kind, ArrayKind::Field { is_written: true, .. })
}

/// A run that the GPU carries out.
struct CudaTicket {
    under_way: UnderWay,
    made: Arc<CudaCode>,
    /// Held so that it is not unloaded during the run.
    _module: Arc<StoredModule>,
    domain: Domain,
    slots: Option<Arc<CudaMemory>>,
    events: Arc<Vec<CudaEvent>>,
    progress: Arc<Progress>,
}

impl Ticket for CudaTicket {
    fn is_over(&self) -> bool {
        self.under_way.is_over()
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        self.under_way.wait()?;
        self.progress.done.store(self.progress.total.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some((first, rest)) = self.events.split_first() {
            let behind = |it: &CudaEvent| first.elapsed_ms(it).map(f64::from);
            let moments: Result<Vec<f64>, _> =
                std::iter::once(Ok(0.0)).chain(rest.iter().map(behind)).collect();
            // Where the driver tells no times, there are no moments.
            self.progress.set_moments(moments.unwrap_or_default());
        }
        let Some(slots) = &self.slots else { return Ok(()) };
        let mut bytes = vec![0; slots.bytes()];
        slots.read(0, &mut bytes)?;
        let numbers: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|it| u32::from_le_bytes(*it)).collect();
        match ended(&self.made.kernels, &numbers, self.domain) {
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

impl Drop for CudaCaller {
    fn drop(&mut self) {
        // A run that nobody waited for may still use the memory that is freed next.
        if !self.made.gpu.is_lost() {
            let _ = self.made.gpu.stream.synchronize();
        }
    }
}
