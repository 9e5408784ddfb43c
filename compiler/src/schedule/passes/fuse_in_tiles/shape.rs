//! How many rows a tile has, and how many points of each: what fits into the cache, and what takes the least time.

use std::collections::BTreeSet;

use crate::entity::Handle;
use crate::schedule::analysis::accesses::Counts;
use crate::schedule::analysis::cost::{
    Cost, End, Machine, Ranges, boxes, operations_of, restore, sizes, value,
};
use crate::schedule::nodes::{Container, Node, Tree};
use crate::schedule::transform::Refusal;
use crate::schedule::transform::tile::{Tiling, limited, plan};
use crate::space::{Axis, names};

/// What of rows a tile holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Whole,
    /// As many neighbouring points of each as fit.
    Parts,
}

/// The points of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) rows: i64,
    /// Of each row, where it is not the whole row.
    pub(super) points: Option<i64>,
}

impl Shape {
    /// How nodes run in such tiles.
    pub(super) fn in_words(self) -> String {
        match self {
            Self { rows: 1, points: None } => "row by row".to_owned(),
            Self { rows, points: None } => format!("in tiles of {rows} rows"),
            Self { rows: 1, points: Some(points) } => format!("in tiles of {points} points of a row"),
            Self { rows, points: Some(points) } => format!("in tiles of {rows} rows of {points} points"),
        }
    }
}

/// How nodes run in tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    rows: Tiling,
    points: Option<Tiling>,
}

impl Tiles {
    /// How nodes could run in tiles.
    ///
    /// # Errors
    ///
    /// The reason why tiles would depend on each other.
    pub(super) fn of(tree: &Tree, nodes: &[Node], counts: &Counts, part: Rows) -> Result<Self, Refusal> {
        let rows = plan(tree, nodes, Axis::J, counts)?;
        let points = match part {
            Rows::Whole => None,
            Rows::Parts => Some(plan(tree, nodes, Axis::I, counts)?),
        };
        Ok(Self { rows, points })
    }

    /// Whether the smallest tile fits into the cache.
    pub(super) fn fit(&self, tree: &Tree, machine: &Machine, nodes: &[Node]) -> bool {
        let points = self.points.as_ref().map(|_| least_points(tree, machine, self));
        let shape = Shape { rows: 1, points };
        let in_tile = self.limited(nodes, shape);
        self.footprint(tree, &in_tile, shape, &mut sizes(machine)) <= machine.cache_bytes
    }

    /// The tile for which the nodes are expected to be fastest; of two that take as long, the one with more points.
    pub(super) fn best(
        &self,
        tree: &Tree,
        machine: &Machine,
        nodes: &[Node],
        ranges: &mut Ranges,
    ) -> Option<(Shape, Cost)> {
        let n_rows = length(&self.rows, ranges);
        let mut best: Option<(Shape, Cost)> = None;
        for rows in ROWS.into_iter().take_while(|&rows| rows == 1 || rows <= n_rows) {
            // Each core has work, and not one of them much more than the others.
            if rows > 1 && n_rows / rows < 2 * machine.cores && ranges.len() == 3 {
                break;
            }
            let mut fits = false;
            for points in self.points_to_try(tree, machine, ranges) {
                let shape = Shape { rows, points };
                let in_tile = self.limited(nodes, shape);
                if self.footprint(tree, &in_tile, shape, ranges) > machine.cache_bytes {
                    continue;
                }
                fits = true;
                let cost = self.cost(tree, machine, &in_tile, shape, ranges);
                if best.is_none_or(|(_, known)| cost.time(machine) < known.time(machine)) {
                    best = Some((shape, cost));
                }
            }
            if !fits {
                break;
            }
        }
        best
    }

    /// Numbers of points of a row, from the most; each tile but the last has whole lines, and there is more than one.
    fn points_to_try(&self, tree: &Tree, machine: &Machine, ranges: &Ranges) -> Vec<Option<i64>> {
        let Some(points) = &self.points else { return vec![None] };
        let (least, n_points) = (least_points(tree, machine, self), length(points, ranges));
        let sizes = POINTS.into_iter().rev();
        sizes.filter(|&it| it >= least && it < n_points).map(Some).collect()
    }

    /// The nodes of one tile.
    fn limited(&self, nodes: &[Node], shape: Shape) -> Vec<Node> {
        let in_rows = limited(nodes, &self.rows, Axis::J, shape.rows);
        match self.points.as_ref().zip(shape.points) {
            Some((tiling, points)) => limited(&in_rows, tiling, Axis::I, points),
            None => in_rows,
        }
    }

