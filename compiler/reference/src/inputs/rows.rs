//! How the fields that are made for a call lie in memory.

use crate::space::{Axis, AxisSet};
use crate::types::DType;

/// Where the rows of a field start. Neighbours along the first axis lie side by side in any case, and the last
/// dimension is the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Each right behind the one before.
    #[default]
    Dense,
    /// In large fields the first point of the compute domain lies at a multiple of `bytes`, a power of two.
    /// This holds in all rows where the padding between them is small, and otherwise in the first row only.
    AtLines { bytes: usize },
}

/// Smaller fields stay in a cache next to the core, where it does not matter how they lie.
pub(super) const LEAST_BYTES: usize = 64 * 1024;

/// No cache has longer lines, and no page is shorter.
const MOST_LINE_BYTES: usize = 4096;

/// The room between rows is at most this part of them: a run takes at most a tenth more than its fields.
const ROOM: usize = 10;

/// Strides of an array, and where it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Per dimension, in elements.
    pub strides: Vec<usize>,
    /// Elements from the first to the end of the last row, with the room between rows.
    pub n: usize,
    /// The alignment of the first point of the compute domain, in bytes; 0 where it does not matter.
    pub line_bytes: usize,
}

impl Rows {
    /// Those of a field of that shape, whose dimensions are its axes and data dimensions. Saturates.
    #[must_use]
    pub fn plan(self, dtype: DType, axes: AxisSet, shape: &[usize]) -> RowLayout {
        let of = |first: usize, line_bytes: usize| {
            let mut n = first;
            let mut strides = Vec::with_capacity(shape.len());
            for (dimension, &size) in shape.iter().enumerate() {
                strides.push(if dimension == 0 { 1 } else { n });
                n = if dimension == 0 { n } else { n.saturating_mul(size) };
            }
            RowLayout { strides, n, line_bytes }
        };
        let row = shape.first().copied().unwrap_or(1);
        let dense = of(row, 0);
        let Rows::AtLines { bytes } = self else { return dense };
        let is_large = dense.n.saturating_mul(dtype.size_bytes()) >= LEAST_BYTES;
        let is_line = bytes.is_power_of_two() && (dtype.size_bytes()..=MOST_LINE_BYTES).contains(&bytes);
        if !is_large || !is_line || !axes.has(Axis::I) {
            return dense;
        }
        let whole = row.next_multiple_of(bytes / dtype.size_bytes());
        if (whole - row).saturating_mul(ROOM) <= row { of(whole, bytes) } else { of(row, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(dtype: DType, axes: AxisSet, shape: &[usize]) -> (Vec<usize>, usize, usize) {
        let RowLayout { strides, n, line_bytes } = Rows::AtLines { bytes: 64 }.plan(dtype, axes, shape);
        (strides, n, line_bytes)
    }

    #[test]
    fn rows_end_where_the_next_line_starts() {
        let ijk = AxisSet::IJK;
        assert_eq!(plan(DType::Float64, ijk, &[132, 8, 10]), (vec![1, 136, 1088], 10_880, 64));
        assert_eq!(plan(DType::Float32, ijk, &[150, 16, 8, 2]), (vec![1, 160, 2560, 20_480], 40_960, 64));
        // Nothing is to be added.
        assert_eq!(plan(DType::Float64, ijk, &[128, 8, 10]), (vec![1, 128, 1024], 10_240, 64));
        assert_eq!(plan(DType::Float64, AxisSet::IJ, &[94, 100]), (vec![1, 96], 9600, 64));
    }

    #[test]
    fn rows_that_would_take_a_tenth_more_lie_behind_each_other() {
        assert_eq!(plan(DType::Float64, AxisSet::IJK, &[20, 40, 20]), (vec![1, 20, 800], 16_000, 64));
        // 80 of 73 are less than a tenth more, and 80 of 72 are not.
        assert_eq!(plan(DType::Float32, AxisSet::IJ, &[73, 999]).0, [1, 80]);
        assert_eq!(plan(DType::Float32, AxisSet::IJ, &[72, 999]).0, [1, 72]);
    }

    #[test]
    fn small_fields_and_those_without_rows_are_dense() {
        assert_eq!(plan(DType::Float64, AxisSet::IJK, &[9, 9, 9]), (vec![1, 9, 81], 729, 0));
        assert_eq!(plan(DType::Float64, AxisSet::K, &[99_999]), (vec![1], 99_999, 0));
        assert_eq!(plan(DType::Float64, AxisSet::IJK, &[132, 0, 10]), (vec![1, 132, 0], 0, 0));
        assert_eq!(plan(DType::Float64, AxisSet::IJK, &[]).1, 1);
        for bytes in [0, 1, 48, 1 << 40] {
            let found = Rows::AtLines { bytes }.plan(DType::Float64, AxisSet::IJ, &[131, 999]);
            assert_eq!(found, Rows::Dense.plan(DType::Float64, AxisSet::IJ, &[131, 999]));
        }
        let huge = 1 << 40;
        assert_eq!(plan(DType::Float64, AxisSet::IJK, &[huge, huge, huge]).1, usize::MAX);
    }
}
