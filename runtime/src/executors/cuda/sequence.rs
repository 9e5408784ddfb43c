//! Work that is collected, and put on the stream at once: the calls and copies of a program between two joints.
//!
//! A joint is a place where the host reads or writes elements, or waits. From the second time on, equal work is
//! one graph of the driver. Its launches have the same kernels, shapes and arguments, addresses among them.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaFunction, CudaGraph, result};

use super::boxes;
use super::error::{CudaError, said};
use super::gpu::Gpu;
use super::written::LaunchShape;
use crate::boxes::BoxCopy;
use crate::device::{DeviceMemory, DeviceSequence, Ticket};
use crate::failure::Failure;

/// The longest sleep of a waiting thread between two queries.
const ASKED: Duration = Duration::from_millis(1);
/// A waiting thread does not sleep before this: it would wake up tens of microseconds late.
const AWAKE: Duration = Duration::from_micros(500);

/// A longer run counts as one that does not end. The iterations of a `while` are limited, and a day of
/// weather is more than one run.
pub(super) const LONGEST: Duration = Duration::from_mins(10);

/// The most launches that are collected: the device has to begin at some time.
const MOST_LAUNCHES: usize = 256;

/// The most sequences that are remembered, of those of one program.
const MOST_BEFORE: usize = 64;

/// A kernel that is launched.
#[derive(Clone, Debug)]
pub(super) struct CollectedLaunch {
    pub(super) kernel: CudaFunction,
    /// As errors name it.
    pub(super) name: String,
    pub(super) shape: LaunchShape,
    /// The bits of each argument.
    pub(super) words: Vec<u64>,
}

impl PartialEq for CollectedLaunch {
    fn eq(&self, other: &Self) -> bool {
        self.kernel.cu_function() == other.kernel.cu_function()
            && self.shape == other.shape
            && self.words == other.words
    }
}

impl Hash for CollectedLaunch {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kernel.cu_function().addr().hash(state);
        (self.shape.blocks, self.shape.threads, self.shape.shared_bytes).hash(state);
        self.words.hash(state);
    }
}

impl CollectedLaunch {
    /// Puts it on the stream, which the caller holds.
    ///
    /// # Safety
    ///
    /// The kernel takes such arguments, in this order, and all memory among them lives until the stream comes there.
    #[expect(unsafe_code, reason = "kernels are launched here")]
    pub(super) unsafe fn put(&self, gpu: &Gpu) -> Result<(), CudaError> {
        let LaunchShape { blocks: [x, y, z], threads: [i, j, k], shared_bytes } = self.shape;
        let mut words = self.words.clone();
        let mut arguments: Vec<*mut c_void> = words.iter_mut().map(|it| (&raw mut *it).cast()).collect();
        // SAFETY: the caller vouches for the arguments, which the driver copies.
        let launched = unsafe {
            result::launch_kernel(
                self.kernel.cu_function(),
                (x, y, z),
                (i, j, k),
                shared_bytes,
                gpu.stream.cu_stream(),
                &mut arguments,
            )
        };
        launched.map_err(|why| match gpu.note(why.into()) {
            CudaError::Driver(_) => CudaError::Launch { kernel: self.name.clone(), why: said(why) },
            other => other,
        })
    }
}

/// The launches that a program has collected, and those before them.
pub(super) struct CudaSequence {
    gpu: Arc<Gpu>,
    launches: Vec<CollectedLaunch>,
    before: VecDeque<PreviousSequence>,
    /// A longer run counts as one that does not end.
    longest: Duration,
}

/// Launches that were put on the stream, and their graph as soon as a second sequence was the same.
struct PreviousSequence {
    digest: u64,
    launches: Vec<CollectedLaunch>,
    graph: Option<SequenceGraph>,
}

/// A graph, used by one program at a time.
struct SequenceGraph(CudaGraph);

// SAFETY: a graph must not be used by two threads at the same time. It belongs to a sequence, which is lent mutably for
// each use, and its launches go on without it.
#[expect(unsafe_code, reason = "the driver's graphs may move between threads")]
unsafe impl Send for SequenceGraph {}

impl fmt::Debug for CudaSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaSequence").field("launches", &self.launches.len()).finish_non_exhaustive()
    }
}

