//! Ranges of levels, relative to the ends of the compute domain.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The end of the domain that a bound counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    Start,
    End,
}

/// A position relative to one end of an axis.
///
/// Ordered as if every position counted from the end lay beyond every position
/// counted from the start; for small domains that need not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bound {
    pub level: Level,
    pub offset: i32,
}

impl Bound {
    /// Whether it lies at or below another one in every run. Runs have at least `min_levels` levels.
    #[must_use]
    pub fn is_at_most(self, other: Self, min_levels: i64) -> bool {
        let distance = i64::from(self.offset) - i64::from(other.offset);
        match (self.level, other.level) {
            (Level::Start, Level::Start) | (Level::End, Level::End) => distance <= 0,
            (Level::Start, Level::End) => distance <= min_levels,
            (Level::End, Level::Start) => false,
        }
    }

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// The fewest levels at which no interval but the full one is empty or reversed, and none at the start meets
/// one at the end. 0 where any number will do.
#[must_use]
pub fn min_levels(intervals: impl IntoIterator<Item = Interval>) -> i64 {
    let (mut single, mut at_start, mut at_end) = (0, 0, 0);
    for Interval { start, end } in intervals.into_iter().filter(|&it| it != Interval::FULL) {
        let needed = match (start.level, end.level) {
            (Level::Start, Level::End) => i64::from(start.offset) - i64::from(end.offset) + 1,
            (Level::Start, Level::Start) => i64::from(end.offset),
            (Level::End, _) => -i64::from(start.offset),
        };
        single = single.max(needed);
        match (start.level, end.level) {
            (Level::Start, Level::Start) => at_start = at_start.max(needed),
            (Level::End, Level::End) => at_end = at_end.max(needed),
            (Level::Start, Level::End) | (Level::End, Level::Start) => {}
        }
    }
    single.max(at_start + at_end)
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

impl LoopOrder {
    /// The order of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [LoopOrder::Parallel, LoopOrder::Forward, LoopOrder::Backward];
        all.into_iter().find(|it| it.to_string() == name)
    }
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
