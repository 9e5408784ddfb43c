//! What happens while a stencil gets ready and runs: steps that begin and end, how long each took, how far a call is.

use std::fmt;
use std::time::{Duration, Instant};

use isobar_compiler::space::Axis;

/// Something that happened, in the order in which it did on the thread that tells it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step began.
    Begun { step: &'static str },
    /// A step ended; `cached` where its result was there already.
    Ended { step: &'static str, cached: bool },
    /// What took `ms` milliseconds: a step, or `cache`, the search for a result that was there already.
    /// `bytes` is what it had to move at least, where that is known.
    Timing { step: &'static str, ms: f64, bytes: Option<u64> },
    /// How far a call is, in the units of its back end: points of statements, or steps.
    Progress { done: u64, total: u64 },
    /// How the fields of a call lie, and what is made of that.
    Layout(Layout),
    /// A sentence for whoever reads along.
    Log { text: String },
}

/// How the fields of a call lie, and what is made of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Those that have points along i, by name, and the axis along which neighbours lie side by side.
    pub fields: Vec<(String, Option<Axis>)>,
    pub way: Way,
    /// The fields that are copied.
    pub copied: Vec<String>,
    /// What of them is copied before a call, and back behind it.
    pub there_bytes: u64,
    pub back_bytes: u64,
    /// How many rows along j are copied at a time, where it is not all of them.
    pub rows: Option<u64>,
}

/// What is made of the layout of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// The code has the strides of the caller.
    #[default]
    AsGiven,
    /// Loops along I and K are in each other's place.
    Turned,
    /// Each call computes on copies, which lie along i.
    Copied,
}

/// Where events go, from any thread.
pub type Sink<'a> = &'a (dyn Fn(Event) + Sync);

/// A step that goes on.
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
    /// Tells that it begins.
    pub fn begin(name: &'static str, sink: Sink<'a>) -> Self {
        sink(Event::Begun { step: name });
        Self { name, begun: Instant::now(), sink }
    }

    /// Tells that it is over, and its time.
    pub fn end(self) {
        let elapsed = self.begun.elapsed();
        self.over_after(elapsed, None);
    }

    /// Tells that it is over, after a time that somebody else took, and what it had to move at least.
    pub(crate) fn over_after(self, elapsed: Duration, bytes: Option<u64>) {
        (self.sink)(Event::Ended { step: self.name, cached: false });
        (self.sink)(Event::Timing { step: self.name, ms: milliseconds(elapsed), bytes });
    }

    /// The same, where its result was there already. The time is that of looking it up, and has a name of
    /// its own, so that nobody takes it for the time of the work.
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

/// More often than this nobody wants to hear of progress.
pub const PROGRESS: Duration = Duration::from_millis(50);

/// A time in milliseconds.
#[must_use]
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
