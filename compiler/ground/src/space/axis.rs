//! The three directions, and which of them a field has.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A direction of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Axis {
    I,
    J,
    K,
}

impl Axis {
    /// All axes in index order.
    pub const ALL: [Axis; 3] = [Axis::I, Axis::J, Axis::K];

    /// Position in an `(i, j, k)` triple.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The capital letter, as the language writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["I", "J", "K"][self.index()]
    }

    /// The small letter, for a position along the axis.
    #[must_use]
    pub fn position_name(self) -> &'static str {
        ["i", "j", "k"][self.index()]
    }

    /// The axis that stands where this one does when I and K change places.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Axis::I => Axis::K,
            Axis::J => Axis::J,
            Axis::K => Axis::I,
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The axes that a field has, in index order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AxisSet([bool; 3]);

impl AxisSet {
    pub const IJK: AxisSet = AxisSet([true, true, true]);
    pub const IJ: AxisSet = AxisSet([true, true, false]);
    pub const K: AxisSet = AxisSet([false, false, true]);

    /// The set of the given axes.
    #[must_use]
    pub fn of(axes: &[Axis]) -> Self {
        let mut set = [false; 3];
        for axis in axes {
            set[axis.index()] = true;
        }
        Self(set)
    }

    /// Whether the field has `axis`.
    #[must_use]
    pub fn has(self, axis: Axis) -> bool {
        self.0[axis.index()]
    }

    /// The axes in index order.
    pub fn iter(self) -> impl Iterator<Item = Axis> {
        Axis::ALL.into_iter().filter(move |&axis| self.has(axis))
    }

    /// The axes of a field whose I and K change places.
    #[must_use]
    pub fn turned(self) -> Self {
        let [i, j, k] = self.0;
        Self([k, j, i])
    }

    /// How many axes there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for AxisSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|axis| f.write_str(axis.name()))
    }
}
