//! What a call touches of its arrays, as tables that the check of a call reads.
//!
//! It is what `oir::analysis::extents::touched` tells of one domain, for all of them: what statements without a region
//! touch is one range for each axis, and each statement in a region is a row of its own.

use crate::oir::analysis::Extents;
use crate::oir::nodes::{self as oir, ParamKind};
use crate::space::{Axis, Bound, Level, Reach, Region};

/// Positions along an axis of n points: from the least of two to the greatest of two, which count from its start and
/// from its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hull {
    pub(super) start: [Option<i32>; 2],
    pub(super) end: [Option<i32>; 2],
}

impl Hull {
    fn include(&mut self, start: Bound, end: Bound, offset: i32) {
        let put = |all: &mut [Option<i32>; 2], bound: Bound, pick: fn(i32, i32) -> i32| {
            let slot = match bound.level {
                Level::Start => &mut all[0],
                Level::End => &mut all[1],
            };
            let at = bound.offset.saturating_add(offset);
            *slot = Some(slot.map_or(at, |it| pick(it, at)));
        };
        put(&mut self.start, start, i32::min);
        put(&mut self.end, end, i32::max);
    }
}

/// What is touched in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InRegion {
    /// Among the stencil's fields.
    pub(super) field: usize,
    /// Along I and J.
    pub(super) reach: [Reach; 2],
    /// Along I, J and K.
    pub(super) start: [Option<Bound>; 3],
    pub(super) end: [Option<Bound>; 3],
    pub(super) offset: [i32; 3],
    pub(super) is_level_known: bool,
}

/// What is touched of all fields that are parameters, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    /// Along I, J and K; none where no statement without a region touches the field.
    pub(super) hulls: Vec<Option<[Hull; 3]>>,
    pub(super) in_regions: Vec<InRegion>,
}

/// Reads it from the OIR.
pub(super) fn touched(stencil: &oir::Stencil, extents: &Extents) -> Touched {
    let params = || {
        stencil.params.iter().filter_map(|it| match it.what {
            ParamKind::Field(field) => Some(field),
            ParamKind::Scalar(_) => None,
        })
    };
    let mut found = Touched { hulls: params().map(|_| None).collect(), ..Touched::default() };
    for placed in stencil.placed() {
        let extent = extents.executions[placed.execution];
        for touch in stencil.executions[placed.execution].touches() {
            let field = touch.what.field().and_then(|field| params().position(|it| it == field));
            let Some(field) = field else { continue };
            let offset = Axis::ALL.map(|axis| touch.offset.along(axis));
            let reach = [extent.along(Axis::I), extent.along(Axis::J)];
            let (first, end) = (placed.interval.start, placed.interval.end);
            match touch.scope.region.filter(|it| *it != Region::default()) {
                None => {
                    let hulls = found.hulls[field].get_or_insert_default();
                    for axis in 0..2 {
                        let Reach { lo, hi } = reach[axis];
                        hulls[axis].include(Bound::start(lo), Bound::end(hi), offset[axis]);
                    }
                    if touch.is_level_known {
                        hulls[2].include(first, end, offset[2]);
                    }
                }
                Some(region) => {
                    let row = InRegion {
                        field,
                        reach,
                        start: [region.i.start, region.j.start, Some(first)],
                        end: [region.i.end, region.j.end, Some(end)],
                        offset,
                        is_level_known: touch.is_level_known,
                    };
                    if !found.in_regions.contains(&row) {
                        found.in_regions.push(row);
                    }
                }
            }
        }
    }
    found
}
