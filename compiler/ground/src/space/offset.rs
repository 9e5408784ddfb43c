//! The relative position of a read.

use std::fmt;

use itertools::Itertools;

use super::{Axis, AxisSet};

/// How far from the point a field is read, per axis; 0 along an axis that the field lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset {
    pub i: i32,
    pub j: i32,
    pub k: i32,
}

impl Offset {
    /// The point itself.
    pub const CENTRE: Offset = Offset { i: 0, j: 0, k: 0 };

    #[must_use]
    pub fn new(i: i32, j: i32, k: i32) -> Self {
        Self { i, j, k }
    }

    /// The component along `axis`.
    #[must_use]
    pub fn along(self, axis: Axis) -> i32 {
        [self.i, self.j, self.k][axis.index()]
    }

    /// The components along these axes as the language writes them, `[1,0]`; nothing at the centre.
    #[must_use]
    pub fn along_axes(self, axes: AxisSet) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            if self == Self::CENTRE {
                return Ok(());
            }
            write!(f, "[{}]", axes.iter().map(|axis| self.along(axis)).format(","))
        })
    }

    /// The offset with one number for each of these axes, or at the centre where none is given.
    #[must_use]
    pub fn from_index(axes: AxisSet, index: &[i64]) -> Option<Self> {
        let mut all = [0; 3];
        if !index.is_empty() && index.len() != axes.len() {
            return None;
        }
        for (axis, &component) in axes.iter().zip(index) {
            all[axis.index()] = component.try_into().ok()?;
        }
        let [i, j, k] = all;
        Some(Self { i, j, k })
    }

    /// Whether another column is read.
    #[must_use]
    pub fn is_horizontal(self) -> bool {
        self.i != 0 || self.j != 0
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{},{},{}]", self.i, self.j, self.k)
    }
}
