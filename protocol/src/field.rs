//! Descriptions of fields; their bytes travel beside them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A field that a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldInfo {
    pub name: String,
    pub dtype: String,
    pub axes: String,
    /// Points per axis of the field, halo included; then the sizes of its data dimensions.
    pub shape: Vec<u64>,
    /// Index of the first compute point, per axis of the field; 0 along data dimensions. Negative, or beyond the
    /// shape, where the array does not hold that point.
    pub origin: Vec<i64>,
    /// Points of the compute domain, per axis of the field; then the sizes of its data dimensions.
    pub domain: Vec<u64>,
    pub statistics: Statistics,
}

impl FieldInfo {
    /// The positions of the compute domain that the array holds, along each dimension: all of them, unless the stencil
    /// does not touch the others.
    #[must_use]
    pub fn held(&self) -> Vec<Range<u64>> {
        let sizes = self.shape.iter().zip(&self.domain);
        let held = self.origin.iter().zip(sizes).map(|(&origin, (&size, &points))| {
            let end = i64::try_from(size).unwrap_or(i64::MAX).saturating_sub(origin);
            let end = u64::try_from(end).unwrap_or(0).min(points);
            u64::try_from(origin.saturating_neg()).unwrap_or(0).min(end)..end
        });
        held.collect()
    }

    /// The sizes of the data dimensions.
    #[must_use]
    pub fn data_dims(&self) -> &[u64] {
        self.shape.get(self.axes.len()..).unwrap_or_default()
    }

    /// The indices into the data dimensions of the element of that number, where the last index counts fastest.
    #[must_use]
    pub fn data_index(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let mut index: Vec<u64> = Vec::new();
        for &size in self.data_dims().iter().rev() {
            index.push(rest % size.max(1));
            rest /= size.max(1);
        }
        index.reverse();
        index
    }

    /// How many elements there are at each point.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.data_dims().iter().fold(1, |n, &size| n.saturating_mul(size))
    }
}

/// Of the compute domain; least, greatest and mean of the finite values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    pub nan: u64,
    pub inf: u64,
}

/// How two fields of the same shape differ, over their compute domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub name: String,
    pub cells: u64,
    /// Cells whose bits differ.
    pub differing: u64,
    /// The largest distance in units in the last place; `None` where one of the two is NaN.
    pub max_ulp: Option<u64>,
    pub max_abs: f64,
    /// Position (i, j, k) of the largest distance.
    pub worst: Option<[u64; 3]>,
    /// The two values there, as text that reads back to the same bits.
    pub worst_values: Option<[String; 2]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_may_hold_a_part_of_the_compute_domain() {
        let held = |origin: i64, shape: u64| {
            let info = FieldInfo {
                origin: vec![origin],
                shape: vec![shape],
                domain: vec![4],
                ..FieldInfo::default()
            };
            info.held()[0].clone()
        };
        assert_eq!(held(0, 4), 0..4);
        assert_eq!(held(1, 9), 0..4);
        assert_eq!(held(-1, 3), 1..4);
        assert_eq!(held(0, 3), 0..3);
        assert!(held(-9, 1).is_empty() && held(9, 3).is_empty());
        assert!(held(i64::MIN, 3).is_empty() && held(i64::MAX, 3).is_empty());
    }
}
