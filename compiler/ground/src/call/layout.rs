//! Where the elements of a field lie in memory, seen from the points of the compute domain.

use std::fmt;
use std::ops::Range;

use itertools::Itertools;

use super::launch::FieldArgument;
use crate::space::{Axis, AxisSet, Offset};

/// Finds the elements of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    /// The element at the first point of the compute domain.
    pub start: i64,
    /// Between neighbours along I, J, K; 0 along an axis that the field lacks.
    pub strides: [i64; 3],
    /// The size of each data dimension, and what lies between its neighbours.
    pub data: Vec<(i64, i64)>,
    /// The positions that exist, relative to the compute domain.
    pub exists: [Range<i64>; 3],
}

impl FieldLayout {
    /// That of a field that was not passed: no element of it exists.
    #[must_use]
    pub fn missing() -> Self {
        Self { start: 0, strides: [0; 3], data: Vec::new(), exists: Axis::ALL.map(|_| 0..0) }
    }

    /// That of a field of the caller's.
    #[must_use]
    pub fn of_argument(given: &FieldArgument, axes: AxisSet) -> Self {
        let sizes = given.array.shape.iter().zip(&given.array.strides).skip(axes.len());
        let mut exists = Axis::ALL.map(|_| i64::MIN..i64::MAX);
        for (axis, &size) in axes.iter().zip(&given.array.shape) {
            let origin = given.origin[axis.index()];
            exists[axis.index()] = -origin..signed(size) - origin;
        }
        Self {
            start: given.start(axes),
            strides: given.strides(axes),
            data: sizes.map(|(&size, &stride)| (signed(size), stride)).collect(),
            exists,
        }
    }

    /// That of a field of our own which has these positions, and how many elements it takes. Neighbours along I
    /// lie side by side.
    #[must_use]
    pub fn owned(axes: AxisSet, data_dims: &[u32], needed: &[Range<i64>; 3]) -> (Self, usize) {
        let mut layout = Self::missing();
        let mut n: i64 = 1;
        for axis in Axis::ALL {
            let range = &needed[axis.index()];
            if axes.has(axis) {
                layout.strides[axis.index()] = n;
                layout.start -= range.start * n;
                n *= (range.end - range.start).max(0);
                layout.exists[axis.index()] = range.clone();
            } else {
                layout.exists[axis.index()] = i64::MIN..i64::MAX;
            }
        }
        for &size in data_dims {
            layout.data.push((i64::from(size), n));
            n *= i64::from(size);
        }
        (layout, usize::try_from(n).unwrap_or(0))
    }

    /// Where the element lies that a point means; `None` where it does not exist.
    #[must_use]
    pub fn position(&self, place: &RelativeElement, cell: [i64; 3]) -> Option<usize> {
        let offset = [place.offset.i, place.offset.j, place.offset.k];
        let mut position = self.start;
        for axis in 0..3 {
            let at = match place.level {
                Some(level) if axis == 2 => level,
                _ => cell[axis] + i64::from(offset[axis]),
            };
            if !self.exists[axis].contains(&at) {
                return None;
            }
            position += at * self.strides[axis];
        }
        for (&at, &(size, stride)) in place.data.iter().zip(&self.data) {
            if !(0..size).contains(&at) {
                return None;
            }
            position += at * stride;
        }
        usize::try_from(position).ok()
    }
}

/// Which element of a field is meant, seen from a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelativeElement {
    /// Along K it counts where there is no level.
    pub offset: Offset,
    /// The level, counted from the start of the compute domain, where it was found at run time.
    pub level: Option<i64>,
    /// For each data dimension.
    pub data: Vec<i64>,
}

impl RelativeElement {
    /// Whether the level of the point itself is meant, in its own column.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.offset == Offset::CENTRE && self.level.is_none()
    }
}

impl From<Offset> for RelativeElement {
    fn from(offset: Offset) -> Self {
        Self { offset, level: None, data: Vec::new() }
    }
}

impl fmt::Display for RelativeElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.offset != Offset::CENTRE || self.level.is_none() && self.data.is_empty() {
            write!(f, "{}", self.offset)?;
        }
        if let Some(level) = self.level {
            write!(f, ".at({level})")?;
        }
        if self.data.is_empty() { Ok(()) } else { write!(f, ".A[{}]", self.data.iter().format(", ")) }
    }
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
