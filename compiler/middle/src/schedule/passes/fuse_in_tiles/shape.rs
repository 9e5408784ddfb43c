//! The shape of a tile: its number of rows, and of points in each or of levels. The best shape fits into the
//! cache and takes the least time.

use std::collections::BTreeSet;

use crate::entity::Handle;
use crate::schedule::analysis::accesses::Counts;
use crate::schedule::analysis::cost::{
    Cost, Machine, RangeEnd, Ranges, boxes, operations_of, restore, sizes, value,
};
use crate::schedule::nodes::{Container, Node, Tree};
use crate::schedule::transform::Refusal;
use crate::schedule::transform::roll::{self, Rolling, rolled};
use crate::schedule::transform::tile::{Tiling, limited, plan};
use crate::space::{Axis, names};

/// The part of the domain that a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileCoverage {
    /// Whole rows, on all levels.
    Rows,
    /// As many neighbouring points of rows as fit.
    Points,
    /// Whole rows, on as many neighbouring levels as fit.
    Levels,
}

impl TileCoverage {
    /// The part that a tile has of each row, in words.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Rows => "whole rows",
            Self::Points => "parts of rows",
            Self::Levels => "rows of a few levels",
        }
    }

    /// The axis along which a tile is limited beside J.
    fn axis(self) -> Option<Axis> {
        match self {
            Self::Rows => None,
            Self::Points => Some(Axis::I),
            Self::Levels => Some(Axis::K),
        }
    }
}

/// The points of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileShape {
    pub(super) rows: i64,
    pub(super) within: InnerOrder,
}

/// How the positions along the other axes run in a tile of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InnerOrder {
    /// As they stand.
    AsTheyStand,
    /// So many along an axis at a time.
    Tiles(Axis, i64),
    /// Level by level, each stage as far ahead as those behind it need.
    Front,
}

/// The part of a tile's time that is left behind a front, where the tile stays in the second cache. A front
/// keeps a few rows at a time in the first cache. Measured are 0.9 for horizontal diffusion and 0.95 for
/// transport by parabolas (128x128x80, f64, arrays along k).
const BEHIND_FRONT: f64 = 0.9;

impl TileShape {
    /// The expected time of tiles of this shape, in nanoseconds of one core.
    pub(super) fn time(self, cost: Cost, machine: &Machine) -> f64 {
        let time = cost.time(machine);
        if self.within == InnerOrder::Front { BEHIND_FRONT * time } else { time }
    }

    /// How nodes run in such tiles.
    pub(super) fn in_words(self) -> String {
        let Self { rows, within } = self;
        match within {
            InnerOrder::AsTheyStand if rows == 1 => "row by row".to_owned(),
            InnerOrder::AsTheyStand => format!("in tiles of {rows} rows"),
            InnerOrder::Tiles(Axis::I, points) if rows == 1 => {
                format!("in tiles of {points} points of a row")
            }
            InnerOrder::Tiles(Axis::I, points) => format!("in tiles of {rows} rows of {points} points"),
            InnerOrder::Tiles(_, levels) => format!("in tiles of {rows} rows on {levels} levels"),
            InnerOrder::Front if rows == 1 => "row by row, and level by level in each".to_owned(),
            InnerOrder::Front => format!("in tiles of {rows} rows, and level by level in each"),
        }
    }
}

/// How nodes run in tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    rows: Tiling,
    also: Option<(Axis, Tiling)>,
    /// How levels run behind a front in a tile, where they do.
    front: Option<Rolling>,
}

impl Tiles {
    /// Plans how nodes could run in tiles.
    ///
    /// # Errors
    ///
    /// The reason why tiles would depend on each other.
    pub(super) fn of(
        tree: &Tree,
        nodes: &[Node],
        counts: &Counts,
        part: TileCoverage,
    ) -> Result<Self, Refusal> {
        let rows = plan(tree, nodes, Axis::J, counts)?;
        let also = match part.axis() {
            None => None,
            Some(axis) => Some((axis, plan(tree, nodes, axis, counts)?)),
        };
        let front = match part {
            TileCoverage::Rows | TileCoverage::Points => None,
            TileCoverage::Levels => roll::plan(tree, nodes, Axis::K).ok(),
        };
        Ok(Self { rows, also, front })
    }

    /// Whether the smallest tile fits into the cache.
    pub(super) fn fit(&self, tree: &Tree, machine: &Machine, nodes: &[Node]) -> bool {
        let least = match &self.also {
            None => InnerOrder::AsTheyStand,
            Some((axis, _)) => InnerOrder::Tiles(*axis, self.least(tree, machine, *axis)),
        };
        let front = self.front.as_ref().map(|_| InnerOrder::Front);
        [Some(least), front].into_iter().flatten().any(|within| {
            let shape = TileShape { rows: 1, within };
            let in_tile = self.limited(nodes, shape);
            self.footprint(tree, &in_tile, shape, &mut sizes(machine)) <= machine.cache_bytes
        })
    }

