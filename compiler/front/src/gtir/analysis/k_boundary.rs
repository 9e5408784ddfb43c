//! How far beyond the first and the last level of the compute domain each field is touched.

use crate::diag::Diagnostics;
use crate::diag::catalog::rules;
use crate::entity::SideTable;
use crate::space::{Axis, Interval, Level, Reach};

use super::super::nodes::{Field, Stencil};

/// For every field: positions `lo .. nk + hi` are touched.
///
/// An interval that is counted from one end says nothing about the other one.
/// Levels that are found at run time are not known here. The sides may point inward: with `interval(1, -1)` and no offset they are `[1, -1]`.
#[must_use]
pub fn k_boundaries(stencil: &Stencil) -> SideTable<Field, Reach> {
    let mut sides: SideTable<Field, LevelEnds> = SideTable::default();
    stencil.each_touch(&mut |interval, touch| {
        if touch.is_level_known {
            let known = sides.get_or_default(touch.field);
            *known = known.union(LevelEnds::of(interval, touch.offset.k));
        }
    });
    let mut boundaries = SideTable::default();
    for (field, declared) in stencil.fields.iter() {
        let sides = sides.get(field).copied().unwrap_or_default();
        let has_levels = declared.axes.has(Axis::K);
        let reach = Reach::new(sides.lo.unwrap_or(0), sides.hi.unwrap_or(0));
        boundaries.insert(field, if has_levels { reach } else { Reach::ZERO });
    }
    boundaries
}

/// Refuses reads of a temporary on levels that it does not have (E23); whether there was none.
pub fn check(stencil: &Stencil, diagnostics: &mut Diagnostics) -> bool {
    let mut is_legal = true;
    stencil.each_touch(&mut |interval, touch| {
        let field = &stencil.fields[touch.field];
        if !touch.is_level_known || !field.is_temporary || !field.axes.has(Axis::K) {
            return;
        }
        let sides = LevelEnds::of(interval, touch.offset.k);
        let below = sides.lo.filter(|&lo| lo < 0).map(|lo| (true, -lo));
        let above = sides.hi.filter(|&hi| hi > 0).map(|hi| (false, hi));
        if let Some((is_low, levels)) = below.or(above) {
            diagnostics.push(rules::temporary_beyond_levels(&field.name, is_low, levels, touch.span));
            is_legal = false;
        }
    });
    is_legal
}

/// The known ends of the touched levels: `lo` counts from the first level, `hi` from the end.
#[derive(Clone, Copy, Default)]
struct LevelEnds {
    lo: Option<i32>,
    hi: Option<i32>,
}

impl LevelEnds {
    fn of(interval: Interval, offset: i32) -> Self {
        let lo = (interval.start.level == Level::Start).then(|| interval.start.offset.saturating_add(offset));
        let hi = (interval.end.level == Level::End).then(|| interval.end.offset.saturating_add(offset));
        Self { lo, hi }
    }

    fn union(self, other: Self) -> Self {
        let lo = self.lo.into_iter().chain(other.lo).min();
        Self { lo, hi: self.hi.into_iter().chain(other.hi).max() }
    }
}
