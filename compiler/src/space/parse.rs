//! Bounds, intervals, regions and axes read back from their text.

use super::{Axis, AxisSet, Bound, Interval, Region, Side};

/// A bound as `start`, `end-1`.
#[must_use]
pub fn bound(text: &str) -> Option<Bound> {
    let (make, rest): (fn(i32) -> Bound, &str) = match text.strip_prefix("start") {
        Some(rest) => (Bound::start, rest),
        None => (Bound::end, text.strip_prefix("end")?),
    };
    if rest.is_empty() { Some(make(0)) } else { rest.parse().ok().map(make) }
}

/// An interval as `[start, end-1)`.
#[must_use]
pub fn interval(text: &str) -> Option<Interval> {
    let (start, end) = text.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")?;
    Some(Interval::new(bound(start)?, bound(end)?))
}

/// A region as `i[start, start+1) j[, )`.
#[must_use]
pub fn region(text: &str) -> Option<Region> {
    let (i, j) = text.split_once(" j")?;
    Some(Region { i: side(i.strip_prefix('i')?)?, j: side(j)? })
}

fn side(text: &str) -> Option<Side> {
    let (start, end) = text.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")?;
    let optional = |text: &str| if text.is_empty() { Some(None) } else { bound(text).map(Some) };
    Some(Side { start: optional(start)?, end: optional(end)? })
}

/// Axes as `IJK`.
#[must_use]
pub fn axes(text: &str) -> Option<AxisSet> {
    let axis = |name: char| Axis::ALL.into_iter().find(|it| it.name().starts_with(name));
    let axes: Vec<Axis> = text.chars().map(axis).collect::<Option<_>>()?;
    let set = AxisSet::of(&axes);
    (set.to_string() == text).then_some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in ["[start, end)", "[start+2, start+3)", "[end-1, end)", "[start-4, end+2)"] {
            assert_eq!(interval(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["i[start, start+1) j[, )", "i[, end-1) j[end-1, end+3)"] {
            assert_eq!(region(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["IJK", "IJ", "K", ""] {
            assert_eq!(axes(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(bound("middle"), None);
        assert_eq!(interval("[start, end]"), None);
        assert_eq!(region("i[start, end)"), None);
        assert_eq!(axes("JI"), None);
    }
}