    /// The tile for which the nodes are expected to be fastest; of two that take as long, the one with more points.
    pub(super) fn best(
        &self,
        tree: &Tree,
        machine: &Machine,
        nodes: &[Node],
        ranges: &mut Ranges,
    ) -> Option<(TileShape, Cost)> {
        let n_rows = length(&self.rows, ranges);
        let mut best: Option<(TileShape, Cost)> = None;
        for rows in ROWS.into_iter().take_while(|&rows| rows == 1 || rows <= n_rows) {
            let mut fits = false;
            for within in self.ways_to_try(tree, machine, ranges) {
                // Each core has work, and none of them much more than the others.
                if rows > 1 && n_rows / rows < 2 * machine.cores && ranges.len() == 3 {
                    break;
                }
                let shape = TileShape { rows, within };
                let in_tile = self.limited(nodes, shape);
                if self.footprint(tree, &in_tile, shape, ranges) > machine.cache_bytes {
                    continue;
                }
                fits = true;
                let cost = self.cost(tree, machine, &in_tile, shape, ranges);
                // Where a front has more rows, more of the elements that it reads lie side by side.
                let slack = if within == InnerOrder::Front { 1.005 } else { 1.0 };
                let is_better = |(known, of_known): (TileShape, Cost)| {
                    shape.time(cost, machine) < slack * known.time(of_known, machine)
                };
                if best.is_none_or(is_better) {
                    best = Some((shape, cost));
                }
            }
            if !fits {
                break;
            }
        }
        best
    }

    /// The numbers of positions along the other axis to try, from the most. With each there is more than one
    /// tile, and each tile but the last has whole lines. The front comes last.
    fn ways_to_try(&self, tree: &Tree, machine: &Machine, ranges: &Ranges) -> Vec<InnerOrder> {
        let Some((axis, tiling)) = &self.also else { return vec![InnerOrder::AsTheyStand] };
        let (least, most) = (self.least(tree, machine, *axis), length(tiling, ranges));
        let sizes = if *axis == Axis::I { &POINTS } else { &LEVELS };
        let each = sizes.iter().rev().copied().filter(|&it| it >= least && it < most);
        let front = self.front.as_ref().map(|_| InnerOrder::Front);
        each.map(|it| InnerOrder::Tiles(*axis, it)).chain(front).collect()
    }

    /// The fewest positions along the other axis.
    fn least(&self, tree: &Tree, machine: &Machine, axis: Axis) -> i64 {
        if axis == Axis::I { least_points(tree, machine, self) } else { LEVELS[0] }
    }

    /// The nodes of one tile. A front does not limit them along its axis.
    fn limited(&self, nodes: &[Node], shape: TileShape) -> Vec<Node> {
        let in_rows = limited(nodes, &self.rows, Axis::J, shape.rows);
        match (&self.also, shape.within) {
            (Some((axis, tiling)), InnerOrder::Tiles(_, size)) => limited(&in_rows, tiling, *axis, size),
            _ => in_rows,
        }
    }

    /// Bytes that the nodes of one tile touch; where levels run behind a front, those at one position of the
    /// front.
    fn footprint(&self, tree: &Tree, in_tile: &[Node], shape: TileShape, ranges: &mut Ranges) -> f64 {
        let bytes = |nodes: &[Node], ranges: &mut Ranges| -> f64 {
            boxes(tree, nodes, ranges).iter().map(|it| it.bytes(tree)).sum()
        };
        self.in_the_middle(shape, ranges, |ranges| match &self.front {
            Some(front) if shape.within == InnerOrder::Front => {
                let front = rolled(in_tile.to_vec(), front, Axis::K);
                let (first, end) = (
                    value(&front.start, ranges, RangeEnd::Least),
                    value(&front.end, ranges, RangeEnd::Greatest),
                );
                let middle = i64::midpoint(first, end);
                ranges.insert(front.variable.clone(), (middle, middle));
                let found = bytes(&front.children, ranges);
                ranges.remove(&front.variable);
                found
            }
            _ => bytes(in_tile, ranges),
        })
    }

    /// Calls `then` while the variables of tiles stand for a tile in the middle.
    fn in_the_middle<T>(
        &self,
        shape: TileShape,
        ranges: &mut Ranges,
        then: impl FnOnce(&mut Ranges) -> T,
    ) -> T {
        let rows = names::tile(Axis::J);
        let middle = start(&self.rows, ranges) + length(&self.rows, ranges) / 2;
        let outer = ranges.insert(rows.clone(), (middle, middle));
        let mut also = None;
        if let (Some((axis, tiling)), InnerOrder::Tiles(_, size)) = (&self.also, shape.within) {
            let tiles_before = (length(tiling, ranges) / size - 1).max(0) / 2;
            let middle = start(tiling, ranges) + tiles_before * size;
            let variable = names::tile(*axis);
            ranges.insert(variable.clone(), (middle, middle));
            also = Some(variable);
        }
        let answer = then(ranges);
        if let Some(variable) = also {
            ranges.remove(&variable);
        }
        restore(ranges, &rows, outer);
        answer
    }

