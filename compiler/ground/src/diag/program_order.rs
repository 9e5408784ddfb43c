//! In which order the statements of a text run, whatever becomes of their loops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StmtId;

/// When each statement runs, if all run as they are written. Of several places where a run must end, the
/// first of this order is reported. That is so on every level and with any number of threads.
///
/// A statement that would read a value which an earlier one could not compute comes behind that one here. So
/// statements may run in any order. Once all have been tried, the least place is the one where the text
/// itself would have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramOrder {
    moments: BTreeMap<StmtId, ProgramPoint>,
}

/// When a statement runs. Statements are ordered by sweep, then by level where levels have an order, then by
/// `statement`, and then by point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPoint {
    /// Which loop over the levels it stands in.
    pub sweep: u32,
    pub levels: LevelOrder,
    /// The statement that is finished at all points, or at all of a level, before the next one starts.
    pub statement: StmtId,
}

/// From which side a sweep comes to the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LevelOrder {
    Unordered,
    Ascending,
    Descending,
}

impl LevelOrder {
    /// Less for the level that comes first.
    #[must_use]
    pub fn turn(self, level: i64) -> i64 {
        match self {
            LevelOrder::Unordered => 0,
            LevelOrder::Ascending => level,
            LevelOrder::Descending => -level,
        }
    }
}

impl ProgramOrder {
    /// A statement that is there already keeps its moment.
    pub fn add(&mut self, stmt: StmtId, moment: ProgramPoint) {
        self.moments.entry(stmt).or_insert(moment);
    }

    /// Adds the statements of a text that runs behind this one. They get new numbers by an addend.
    pub fn append(&mut self, later: &Self, first_statement: u32) {
        let n_sweeps = self.moments.values().map(|it| it.sweep + 1).max().unwrap_or(0);
        let moved = |it: StmtId| StmtId(it.0 + first_statement);
        for (&stmt, it) in &later.moments {
            let moment = ProgramPoint {
                sweep: n_sweeps + it.sweep,
                statement: moved(it.statement),
                levels: it.levels,
            };
            self.add(moved(stmt), moment);
        }
    }

    /// `None` for a statement whose moment is not known.
    #[must_use]
    pub fn of(&self, stmt: StmtId) -> Option<ProgramPoint> {
        self.moments.get(&stmt).copied()
    }

    /// Whether nothing is known, as of a graph from a file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }
}
