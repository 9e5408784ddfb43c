//! Events while a stencil is prepared and runs: steps begin and end, with their times, and calls progress.

use std::fmt;
use std::time::{Duration, Instant};

use isobar_compiler::space::Axis;

/// An event. A thread reports its events in the order in which they happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step began.
    Begun { step: &'static str },
    /// A step ended; `cached` where its result was there already.
    Ended { step: &'static str, cached: bool },
    /// A duration of `ms` milliseconds: of a step, or of `cache`, the search for a result that was there
    /// already. `bytes` is the least number of bytes that the step had to move, where that is known.
    Timing { step: &'static str, ms: f64, bytes: Option<u64> },
    /// The progress of a call, in the units of its back end: points of statements, or steps.
    Progress { done: u64, total: u64 },
    /// The memory layout of the fields of a call, and how the call deals with it.
    Layout(CallLayout),
    /// A sentence for the user.
    Log { text: String },
}

/// The memory layout of the fields of a call, and how the call deals with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallLayout {
    /// The fields that have points along i, by name, with the axis along which neighbours lie side by side.
    pub fields: Vec<(String, Option<Axis>)>,
    pub way: LayoutTreatment,
    /// The fields that are copied.
    pub copied: Vec<String>,
    /// Bytes of these fields that are copied before a call.
    pub there_bytes: u64,
    /// Bytes of these fields that are copied back after a call.
    pub back_bytes: u64,
    /// How many rows along j are copied at a time; none where all rows are copied at once.
    pub rows: Option<u64>,
}

/// How a call deals with the layout of its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayoutTreatment {
    /// The code uses the strides of the caller.
    #[default]
    AsGiven,
    /// The loops along I and K are exchanged.
    Turned,
    /// Each call computes on copies, which are contiguous along i.
    Copied,
}

/// Receives events, from any thread.
pub type Sink<'a> = &'a (dyn Fn(Event) + Sync);

/// A step that has begun and not ended.
pub struct Step<'a> {
    pub name: &'static str,
    begun: Instant,
    sink: Sink<'a>,
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("name", &self.name).field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl<'a> Step<'a> {
    /// Reports that a step begins.
    pub fn begin(name: &'static str, sink: Sink<'a>) -> Self {
        sink(Event::Begun { step: name });
        Self { name, begun: Instant::now(), sink }
    }

    /// Reports that the step is over, and its time.
    pub fn end(self) {
        let elapsed = self.begun.elapsed();
        self.over_after(elapsed, None);
    }

    /// Reports that the step is over, with a time measured elsewhere and the least number of bytes that it
    /// had to move.
    pub(crate) fn over_after(self, elapsed: Duration, bytes: Option<u64>) {
        (self.sink)(Event::Ended { step: self.name, cached: false });
        (self.sink)(Event::Timing { step: self.name, ms: milliseconds(elapsed), bytes });
    }

    /// Reports that the step is over, and that its result was there already. The time is that of the search.
    /// It is named `cache`, so that nobody takes it for the time of the work.
    pub fn end_cached(self) {
        let ms = milliseconds(self.begun.elapsed());
        (self.sink)(Event::Ended { step: self.name, cached: true });
        (self.sink)(Event::Timing { step: "cache", ms, bytes: None });
    }
}

/// Does `work` as one step.
pub fn step<T>(name: &'static str, sink: Sink<'_>, work: impl FnOnce() -> T) -> T {
    let step = Step::begin(name, sink);
    let done = work();
    step.end();
    done
}

/// Shortest time between two reports of progress.
pub const PROGRESS: Duration = Duration::from_millis(50);

/// A time in milliseconds.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
