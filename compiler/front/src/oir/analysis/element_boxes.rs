//! The elements of a caller's fields that a run writes for sure, and those that it may read before it wrote them, as
//! boxes.
//!
//! Whether a caller's values matter is one question for a whole field, which [`access`](super::access) answers. Boxes answer
//! it element by element: several calls together may write all that another one reads.

use super::definite_assignment::{ElementSet, moved, written_and_read};
use super::extents::Extents;
use crate::entity::SideTable;
use crate::oir::nodes::{Field, Stencil};
use crate::space::{Bound, ElementBox, FieldElements, Interval, Level, Reach, Region, Side};

/// The elements of each field of the caller that a run touches.
#[must_use]
pub fn elements_of_params(stencil: &Stencil, extents: &Extents) -> SideTable<Field, FieldElements> {
    let mut all: SideTable<Field, FieldElements> = SideTable::default();
    let [written, read] = written_and_read(stencil, extents);
    for it in written {
        let found = box_of(&it, largest_inside);
        add(&mut all.get_or_default(it.field).written, found);
    }
    for it in read {
        let found = box_of(&it, smallest_around);
        add(&mut all.get_or_default(it.field).read_first, found);
    }
    all
}

fn add(all: &mut Vec<ElementBox>, new: ElementBox) {
    if !all.contains(&new) {
        all.push(new);
    }
}

fn box_of(it: &ElementSet, along: fn(Reach, Side) -> Interval) -> ElementBox {
    let Region { i, j } = it.region.unwrap_or_default();
    ElementBox {
        i: moved(along(it.extent.i, i), it.offset.i),
        j: moved(along(it.extent.j, j), it.offset.j),
        k: it.levels,
        data: it.data.clone(),
    }
}

/// The positions of a block that are in a region as well, and none besides, on each domain of at least one point.
fn largest_inside(block: Reach, side: Side) -> Interval {
    let (start, end) = (Bound::start(block.lo), Bound::end(block.hi));
    let start = match side.start {
        Some(it) if it.level == Level::Start => it.max(start),
        // The smallest domain brings a bound at the end closest to the start.
        Some(it) => Bound::end(it.offset.max(block.lo.saturating_sub(1))),
        None => start,
    };
    let end = match side.end {
        Some(it) if it.level == Level::End => it.min(end),
        Some(it) => Bound::start(it.offset.min(block.hi.saturating_add(1))),
        None => end,
    };
    Interval::new(start, end)
}

/// All positions of a block that are in a region as well.
fn smallest_around(block: Reach, side: Side) -> Interval {
    let start = side.start.map_or(Bound::start(block.lo), |it| match it.level {
        Level::Start => it.max(Bound::start(block.lo)),
        Level::End => it,
    });
    let end = side.end.map_or(Bound::end(block.hi), |it| match it.level {
        Level::End => it.min(Bound::end(block.hi)),
        Level::Start => it,
    });
    Interval::new(start, end)
}
