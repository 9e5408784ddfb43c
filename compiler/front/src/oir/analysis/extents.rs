//! How far beyond the compute domain each execution runs and each field is needed.
//!
//! One backward pass computes them. An execution runs as far as any later read needs the temporaries that it
//! writes. It then needs its own reads that far, plus their offsets. Parameters are written only in the
//! compute domain, however far they are read.
//!
//! `executions` and `fields` follow the acceptance rule of GT4Py bit for bit. It looks at only one side of a
//! region that is anchored at one end. `true_fields` hold the elements that are really touched;
//! [`touched`](super::touches::touched) gives those of one domain.

use std::ops::Range;

use super::super::nodes::{Field, HorizontalExecution, Stencil, StmtKind, Target};
use crate::entity::{Handle, SideTable};
use crate::pass::{Analyses, Analysis};
use crate::space::{Bound, Extent, Level, Offset, Reach, Region, Side};

/// The horizontal extents of a stencil.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// Where each execution runs.
    pub executions: SideTable<HorizontalExecution, Extent>,
    /// Which part of each field must be there for a call to be accepted; zero where it is not used.
    pub fields: SideTable<Field, Extent>,
    /// A part of each field that holds every element touched, whatever the size of the domain; zero where none is.
    pub true_fields: SideTable<Field, Extent>,
}

impl Extents {
    /// Whether this execution can touch `offset` from a point of `region`, as the acceptance rule sees it.
    #[must_use]
    pub fn meets(&self, execution: Handle<HorizontalExecution>, region: Option<Region>) -> bool {
        self.within(execution, region).is_some()
    }

    /// Where statements of this execution run that stand in `region`, as the acceptance rule sees it; none where they run
    /// nowhere.
    #[must_use]
    pub fn within(&self, execution: Handle<HorizontalExecution>, region: Option<Region>) -> Option<Extent> {
        contribution(self.executions[execution], Offset::CENTRE, region)
    }
}

/// The extents of a stencil, as a fact that passes share.
#[derive(Debug)]
pub struct ExtentsOf;

impl Analysis<Stencil> for ExtentsOf {
    const NAME: &'static str = "oir/extents";
    type Fact = Extents;

    fn compute(stencil: &Stencil, _: &mut Analyses<Stencil>) -> Extents {
        extents(stencil)
    }
}

/// Computes the extents of a stencil.
#[must_use]
pub fn extents(stencil: &Stencil) -> Extents {
    let mut found = Extents::default();
    let mut true_fields: SideTable<Field, Extent> = SideTable::default();
    for placed in stencil.placed().rev() {
        let execution = &stencil.executions[placed.execution];
        let mut block = Extent::ZERO;
        for stmt in &execution.body {
            stmt.walk(&mut |it| {
                if let StmtKind::Assign { target: Target::Field(field), .. } = it.kind
                    && stencil.fields[field].is_temporary
                {
                    block = block.union(*found.fields.get_or_default(field));
                }
            });
        }
        found.executions.insert(placed.execution, block);
        execution.each_touch(&mut |touch| {
            let Some(field) = touch.what.field() else { return };
            if let Some(extent) = contribution(block, touch.offset, touch.scope.region) {
                include(&mut found.fields, field, extent);
            }
            if let Some(extent) = true_contribution(block, touch.offset, touch.scope.region) {
                include(&mut true_fields, field, extent);
            }
        });
    }
    for field in stencil.fields.handles() {
        if found.fields.get(field).is_none() {
            found.fields.insert(field, Extent::ZERO);
        }
        found.true_fields.insert(field, true_fields.get(field).copied().unwrap_or(Extent::ZERO));
    }
    found
}

/// The positions of an axis with `size` points where an execution runs, within one side of a region.
#[must_use]
pub fn clipped(reach: Reach, side: Side, size: i64) -> Range<i64> {
    let start = side.start.map_or(i64::MIN, |it| it.at(size)).max(i64::from(reach.lo));
    let end = side.end.map_or(i64::MAX, |it| it.at(size)).min(size + i64::from(reach.hi));
    start..end
}

/// Whether no domain of at least one point has a point of `region` where a block of this extent runs.
#[must_use]
pub fn never_meets(block: Extent, region: Region) -> bool {
    true_contribution(block, Offset::CENTRE, Some(region)).is_none()
}

fn include(table: &mut SideTable<Field, Extent>, field: Handle<Field>, extent: Extent) {
    let known = table.get(field).copied();
    table.insert(field, known.map_or(extent, |it| it.union(extent)));
}

/// The extent of a field that an access at `offset` in a block requires; nothing where the region is surely
/// outside.
fn contribution(block: Extent, offset: Offset, region: Option<Region>) -> Option<Extent> {
    let Some(region) = region else { return Some(block.shifted(offset)) };
    Some(Extent {
        i: contribution_along(block.i, offset.i, region.i)?,
        j: contribution_along(block.j, offset.j, region.j)?,
    })
}

