//! Data for pictures of fields, beside the values themselves.

use serde::{Deserialize, Serialize};

use crate::worker::{Across, Which};

/// Describes the cells shown: extremes with their cells, mean and deviation of the finite values, and the
/// number of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// All cells that have a value, finite or not.
    pub cells: u64,
    pub min: Option<Extreme>,
    pub max: Option<Extreme>,
    pub mean: Option<f64>,
    /// The standard deviation, over the number of values (as NumPy's `std`).
    pub deviation: Option<f64>,
    pub nan: u64,
    pub inf: u64,
    /// The first cell with NaN and with infinity, k slowest and i fastest.
    pub first_nan: Option<[i64; 3]>,
    pub first_inf: Option<[i64; 3]>,
    /// Whether all finite values are whole numbers.
    pub is_whole: bool,
    /// Of two results: how many cells have other bits; `None` where one result is looked at.
    pub differing: Option<u64>,
}

impl Summary {
    /// Whether two results were looked at and have the same bits.
    #[must_use]
    pub fn is_identical(&self) -> bool {
        self.differing == Some(0) && self.cells > 0
    }
}

/// The least or the greatest value, and the first cell (i, j, k) that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extreme {
    pub value: f64,
    pub at: [i64; 3],
}

/// How often values lie in each of several equally wide bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The lower end of the first bin and the upper end of the last one.
    pub low: f64,
    pub high: f64,
    pub counts: Vec<u64>,
}

/// Values along an axis through a cell; they come in a buffer: value, mean, least and greatest, as f64, one
/// row each.
///
/// Along K, the last three are taken over the horizontal plane at each point. Along I or J, they are taken
/// along the other horizontal axis. A mean, least and greatest is NaN where no value there is finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub of: Which,
    pub field: String,
    pub along: Across,
    pub at: [i64; 3],
    /// The number of points along the axis; they count from 0.
    pub points: u64,
}

/// The values of one field in a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    pub field: String,
    pub dtype: String,
    /// The values as text that reads back to the same bits.
    pub a: Option<String>,
    pub b: Option<String>,
    /// A less B, where both are there.
    pub difference: Option<String>,
    /// Units in the last place between them; `None` also where one of the two is NaN.
    pub ulp: Option<u64>,
    /// The same as a number, that of A where it is there; `None` where it is not finite.
    pub value: Option<f64>,
}
