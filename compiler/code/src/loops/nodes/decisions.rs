//! The decisions of passes: tables beside the nodes that they are about.
//!
//! Nodes are as the lowering made them. A pass that decides how a loop runs, or how an array lies, records it
//! here, under the handle of the loop or the array. A loop or an array without a record is as the lowering made it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Array, Element, For, If};
use crate::entity::{Handle, SideTable};

/// The decisions of passes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Decisions {
    lanes: SideTable<For, Lanes>,
    prefetched: SideTable<For, Vec<Element>>,
    stores: SideTable<For, Stores>,
    once: BTreeSet<Handle<For>>,
    skipped: SideTable<If, SkippedArms>,
    row_starts: SideTable<Array, u64>,
    streamed: BTreeSet<Handle<Array>>,
    stream_from: Option<u64>,
    least_points: i64,
    is_long: bool,
    n_parts: Option<usize>,
}

/// How the iterations of a loop along a row are put into vector lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes {
    /// Whether branches and `while` run under masks: iterations wait for each other.
    pub is_masked: bool,
    /// Whether some iterations may run twice, so that the last vector is a whole one that overlaps the one before.
    pub may_overlap: bool,
    /// Whether each function that takes long has a loop of its own over some vectors.
    pub is_split: bool,
    /// Iterations of a block of one whole vector, where the loop runs in blocks. The last block overlaps the
    /// one before.
    pub block: Option<i64>,
}

/// Rows that a loop stores past the caches, as whole cache lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stores {
    /// Each along the loop; none of an array twice.
    pub rows: Vec<Element>,
    pub buffer: RowBuffer,
}

/// Where the elements of a row are before they are stored past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowBuffer {
    /// In an array of so many elements, which is copied as a whole.
    Row { elements: u32 },
    /// In an array of so few bytes that a compiler keeps it in registers.
    Registers { bytes: i64 },
}

/// The arms of a branch in lanes that are passed over where no lane takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedArms {
    /// By their places among the conditions.
    pub arms: BTreeSet<usize>,
    /// The places behind which all others are passed over together.
    pub others: BTreeSet<usize>,
}

impl Decisions {
    /// How lanes run a loop.
    #[must_use]
    pub fn lanes(&self, of: Handle<For>) -> Lanes {
        self.lanes.get(of).copied().unwrap_or_default()
    }

    /// Records how lanes run a loop.
    pub fn set_lanes(&mut self, of: Handle<For>, lanes: Lanes) {
        self.lanes.insert(of, lanes);
    }

    /// One element of each row that is prefetched when an iteration of a loop begins, all along i.
    #[must_use]
    pub fn prefetched(&self, by: Handle<For>) -> &[Element] {
        self.prefetched.get(by).map_or(&[], Vec::as_slice)
    }

    /// Records the rows that a loop prefetches.
    pub fn set_prefetched(&mut self, by: Handle<For>, rows: Vec<Element>) {
        self.prefetched.insert(by, rows);
    }

    /// The rows that a loop writes past the caches.
    #[must_use]
    pub fn stores(&self, by: Handle<For>) -> Option<&Stores> {
        self.stores.get(by)
    }

    /// Records the rows that a loop writes past the caches.
    pub fn set_stores(&mut self, by: Handle<For>, stores: Stores) {
        self.stores.insert(by, stores);
    }

    /// Whether a loop is a block, since it has one position at most.
    #[must_use]
    pub fn is_once(&self, it: Handle<For>) -> bool {
        self.once.contains(&it)
    }

    /// Records that a loop is a block.
    pub fn set_once(&mut self, it: Handle<For>) {
        self.once.insert(it);
    }

    /// The arms of a branch that are passed over where no lane takes them.
    #[must_use]
    pub fn skipped(&self, of: Handle<If>) -> Option<&SkippedArms> {
        self.skipped.get(of)
    }

    /// Records the arms of a branch that are passed over.
    pub fn set_skipped(&mut self, of: Handle<If>, arms: SkippedArms) {
        self.skipped.insert(of, arms);
    }

    /// Unused elements before the first row of an array and before each other one: see `passes/place_rows`.
    #[must_use]
    pub fn row_start(&self, of: Handle<Array>) -> u64 {
        self.row_starts.get(of).copied().unwrap_or(0)
    }

    /// Records how many elements are unused before each row of an array.
    pub fn set_row_start(&mut self, of: Handle<Array>, elements: u64) {
        self.row_starts.insert(of, elements);
    }

    /// Whether rows of an array are stored past the caches, where the fields of a call are larger than these.
    #[must_use]
    pub fn is_streamed(&self, array: Handle<Array>) -> bool {
        self.streamed.contains(&array)
    }

    /// The arrays whose rows are stored past the caches.
    pub fn streamed(&self) -> impl Iterator<Item = Handle<Array>> {
        self.streamed.iter().copied()
    }

    /// Records that rows of an array are stored past the caches.
    pub fn set_streamed(&mut self, array: Handle<Array>) {
        self.streamed.insert(array);
    }

    /// Rows are stored past the caches if all fields together have at least so many bytes.
    #[must_use]
    pub fn stream_from(&self) -> Option<u64> {
        self.stream_from
    }

    /// Records from how many bytes of all fields on rows are stored past the caches.
    pub fn set_stream_from(&mut self, bytes: u64) {
        self.stream_from = Some(bytes);
    }

    /// Points along I that the domain must have for loops in blocks; 0 where there are none.
    #[must_use]
    pub fn least_points(&self) -> i64 {
        self.least_points
    }

    /// Records how many points along I loops in blocks need.
    pub fn set_least_points(&mut self, points: i64) {
        self.least_points = points;
    }

    /// Whether a compiler takes long for the text.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// Records that a compiler takes long for the text.
    pub fn set_long(&mut self) {
        self.is_long = true;
    }

    /// In how many parts the text can be compiled at the same time, each with the loops of some steps.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        self.n_parts.unwrap_or(1)
    }

    /// Records in how many parts the text can be compiled.
    pub fn set_parts(&mut self, n_parts: usize) {
        self.n_parts = Some(n_parts);
    }

    /// Drops all that was decided about a loop, which a pass takes out of the program.
    pub fn forget(&mut self, gone: Handle<For>) {
        self.lanes.remove(gone);
        self.prefetched.remove(gone);
        self.stores.remove(gone);
        self.once.remove(&gone);
    }

    /// Drops all that was decided about a branch, which a pass takes out of the program.
    pub fn forget_branch(&mut self, gone: Handle<If>) {
        self.skipped.remove(gone);
    }

    /// The branches about which something was decided.
    pub fn branches(&self) -> impl Iterator<Item = (Handle<If>, &SkippedArms)> {
        self.skipped.iter()
    }

    /// The loops about which something was decided.
    pub fn loops(&self) -> impl Iterator<Item = Handle<For>> {
        let lanes = self.lanes.iter().map(|(it, _)| it);
        let prefetched = self.prefetched.iter().map(|(it, _)| it);
        let stores = self.stores.iter().map(|(it, _)| it);
        lanes.chain(prefetched).chain(stores).chain(self.once.iter().copied())
    }

    /// The arrays about which something was decided.
    pub fn arrays(&self) -> impl Iterator<Item = Handle<Array>> {
        self.row_starts.iter().map(|(it, _)| it).chain(self.streamed())
    }

    /// The rows that a loop prefetches or writes past the caches.
    pub fn rows(&self, of: Handle<For>) -> impl Iterator<Item = &Element> {
        self.prefetched(of).iter().chain(self.stores(of).into_iter().flat_map(|it| &it.rows))
    }
}