/// The rule of the language reference, section 6.2.
fn contribution_along(block: Reach, offset: i32, side: Side) -> Option<Reach> {
    use Level::{End, Start};
    let anchored =
        |bound: Option<Bound>, level: Level| bound.filter(|it| it.level == level).map(|it| it.offset);
    let (start, end) = (side.start, side.end);

    let opens_before = start.is_none() || anchored(start, Start).is_some_and(|p| block.lo > p);
    let is_below = opens_before && anchored(end, Start).is_some_and(|q| q <= block.lo);
    let closes_after = end.is_none() || anchored(end, End).is_some_and(|q| block.hi < q);
    let is_above = closes_after && anchored(start, End).is_some_and(|p| p > block.hi);
    if is_below || is_above {
        return None;
    }
    // A bound that counts from the other end is infinitely far away, and leaves its side at zero.
    let lo = match start {
        None => block.lo.saturating_add(offset),
        Some(Bound { level: Start, offset: p }) => block.lo.max(p).saturating_add(offset),
        Some(Bound { level: End, .. }) => 0,
    };
    let hi = match end {
        None => block.hi.saturating_add(offset),
        Some(Bound { level: End, offset: q }) => block.hi.min(q).saturating_add(offset),
        Some(Bound { level: Start, .. }) => 0,
    };
    Some(Reach::new(lo.min(0), hi.max(0)))
}

/// The extent that an access touches on some domain of at least one point; nothing where it touches none on
/// any.
pub(super) fn true_contribution(block: Extent, offset: Offset, region: Option<Region>) -> Option<Extent> {
    let region = region.unwrap_or_default();
    Some(Extent {
        i: true_contribution_along(block.i, offset.i, region.i)?,
        j: true_contribution_along(block.j, offset.j, region.j)?,
    })
}

fn true_contribution_along(block: Reach, offset: i32, side: Side) -> Option<Reach> {
    let lower = [Some(Bound::start(block.lo)), side.start];
    let upper = [Some(Bound::end(block.hi)), side.end];
    let is_empty = lower.into_iter().flatten().any(|lower| {
        upper.into_iter().flatten().any(|upper| match (lower.level, upper.level) {
            (Level::Start, Level::End) => false,
            (Level::End, Level::Start) => lower.offset.saturating_add(1) >= upper.offset,
            (Level::Start, Level::Start) | (Level::End, Level::End) => lower.offset >= upper.offset,
        })
    });
    if is_empty {
        return None;
    }
    // The smallest domain, of one point, brings the two ends closest to each other.
    let lowest = |bound: Bound| match bound.level {
        Level::Start => bound.offset,
        Level::End => bound.offset.saturating_add(1),
    };
    let highest = |bound: Bound| match bound.level {
        Level::Start => bound.offset.saturating_sub(1),
        Level::End => bound.offset,
    };
    let lo = lower.into_iter().flatten().map(lowest).max()?;
    let hi = upper.into_iter().flatten().map(highest).min()?;
    Some(Reach::new(lo, hi).shifted(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Level::{End, Start};

    /// Farther than any offset.
    const FAR: i32 = 1000;

    /// The rule of the language, as its reference writes it down.
    fn by_the_book(block: Reach, d: i32, side: Side) -> Option<Reach> {
        let (lo, hi) = (block.lo, block.hi);
        let ds = match side.start {
            None => 0,
            Some(Bound { level: Start, offset: p }) => (lo - p).min(0),
            Some(Bound { level: End, .. }) => -FAR,
        };
        let de = match side.end {
            None => 0,
            Some(Bound { level: End, offset: q }) => (hi - q).max(0),
            Some(Bound { level: Start, .. }) => FAR,
        };
        let is_below = match (side.start, side.end) {
            (None, Some(Bound { level: Start, offset: q })) => q <= lo,
            (Some(Bound { level: Start, offset: p }), Some(Bound { level: Start, offset: q })) => {
                lo > p && q <= lo
            }
            _ => false,
        };
        let is_above = match (side.start, side.end) {
            (Some(Bound { level: End, offset: p }), None) => p > hi,
            (Some(Bound { level: End, offset: p }), Some(Bound { level: End, offset: q })) => {
                hi < q && p > hi
            }
            _ => false,
        };
        let is_outside = is_below || is_above;
        (!is_outside).then(|| Reach::new((lo - ds + d).min(0), (hi - de + d).max(0)))
    }

    #[test]
    fn what_a_region_asks_for_is_what_the_language_says() {
        let bounds = || {
            let anchored = |level| (-3..=3).map(move |offset| Some(Bound { level, offset }));
            anchored(Start).chain(anchored(End)).chain([None])
        };
        let blocks = (-2..=0).flat_map(|lo| (0..=2).map(move |hi| Reach::new(lo, hi)));
        for block in blocks {
            for start in bounds() {
                for end in bounds() {
                    for offset in -3..=3 {
                        let side = Side { start, end };
                        let found = contribution_along(block, offset, side);
                        assert_eq!(found, by_the_book(block, offset, side), "{block} {side:?} {offset}");
                    }
                }
            }
        }
    }
}