    /// Bytes that the nodes of one tile touch.
    fn footprint(&self, tree: &Tree, in_tile: &[Node], shape: Shape, ranges: &mut Ranges) -> f64 {
        self.in_the_middle(shape, ranges, |ranges| {
            boxes(tree, in_tile, ranges).iter().map(|it| it.bytes(tree)).sum()
        })
    }

    /// Does something where the variables of tiles stand for one of them in the middle.
    fn in_the_middle<T>(&self, shape: Shape, ranges: &mut Ranges, then: impl FnOnce(&mut Ranges) -> T) -> T {
        let (rows, points) = (names::tile(Axis::J), names::tile(Axis::I));
        let middle = start(&self.rows, ranges) + length(&self.rows, ranges) / 2;
        let outer = ranges.insert(rows.clone(), (middle, middle));
        if let Some((tiling, points_of_tile)) = self.points.as_ref().zip(shape.points) {
            let tiles_before = (length(tiling, ranges) / points_of_tile - 1).max(0) / 2;
            let middle = start(tiling, ranges) + tiles_before * points_of_tile;
            ranges.insert(points.clone(), (middle, middle));
        }
        let answer = then(ranges);
        ranges.remove(&points);
        restore(ranges, &rows, outer);
        answer
    }

    /// The cost of nodes in tiles that fit into the cache.
    fn cost(
        &self,
        tree: &Tree,
        machine: &Machine,
        in_tile: &[Node],
        shape: Shape,
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
        let Some((tiling, points)) = self.points.as_ref().zip(shape.points) else {
            let variable = names::tile(Axis::J);
            let first = start(&self.rows, ranges);
            ranges.insert(variable.clone(), (first, first + n_rows - 1));
            let bytes = traffic(ranges);
            ranges.remove(&variable);
            let of_one = self.in_the_middle(shape, ranges, operations);
            return Cost { bytes, operations: of_one * n_of_rows };
        };
        // The tile beside is long out of the cache, so that what two of them need comes twice; and where a part of a row
        // ends, a processor has asked for the next line, which nobody reads in time.
        let n_tiles = n_of_rows * length(tiling, ranges) as f64 / points as f64;
        let with_lines_beside = 1.0 + least_points(tree, machine, self) as f64 / points as f64;
        let bytes = self.in_the_middle(shape, ranges, traffic) * n_tiles * with_lines_beside;
        let of_one = self.in_the_middle(shape, ranges, operations);
        let starts: f64 =
            self.in_the_middle(shape, ranges, |ranges| in_tile.iter().map(|it| rows_begun(it, ranges)).sum());
        Cost { bytes, operations: (of_one + OPERATIONS_TO_BEGIN * starts) * n_tiles }
    }
}

/// Numbers of rows that are tried, from the least.
const ROWS: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Numbers of points of a row that are tried, from the least: whole vectors of all widths.
const POINTS: [i64; 6] = [8, 16, 32, 64, 128, 256];

/// What it takes to begin a loop over a part of a row, some eight nanoseconds.
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
    let first = value(&it.start, ranges, End::Least);
    let n = (value(&it.end, ranges, End::Greatest) - first).max(0);
    let outer = ranges.insert(it.variable.clone(), (first, first));
    let of_one = inside(it.children.iter().collect(), ranges);
    restore(ranges, &it.variable, outer);
    of_one * n as f64
}

/// As many points as fill a cache line with the smallest elements of what a tile has for itself.
fn least_points(tree: &Tree, machine: &Machine, tiles: &Tiles) -> i64 {
    let bytes = |it: &Handle<Container>| i64::try_from(tree.containers[*it].dtype.size_bytes()).unwrap_or(8);
    // Of flags, which are few, a part of a line will do.
    let smallest = tiles.rows.private.iter().map(bytes).filter(|&it| it > 1).min();
    (machine.line_bytes / smallest.unwrap_or(8)).max(1)
}

fn start(tiling: &Tiling, ranges: &Ranges) -> i64 {
    value(&tiling.range.0, ranges, End::Least)
}

/// Positions from the first tile to the last.
fn length(tiling: &Tiling, ranges: &Ranges) -> i64 {
    (value(&tiling.range.1, ranges, End::Greatest) - start(tiling, ranges)).max(1)
}
