//! Descriptions of fields; their bytes travel beside them.

use serde::{Deserialize, Serialize};

/// A field that a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldInfo {
    pub name: String,
    pub dtype: String,
    pub axes: String,
    /// Points per axis of the field, halo included; then the sizes of its data dimensions.
    pub shape: Vec<u64>,
    /// Index of the first compute point, per axis of the field; 0 along data dimensions.
    pub origin: Vec<u64>,
    /// Points of the compute domain, per axis of the field; then the sizes of its data dimensions.
    pub domain: Vec<u64>,
    pub statistics: Statistics,
}

impl FieldInfo {
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
