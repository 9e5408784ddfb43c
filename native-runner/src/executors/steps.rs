//! The steps of a job, as its readers hear of them: begun, ended, and how long each took.

use std::time::Instant;

use isobar_protocol::job::{EventKind, StageState};

use crate::compile::milliseconds;

/// Where events go while a job works, from any thread.
pub(crate) type Sink<'a> = &'a (dyn Fn(EventKind) + Sync);

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
        self.over(None);
    }

    /// The same, of a step that had to move at least so many bytes.
    pub(crate) fn end_having_moved(self, bytes: u64) {
        self.over(Some(bytes));
    }

    fn over(self, bytes: Option<u64>) {
        let ms = milliseconds(self.begun.elapsed());
        stage(self.name, StageState::Ended, false, self.sink);
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

/// Runs the stencil as the step `run`.
pub(crate) fn run<T, E>(bytes: u64, sink: Sink<'_>, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let step = Step::begin("run", sink);
    let done = work();
    // Who stopped on the way has moved less.
    if done.is_ok() {
        step.end_having_moved(bytes)
    } else {
        step.end()
    }
    done
}

fn stage(name: &str, state: StageState, cached: bool, sink: Sink<'_>) {
    sink(EventKind::Stage { name: name.to_owned(), state, cached });
}