impl CudaSequence {
    pub(super) fn new(gpu: Arc<Gpu>, longest: Duration) -> Self {
        Self { gpu, launches: Vec::new(), before: VecDeque::new(), longest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.launches.is_empty()
    }

    /// Adds launches.
    ///
    /// # Safety
    ///
    /// The kernels take such arguments, in this order. All memory among them lives until they are over, or until
    /// [`forget`](DeviceSequence::forget).
    #[expect(unsafe_code, reason = "addresses are collected here")]
    pub(super) unsafe fn add(&mut self, launches: impl IntoIterator<Item = CollectedLaunch>) {
        self.launches.extend(launches);
    }

    /// Puts the launches on the stream one by one, which the caller holds.
    #[expect(unsafe_code, reason = "kernels are launched here")]
    fn put(&self, launches: &[CollectedLaunch]) -> Result<(), CudaError> {
        // SAFETY: those who added them vouched for that.
        launches.iter().try_for_each(|it| unsafe { it.put(&self.gpu) })
    }

    fn captured(&self, launches: &[CollectedLaunch]) -> Result<SequenceGraph, Failure> {
        let stream = &self.gpu.stream;
        let failed = |why| self.gpu.note(CudaError::from(why));
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).map_err(failed)?;
        let put = self.put(launches);
        // The capture ends also where `put` failed: until then nothing runs on the stream.
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        put?;
        let graph =
            graph.map_err(failed)?.ok_or_else(|| Failure::Machine("the driver makes no graph".to_owned()))?;
        graph.upload().map_err(failed)?;
        Ok(SequenceGraph(graph))
    }
}

impl DeviceSequence for CudaSequence {
    fn copy_box(
        &mut self,
        from: &dyn DeviceMemory,
        to: &dyn DeviceMemory,
        size: usize,
        copy: &BoxCopy,
    ) -> Result<(), Failure> {
        self.launches.extend(boxes::launches(&self.gpu, boxes::of_gpu([from, to])?, size, copy)?);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.launches.len() >= MOST_LAUNCHES
    }

    fn submit(&mut self) -> Result<Option<Box<dyn Ticket>>, Failure> {
        if self.launches.is_empty() {
            return Ok(None);
        }
        let launches = std::mem::take(&mut self.launches);
        let gpu = Arc::clone(&self.gpu);
        gpu.usable()?;
        let mut hasher = DefaultHasher::new();
        launches.hash(&mut hasher);
        let digest = hasher.finish();
        let _order = gpu.order();
        let at = self.before.iter().position(|it| it.digest == digest && it.launches == launches);
        let sequence = match at.and_then(|it| self.before.remove(it)) {
            Some(mut known) => {
                let graph = match known.graph.take() {
                    Some(graph) => graph,
                    None => self.captured(&known.launches)?,
                };
                graph.0.launch().map_err(|why| gpu.note(why.into()))?;
                known.graph = Some(graph);
                known
            }
            None => {
                self.put(&launches)?;
                PreviousSequence { digest, launches, graph: None }
            }
        };
        self.before.push_front(sequence);
        self.before.truncate(MOST_BEFORE);
        let over = gpu.context.new_event(None).map_err(CudaError::from)?;
        over.record(&gpu.stream).map_err(|why| gpu.note(why.into()))?;
        let longest = self.longest;
        Ok(Some(Box::new(SequenceTicket(UnderWay {
            over,
            gpu: Arc::clone(&gpu),
            begun: Instant::now(),
            longest,
        }))))
    }

    fn forget(&mut self) {
        self.launches.clear();
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

impl Drop for CudaSequence {
    fn drop(&mut self) {
        // Work that is still on the stream uses the kernels that are held here.
        if !self.gpu.is_lost() {
            let _ = self.gpu.stream.synchronize();
        }
    }
}

/// Work on the stream that is not over.
pub(super) struct UnderWay {
    /// Behind its last kernel.
    pub(super) over: CudaEvent,
    pub(super) gpu: Arc<Gpu>,
    pub(super) begun: Instant,
    pub(super) longest: Duration,
}

impl UnderWay {
    pub(super) fn is_over(&self) -> bool {
        self.gpu.usable().is_err() || self.over.is_complete()
    }

    pub(super) fn wait(&self) -> Result<(), Failure> {
        let gpu = &self.gpu;
        gpu.usable()?;
        while !self.over.try_is_complete().map_err(|why| gpu.note(why.into()))? {
            let ran = self.begun.elapsed();
            if ran > self.longest {
                return Err(gpu.note(CudaError::Endless(self.longest)).into());
            }
            if ran < AWAKE {
                std::hint::spin_loop();
            } else {
                std::thread::sleep((ran / 16).min(ASKED));
            }
        }
        Ok(())
    }
}

/// A sequence that the GPU carries out.
struct SequenceTicket(UnderWay);

impl Ticket for SequenceTicket {
    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn wait(self: Box<Self>) -> Result<(), Failure> {
        self.0.wait()
    }
}
