//! Data about a field beside its plane.

use std::collections::BTreeMap;

use isobar_protocol::field::Statistics;
use isobar_protocol::picture::{Histogram, Line, Reading, Summary};
use isobar_protocol::worker::Across;

/// The summary and the histogram of a field, or of one plane of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSurvey {
    pub summary: Summary,
    pub histogram: Histogram,
}

/// Values along an axis: value, mean, least and greatest.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisProfile {
    pub line: Line,
    pub rows: [Vec<f64>; 4],
}

/// The values of every field of the stencil in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellReadings {
    pub at: [i64; 3],
    pub readings: Vec<Reading>,
}

/// The 27 cells around a cell of the field that is looked at, itself in the middle: along k, then j, then i.
#[derive(Clone, Debug, PartialEq)]
pub struct CellNeighbourhood {
    pub at: [i64; 3],
    /// None where the array has no such cell.
    pub values: Vec<Option<f64>>,
}

impl CellNeighbourhood {
    /// The value so many cells further along `i, j, k`, each of them -1, 0 or 1.
    #[must_use]
    pub fn value(&self, [i, j, k]: [i64; 3]) -> Option<f64> {
        let at = usize::try_from(((k + 1) * 3 + j + 1) * 3 + i + 1).ok()?;
        self.values.get(at).copied().flatten()
    }
}

/// The record of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRecord {
    pub step: u64,
    /// The statistics of each field.
    pub statistics: BTreeMap<String, Statistics>,
    /// The cell that was looked at, and the value of each field there.
    pub cell: [i64; 3],
    pub values: BTreeMap<String, f64>,
}

/// The place of an axis among `i, j, k`.
#[must_use]
pub fn number(axis: Across) -> usize {
    match axis {
        Across::I => 0,
        Across::J => 1,
        Across::K => 2,
    }
}
