//! The points that a stencil writes.

use std::fmt;

use super::Axis;

/// The number of points of the compute domain along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    pub i: i64,
    pub j: i64,
    pub k: i64,
}

impl Domain {
    /// At most this many points along an axis; the product of three still fits an `i64`.
    pub const MAX_ALONG_AXIS: i64 = 1 << 20;

    #[must_use]
    pub fn new(i: i64, j: i64, k: i64) -> Self {
        Self { i, j, k }
    }

    /// Points along `axis`.
    #[must_use]
    pub fn along(self, axis: Axis) -> i64 {
        [self.i, self.j, self.k][axis.index()]
    }

    /// The domain of a stencil whose I and K change places.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { i: self.k, j: self.j, k: self.i }
    }

    /// All points.
    #[must_use]
    pub fn points(self) -> i64 {
        self.i.saturating_mul(self.j).saturating_mul(self.k)
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.i, self.j, self.k)
    }
}