    /// The cost of nodes in tiles that fit into the cache.
    fn cost(
        &self,
        tree: &Tree,
        machine: &Machine,
        in_tile: &[Node],
        shape: TileShape,
        ranges: &mut Ranges,
    ) -> Cost {
        let private: BTreeSet<Handle<Container>> = self.rows.private.iter().copied().collect();
        let n_rows = length(&self.rows, ranges);
        let n_of_rows = n_rows as f64 / shape.rows as f64;
        let traffic = |ranges: &mut Ranges| -> f64 {
            let touched = boxes(tree, in_tile, ranges);
            let shared = touched.iter().filter(|it| !private.contains(&it.container));
            shared.map(|it| it.traffic(tree, ranges)).sum()
        };
        let operations =
            |ranges: &mut Ranges| -> f64 { in_tile.iter().map(|it| operations_of(it, ranges)).sum() };
        let n_along = match (&self.also, shape.within) {
            (_, InnerOrder::AsTheyStand) | (None, _) => {
                let variable = names::tile(Axis::J);
                let first = start(&self.rows, ranges);
                ranges.insert(variable.clone(), (first, first + n_rows - 1));
                let bytes = traffic(ranges);
                ranges.remove(&variable);
                let of_one = self.in_the_middle(shape, ranges, operations);
                return Cost { bytes, operations: of_one * n_of_rows };
            }
            (Some((_, tiling)), InnerOrder::Tiles(_, size)) => length(tiling, ranges) as f64 / size as f64,
            (Some(_), InnerOrder::Front) => 1.0,
        };
        // The tile beside has left the cache long before, so elements that both need come twice.
        let n_tiles = n_of_rows * n_along;
        let bytes = self.in_the_middle(shape, ranges, traffic) * n_tiles;
        let of_one = self.in_the_middle(shape, ranges, operations);
        let InnerOrder::Tiles(Axis::I, size) = shape.within else {
            return Cost { bytes, operations: of_one * n_tiles };
        };
        // At the end of a part of a row, a processor has prefetched the next line, which nobody reads in
        // time.
        let bytes = bytes * (1.0 + least_points(tree, machine, self) as f64 / size as f64);
        let starts: f64 =
            self.in_the_middle(shape, ranges, |ranges| in_tile.iter().map(|it| rows_begun(it, ranges)).sum());
        Cost { bytes, operations: (of_one + OPERATIONS_TO_BEGIN * starts) * n_tiles }
    }
}

/// Numbers of rows that are tried, from the least.
const ROWS: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Numbers of points of a row that are tried, from the least: whole vectors of all widths.
const POINTS: [i64; 6] = [8, 16, 32, 64, 128, 256];

/// Numbers of levels that are tried, from the least.
const LEVELS: [i64; 6] = [1, 2, 4, 8, 16, 32];

/// Operations that take as long as beginning a loop over a part of a row, some eight nanoseconds.
const OPERATIONS_TO_BEGIN: f64 = 48.0;

/// How often loops over parts of rows begin.
fn rows_begun(node: &Node, ranges: &mut Ranges) -> f64 {
    let inside = |nodes: Vec<&Node>, ranges: &mut Ranges| -> f64 {
        nodes.into_iter().map(|it| rows_begun(it, ranges)).sum()
    };
    let Node::Loop(it) = node else { return inside(node.children(), ranges) };
    if it.axis == Axis::I {
        return 1.0;
    }
    let first = value(&it.start, ranges, RangeEnd::Least);
    let n = (value(&it.end, ranges, RangeEnd::Greatest) - first).max(0);
    let outer = ranges.insert(it.variable.clone(), (first, first));
    let of_one = inside(it.children.iter().collect(), ranges);
    restore(ranges, &it.variable, outer);
    of_one * n as f64
}

/// The points that fill a cache line with the smallest elements among the arrays that a tile has for itself.
fn least_points(tree: &Tree, machine: &Machine, tiles: &Tiles) -> i64 {
    let bytes = |it: &Handle<Container>| i64::try_from(tree.containers[*it].dtype.size_bytes()).unwrap_or(8);
    // Flags are few: a part of a line will do for them.
    let smallest = tiles.rows.private.iter().map(bytes).filter(|&it| it > 1).min();
    (machine.line_bytes / smallest.unwrap_or(8)).max(1)
}

fn start(tiling: &Tiling, ranges: &Ranges) -> i64 {
    value(&tiling.range.0, ranges, RangeEnd::Least)
}

/// Positions from the first tile to the last.
fn length(tiling: &Tiling, ranges: &Ranges) -> i64 {
    (value(&tiling.range.1, ranges, RangeEnd::Greatest) - start(tiling, ranges)).max(1)
}
