//! The fewest levels for which no interval is empty or reversed.

use crate::space::{Interval, Level};

use super::super::nodes::Stencil;

/// Fewer levels than this are refused at a call; 0 where any number will do.
#[must_use]
pub fn min_levels(stencil: &Stencil) -> i64 {
    let intervals = || stencil.vertical_loops.iter().map(|it| it.interval);
    let largest = |level: Level| {
        let anchored = intervals().filter(|it| it.start.level == level && it.end.level == level);
        anchored.map(from_one_end).max().unwrap_or(0)
    };
    let single = intervals().map(needed_by).max().unwrap_or(0);
    single.max(largest(Level::Start) + largest(Level::End))
}

/// Levels from the end of the domain that the interval counts from to its far bound.
fn from_one_end(interval: Interval) -> i64 {
    match interval.start.level {
        Level::Start => i64::from(interval.end.offset),
        Level::End => -i64::from(interval.start.offset),
    }
}

fn needed_by(interval: Interval) -> i64 {
    match (interval.start.level, interval.end.level) {
        _ if interval == Interval::FULL => 0,
        (Level::Start, Level::End) => i64::from(interval.start.offset) - i64::from(interval.end.offset) + 1,
        _ => from_one_end(interval),
    }
}
