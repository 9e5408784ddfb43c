//! The clocks that measure calls.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    Wall,
    /// That of this process on all processors: it stands while others have them.
    Processor,
}

impl Clock {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Processor => "processor",
        }
    }

    fn now(self) -> Duration {
        let now = clock_gettime(match self {
            Clock::Wall => ClockId::Monotonic,
            Clock::Processor => ClockId::ProcessCPUTime,
        });
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
    }

    /// The seconds that some work takes.
    pub(crate) fn time<T, E>(self, work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
        let begun = self.now();
        work()?;
        Ok(self.now().saturating_sub(begun).as_secs_f64())
    }
}
