//! How a plane of points is cut into tiles that fit into registers.

use std::ops::Range;

use super::lanes::LANES;
use crate::space::{Bound, Domain, Extent, Reach, Region, Side};

/// A rectangle of points of one level, at most [`LANES`] of them. Its points are numbered row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) i: Range<i64>,
    pub(super) j: Range<i64>,
    pub(super) k: i64,
}

impl Tile {
    /// Points along i; never 0.
    pub(super) fn width(&self) -> usize {
        usize::try_from(self.i.end - self.i.start).unwrap_or(1).max(1)
    }

    pub(super) fn points(&self) -> usize {
        self.width() * usize::try_from(self.j.end - self.j.start).unwrap_or(0)
    }

    /// The point of one lane.
    pub(super) fn cell(&self, lane: usize) -> [i64; 3] {
        let (row, column) = (lane / self.width(), lane % self.width());
        let beside = |start: i64, by: usize| start + i64::try_from(by).unwrap_or(0);
        [beside(self.i.start, column), beside(self.j.start, row), self.k]
    }
}

/// The rectangles that a block is worked on in, on each of its levels: within one, each region holds all points or none.
///
/// Where `is_ordered`, going through them and through the lanes of each goes from row to row and along each.
pub(super) fn tiles(extent: Extent, regions: &[Region], domain: Domain, is_ordered: bool) -> Vec<Tile> {
    let columns = pieces(extent.i, regions.iter().map(|it| it.i), domain.i);
    let bands = pieces(extent.j, regions.iter().map(|it| it.j), domain.j);
    let is_one_by_one = is_ordered && columns.len() > 1;
    let lanes = i64::try_from(LANES).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for band in bands {
        let widest = columns.iter().map(|it| it.end - it.start).max().unwrap_or(1);
        let height = if is_one_by_one { 1 } else { (lanes / widest).max(1) };
        for j in chunks(&band, height) {
            for i in &columns {
                found.push(Tile { i: i.clone(), j: j.clone(), k: 0 });
            }
        }
    }
    found
}

/// The points of an axis where a block runs, cut at the ends of regions and where they are too many.
fn pieces(reach: Reach, sides: impl Iterator<Item = Side>, size: i64) -> Vec<Range<i64>> {
    let all = i64::from(reach.lo)..size + i64::from(reach.hi);
    let at = |bound: Bound| bound.at(size);
    let mut cuts: Vec<i64> = sides.flat_map(|it| [it.start, it.end]).flatten().map(at).collect();
    cuts.retain(|it| all.contains(it));
    cuts.extend([all.start, all.end]);
    cuts.sort_unstable();
    cuts.dedup();
    let longest = i64::try_from(LANES).unwrap_or(i64::MAX);
    cuts.windows(2).flat_map(|pair| chunks(&(pair[0]..pair[1]), longest)).collect()
}

fn chunks(range: &Range<i64>, longest: i64) -> Vec<Range<i64>> {
    let mut found = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = (start + longest).min(range.end);
        found.push(start..end);
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge() -> Region {
        let side = Side { start: Some(Bound::start(0)), end: Some(Bound::start(1)) };
        Region { i: side, j: Side::default() }
    }

    #[test]
    fn every_point_is_in_one_tile() {
        let extent = Extent::new(Reach::new(-1, 2), Reach::new(0, 1));
        for (i, j) in [(1, 1), (7, 5), (300, 3), (600, 1), (2, 400)] {
            for regions in [&[][..], &[edge()]] {
                for is_ordered in [true, false] {
                    let found = tiles(extent, regions, Domain::new(i, j, 1), is_ordered);
                    assert!(found.iter().all(|it| (1..=LANES).contains(&it.points())));
                    let mut points: Vec<[i64; 3]> =
                        found.iter().flat_map(|it| (0..it.points()).map(|lane| it.cell(lane))).collect();
                    if is_ordered {
                        assert!(points.is_sorted_by_key(|it| (it[1], it[0])), "{i} {j}");
                    }
                    points.sort_unstable();
                    points.dedup();
                    assert_eq!(points.len(), usize::try_from((i + 3) * (j + 1)).unwrap(), "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn a_region_holds_all_of_a_tile_or_nothing() {
        let found = tiles(Extent::ZERO, &[edge()], Domain::new(9, 4, 1), false);
        for tile in &found {
            let inside = (0..tile.points()).filter(|&lane| tile.cell(lane)[0] == 0).count();
            assert!(inside == 0 || inside == tile.points(), "{tile:?}");
        }
    }
}
