//! The horizontal part of a domain that a statement is limited to.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Axis, Bound};

/// A half-open range along one horizontal axis; a missing bound is unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Side {
    pub start: Option<Bound>,
    pub end: Option<Bound>,
}

impl Side {
    /// Whether `position` of an axis with `size` compute points lies inside.
    #[must_use]
    pub fn contains(self, position: i64, size: i64) -> bool {
        self.start.is_none_or(|it| it.at(size) <= position)
            && self.end.is_none_or(|it| position < it.at(size))
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        if let Some(start) = self.start {
            write!(f, "{start}")?;
        }
        f.write_str(", ")?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        f.write_str(")")
    }
}

/// A rectangle of columns, relative to the compute domain's edges; it may reach beyond them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Region {
    pub i: Side,
    pub j: Side,
}

impl Region {
    /// The range along `axis`; unbounded along K.
    #[must_use]
    pub fn along(self, axis: Axis) -> Side {
        match axis {
            Axis::I => self.i,
            Axis::J => self.j,
            Axis::K => Side::default(),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{} j{}", self.i, self.j)
    }
}
