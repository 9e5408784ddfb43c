//! The elements of the caller's fields that a stencil touches, as boxes.

use super::interval::Interval;

/// A box of elements. Each range starts at a bound and ends before another one, both relative to the compute domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementBox {
    pub i: Interval,
    pub j: Interval,
    /// None for all levels that the field has.
    pub k: Option<Interval>,
    /// The index of the data dimensions; none for all elements.
    pub data: Option<Vec<i64>>,
}

/// The elements of a field of the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldElements {
    /// Every run on every domain writes at least these.
    pub written: Vec<ElementBox>,
    /// A run reads at most these before it has written them.
    pub read_first: Vec<ElementBox>,
}
