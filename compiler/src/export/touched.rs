//! The elements of arrays that a call touches, as tables that the check of a call reads.
//!
//! `oir::analysis::touched` gives these elements for one domain; the tables hold for all domains. Statements
//! without a region touch one range along each axis. Each statement in a region is a row of its own.

use crate::oir::analysis::{Extents, TouchedPositions, touches_of_params};
use crate::oir::nodes::{self as oir, ParamKind};
use crate::space::{Bound, Level, Reach, Region};

/// A range of positions along an axis of n points. It goes from the lesser of the two positions in `start` to
/// the greater of the two in `end`. The first of each two counts from the start of the axis, the second from
/// its end.
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

/// The elements that are touched of all fields that are parameters, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldHulls {
    /// Along I, J and K; none where no statement without a region touches the field.
    pub(super) hulls: Vec<Option<[Hull; 3]>>,
    /// The elements touched in regions, each with the field's place among the fields.
    pub(super) in_regions: Vec<(usize, TouchedPositions)>,
}

/// Reads it from the OIR.
pub(super) fn touched(stencil: &oir::Stencil, extents: &Extents) -> FieldHulls {
    let is_field = |it: &&oir::Param| matches!(it.what, ParamKind::Field(_));
    let n_fields = stencil.params.iter().filter(is_field).count();
    let mut found = FieldHulls { hulls: vec![None; n_fields], ..FieldHulls::default() };
    for it in touches_of_params(stencil, extents) {
        let field = stencil.params.iter().take(it.field).filter(is_field).count();
        if it.region != Region::default() {
            found.in_regions.push((field, it));
            continue;
        }
        let hulls = found.hulls[field].get_or_insert_default();
        for ((hull, Reach { lo, hi }), offset) in hulls.iter_mut().zip(it.reach).zip(it.offset) {
            hull.include(Bound::start(lo), Bound::end(hi), offset);
        }
        if it.is_level_known {
            hulls[2].include(it.interval.start, it.interval.end, it.offset[2]);
        }
    }
    found
}
