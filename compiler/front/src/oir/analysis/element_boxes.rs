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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oir::analysis::extents::extents;
    use crate::oir::parse::parse;

    /// The boxes of a parameter that are written for sure, and those that are read before.
    fn boxes_of(name: &str, loops: &str) -> [Vec<String>; 2] {
        let text = format!(
            "
stencil s
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
temporary t: float64[IJK]
{loops}
"
        );
        let stencil = parse(&text).expect("the text is OIR");
        let extents = extents(&stencil);
        let field = stencil.fields.find(|it| it.name == name).expect("a field");
        let elements = elements_of_params(&stencil, &extents).get(field).cloned().unwrap_or_default();
        let told = |it: &ElementBox| {
            let levels = it.k.map_or("all levels".to_owned(), |it| it.to_string());
            format!("{} {} {levels}", it.i, it.j)
        };
        [elements.written, elements.read_first].map(|them| them.iter().map(told).collect())
    }

    const DOMAIN: &str = "[start, end) [start, end) [start, end)";

    #[test]
    fn elements_that_are_written_for_sure_and_read_first_are_boxes() {
        let whole = "parallel\n  [start, end)\n    x0\n      b = a[-1,0,0] + a[0,0,1]";
        assert_eq!(boxes_of("b", whole), [vec![DOMAIN.to_owned()], vec![]]);
        let read =
            ["[start-1, end-1) [start, end) [start, end)", "[start, end) [start, end) [start+1, end+1)"];
        assert_eq!(boxes_of("a", whole), [vec![], read.map(str::to_owned).to_vec()]);
        // A level that is written is not read first: a sweep has written the levels behind it.
        let sweep = "forward\n  [start, start+1)\n    x0\n      b = a\n  [start+1, end)\n    x1\n      b = b[0,0,-1] + b[0,0,1]";
        let levels =
            ["[start, end) [start, end) [start, start+1)", "[start, end) [start, end) [start+1, end)"];
        let ahead = "[start, end) [start, end) [start+2, end+1)".to_owned();
        assert_eq!(boxes_of("b", sweep), [levels.map(str::to_owned).to_vec(), vec![ahead]]);
        // Through a temporary, as far as that is needed.
        let through = "parallel\n  [start, end)\n    x0\n      t = a\n    x1\n      b = t[1,0,0] + t[-1,0,0]";
        assert_eq!(boxes_of("a", through)[1], ["[start-1, end+1) [start, end) [start, end)"]);
    }

    #[test]
    fn a_region_writes_no_more_than_every_domain_has_and_reads_no_less() {
        let region = |of: &str, body: &str| {
            format!("parallel\n  [start, end)\n    x0\n      region {of}\n        {body}")
        };
        let first = region("i[start-1, start+2) j[end-3, )", "b = a");
        // A domain of one point has one of the two first columns, and one of the three last rows.
        assert_eq!(boxes_of("b", &first)[0], ["[start, start+1) [end-1, end) [start, end)"]);
        assert_eq!(boxes_of("a", &first)[1], ["[start, start+2) [end-3, end) [start, end)"]);
        let shifted = region("i[start, start+1) j[, )", "b = a[-2,1,0]");
        assert_eq!(boxes_of("a", &shifted)[1], ["[start-2, start-1) [start+1, end+1) [start, end)"]);
        // Where a condition decides, nothing is sure.
        let sometimes = "parallel\n  [start, end)\n    x0\n      if a > 0.0\n        b = a";
        assert_eq!(boxes_of("b", sometimes), [Vec::<String>::new(), vec![]]);
    }
}
