//! The elements of its fields that a run touches, as a table of the stencil that serves any domain.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::nodes::{Field, ParamKind, Stencil};
use super::extents::{Extents, clipped};
use crate::entity::Handle;
use crate::space::{Axis, Domain, Interval, Reach, Region};

/// Positions of a field that statements touch alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TouchedPositions {
    /// The number of the field, as given by the caller that made the table.
    pub field: usize,
    /// How far beyond the compute domain the statement runs along I and J.
    pub reach: [Reach; 2],
    pub region: Region,
    pub interval: Interval,
    pub offset: [i32; 3],
    /// Levels that are found at run time are left out.
    pub is_level_known: bool,
}

/// All touches of the fields that have a number, each row once.
#[must_use]
pub fn touches(
    stencil: &Stencil,
    extents: &Extents,
    number: impl Fn(Handle<Field>) -> Option<usize>,
) -> Vec<TouchedPositions> {
    let mut found = BTreeSet::new();
    for placed in stencil.placed() {
        let extent = extents.executions[placed.execution];
        for touch in stencil.executions[placed.execution].touches() {
            found.extend(touch.what.field().and_then(&number).map(|field| TouchedPositions {
                field,
                reach: [extent.i, extent.j],
                region: touch.scope.region.unwrap_or_default(),
                interval: placed.interval,
                offset: Axis::ALL.map(|axis| touch.offset.along(axis)),
                is_level_known: touch.is_level_known,
            }));
        }
    }
    found.into_iter().collect()
}

/// All that is touched of parameters, each row once; fields are numbered as the parameters are, scalars among them.
#[must_use]
pub fn touches_of_params(stencil: &Stencil, extents: &Extents) -> Vec<TouchedPositions> {
    let number = |field| stencil.params.iter().position(|it| it.what == ParamKind::Field(field));
    touches(stencil, extents, number)
}

/// The positions of each of so many fields, per axis, that a run on `domain` touches; none where it touches none.
///
/// The ranges are relative to the compute domain. Where a field lacks an axis the range along it has no meaning. Along K
/// the range may be empty.
#[must_use]
pub fn touched(
    touches: &[TouchedPositions],
    n_fields: usize,
    domain: Domain,
) -> Vec<Option<[Range<i64>; 3]>> {
    let mut ranges: Vec<Option<[Range<i64>; 3]>> = vec![None; n_fields];
    for it in touches {
        let levels = it.interval.start.at(domain.k).max(0)..it.interval.end.at(domain.k).min(domain.k);
        let along = |axis: Axis| clipped(it.reach[axis.index()], it.region.along(axis), domain.along(axis));
        let range = [along(Axis::I), along(Axis::J), levels];
        if range.iter().any(Range::is_empty) {
            continue;
        }
        let mut shifted = Axis::ALL.map(|axis| {
            let (range, offset) = (&range[axis.index()], i64::from(it.offset[axis.index()]));
            range.start + offset..range.end + offset
        });
        if !it.is_level_known {
            shifted[Axis::K.index()] = 0..0;
        }
        let Some(slot) = ranges.get_mut(it.field) else { continue };
        *slot = Some(match slot.take() {
            Some(known) => Axis::ALL.map(|axis| match (&known[axis.index()], &shifted[axis.index()]) {
                (empty, other) | (other, empty) if empty.is_empty() => other.clone(),
                (a, b) => a.start.min(b.start)..a.end.max(b.end),
            }),
            None => shifted,
        });
    }
    ranges
}
