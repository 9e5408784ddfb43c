//! Arrays that keep only some of their places.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Along one dimension, an array has fewer places than its shape has positions. The element at an index lies
/// at the index modulo the number of places.
///
/// The code around never needs more neighbouring positions at a time. So an array with a place for every
/// position, which ignores the ring, gives the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ring {
    pub dimension: usize,
    /// A power of two, so that the remainder is the last bits of the index.
    pub places: i64,
}

impl Ring {
    /// One for so many neighbours at a time.
    #[must_use]
    pub fn of(dimension: usize, neighbours: i64) -> Self {
        let places = u64::try_from(neighbours).unwrap_or(1).next_power_of_two();
        Self { dimension, places: i64::try_from(places).unwrap_or(i64::MAX) }
    }

    /// How many positions along a dimension have a place of their own, where only some do.
    #[must_use]
    pub fn places_along(ring: Option<Self>, dimension: usize) -> Option<i64> {
        ring.filter(|it| it.dimension == dimension).map(|it| it.places)
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} places along dimension {}", self.places, self.dimension)
    }
}
