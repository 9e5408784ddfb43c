//! The steps of a job, as its readers hear of them: begun, ended, and how long each took.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use isobar_compiler::backend::launch::Launch;
use isobar_protocol::job::{EventKind, StageState};

use super::{Failure, Prepared, Progress};
use crate::compile::milliseconds;

/// Where events go while a job works, from any thread.
pub type Sink<'a> = &'a (dyn Fn(EventKind) + Sync);

/// A step that goes on.
pub(crate) struct Step<'a> {
    pub name: &'static str,
    begun: Instant,
    sink: Sink<'a>,
}

impl<'a> Step<'a> {
    pub(crate) fn begin(name: &'static str, sink: Sink<'a>) -> Self {
        stage(name, StageState::Begun, false, sink);
        Self { name, begun: Instant::now(), sink }
    }

    /// Tells that it is over, and its time.
    pub(crate) fn end(self) {
        let elapsed = self.begun.elapsed();
        self.over_after(elapsed, None);
    }

    fn over_after(self, elapsed: Duration, bytes: Option<u64>) {
        stage(self.name, StageState::Ended, false, self.sink);
        let ms = milliseconds(elapsed);
        (self.sink)(EventKind::Timing { name: self.name.to_owned(), ms, bytes });
    }

    /// The same, where its result was there already. The time is that of looking it up, and has a name of
    /// its own, so that nobody takes it for the time of the work.
    pub(crate) fn end_cached(self) {
        let ms = milliseconds(self.begun.elapsed());
        stage(self.name, StageState::Ended, true, self.sink);
        (self.sink)(EventKind::Timing { name: "cache".to_owned(), ms, bytes: None });
    }
}

/// Does `work` as one step.
pub(crate) fn step<T>(name: &'static str, sink: Sink<'_>, work: impl FnOnce() -> T) -> T {
    let step = Step::begin(name, sink);
    let done = work();
    step.end();
    done
}

/// Calls the stencil once, as the step `run`, which has to move at least so many bytes; tells meanwhile how far it is.
pub(crate) fn run(
    prepared: &mut dyn Prepared,
    launch: &mut Launch,
    bytes: u64,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let progress = prepared.progress();
    let is_over = AtomicBool::new(false);
    let (step, done, elapsed) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&progress, &is_over, sink));
        let step = Step::begin("run", sink);
        // Neither the start of the other thread nor its end belongs to the time of the call.
        let begun = Instant::now();
        let done = prepared.run(launch);
        let elapsed = begun.elapsed();
        is_over.store(true, Ordering::SeqCst);
        watching.thread().unpark();
        (step, done, elapsed)
    });
    // Who stopped on the way has moved less.
    step.over_after(elapsed, done.is_ok().then_some(bytes));
    done
}

/// More often than this nobody wants to hear of progress.
pub(crate) const PROGRESS: Duration = Duration::from_millis(50);

fn watch(progress: &Progress, is_over: &AtomicBool, sink: Sink<'_>) {
    let mut told = 0;
    let mut tell = || {
        let whole = |it: &AtomicI64| u64::try_from(it.load(Ordering::Relaxed)).unwrap_or(0);
        let (done, total) = (whole(&progress.done), whole(&progress.total));
        if done != told {
            told = done;
            sink(EventKind::Progress { done, total });
        }
    };
    let mut next = Instant::now() + PROGRESS;
    while !is_over.load(Ordering::SeqCst) {
        std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
        if Instant::now() >= next {
            next = Instant::now() + PROGRESS;
            tell();
        }
    }
    // The end is told, however short the way was.
    tell();
}

fn stage(name: &str, state: StageState, cached: bool, sink: Sink<'_>) {
    sink(EventKind::Stage { name: name.to_owned(), state, cached });
}
