//! Ranges of levels, relative to the ends of the compute domain.

use std::fmt;

/// The end of the domain that a bound counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Start,
    End,
}

/// A position relative to one end of an axis.
///
/// Ordered as if every position counted from the end lay beyond every position
/// counted from the start; for small domains that need not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound {
    pub level: Level,
    pub offset: i32,
}

impl Bound {
    #[must_use]
    pub fn start(offset: i32) -> Self {
        Self { level: Level::Start, offset }
    }

    #[must_use]
    pub fn end(offset: i32) -> Self {
        Self { level: Level::End, offset }
    }

    /// The position in a domain of `size` points.
    #[must_use]
    pub fn at(self, size: i64) -> i64 {
        match self.level {
            Level::Start => i64::from(self.offset),
            Level::End => size + i64::from(self.offset),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Start => "start",
            Level::End => "end",
        };
        match self.offset {
            0 => f.write_str(level),
            offset => write!(f, "{level}{offset:+}"),
        }
    }
}

/// A half-open range of levels, `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    pub start: Bound,
    pub end: Bound,
}

impl Interval {
    /// All levels.
    pub const FULL: Interval = Interval {
        start: Bound { level: Level::Start, offset: 0 },
        end: Bound { level: Level::End, offset: 0 },
    };

    #[must_use]
    pub fn new(start: Bound, end: Bound) -> Self {
        Self { start, end }
    }

    /// Whether it is one level on every domain.
    #[must_use]
    pub fn is_one_level(self) -> bool {
        self.start.level == self.end.level && self.end.offset - self.start.offset == 1
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}

/// The order in which the levels of a vertical loop are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopOrder {
    /// Each statement is finished on all levels before the next one starts.
    Parallel,
    /// Levels ascend; all statements are finished on one before the next.
    Forward,
    /// Levels descend; all statements are finished on one before the next.
    Backward,
}

impl fmt::Display for LoopOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoopOrder::Parallel => "parallel",
            LoopOrder::Forward => "forward",
            LoopOrder::Backward => "backward",
        })
    }
}
