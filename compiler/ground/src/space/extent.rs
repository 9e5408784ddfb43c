//! How far beyond the compute domain something is needed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Axis, Offset};

/// The reach along one axis: positions `lo .. n + hi` of a domain of `n` points.
///
/// `lo` is usually not positive and `hi` not negative, but a field that is only
/// read at `[1,0,0]` has the reach `(1, 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reach {
    pub lo: i32,
    pub hi: i32,
}

impl Reach {
    pub const ZERO: Reach = Reach { lo: 0, hi: 0 };

    #[must_use]
    pub fn new(lo: i32, hi: i32) -> Self {
        Self { lo, hi }
    }

    /// The smallest reach that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The positions of both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Whether every position of `other` is one of this reach.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The reach moved by `offset`.
    #[must_use]
    pub fn shifted(self, offset: i32) -> Self {
        Self { lo: self.lo.saturating_add(offset), hi: self.hi.saturating_add(offset) }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{},{}]", self.lo, self.hi)
    }
}

/// The horizontal extent: the reach along I and J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    pub i: Reach,
    pub j: Reach,
}

impl Extent {
    pub const ZERO: Extent = Extent { i: Reach::ZERO, j: Reach::ZERO };

    #[must_use]
    pub fn new(i: Reach, j: Reach) -> Self {
        Self { i, j }
    }

    /// The reach along `axis`; zero along K, which has no extent.
    #[must_use]
    pub fn along(self, axis: Axis) -> Reach {
        match axis {
            Axis::I => self.i,
            Axis::J => self.j,
            Axis::K => Reach::ZERO,
        }
    }

    /// The smallest extent that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { i: self.i.union(other.i), j: self.j.union(other.j) }
    }

    /// The columns of both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self { i: self.i.intersection(other.i), j: self.j.intersection(other.j) }
    }

    /// Whether every position of `other` is one of this extent.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.i.holds(other.i) && self.j.holds(other.j)
    }

    /// The extent moved by the horizontal part of `offset`.
    #[must_use]
    pub fn shifted(self, offset: Offset) -> Self {
        Self { i: self.i.shifted(offset.i), j: self.j.shifted(offset.j) }
    }

    /// Whether nothing beyond the compute domain is needed.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{} j{}", self.i, self.j)
    }
}
