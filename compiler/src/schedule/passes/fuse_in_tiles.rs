//! Runs what shares arrays tile by tile, where that is expected to be faster.

use super::{PassCx, Target, named_at};
use crate::diag::{Origin, StmtId, Traffic};
use crate::schedule::analysis::cost::{
    Cost, End, Machine, Ranges, boxes, bytes_of_block, operations_of, sizes, value,
};
use crate::schedule::analysis::uses::{Counts, counted};
use crate::schedule::document::Pin;
use crate::schedule::nodes::{Loop, Node, Order, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::tile::{Tiling, limited, plan, tile};
use crate::schedule::transform::{Path, Refusal};
use crate::space::{Axis, names};

pub const NAME: &str = "schedule/fuse-in-tiles";

/// Puts a loop over tiles of rows around neighbours that share arrays.
///
/// - **Precondition**: a valid schedule tree; loops are merged as far as they can be, and none is tiled.
/// - **Effect**: groups of the outermost nodes run tile by tile, or the loops over rows inside one loop over
///   levels do; temporaries of a group become as small as a tile. What a tile needs beside itself it computes again.
/// - **Legality**: [`plan`]; a refusal becomes a remark.
/// - **Why**: an array that stays in the cache costs no traffic. Chosen is what [`Cost::time`] expects to be
///   fastest on the target, and nothing where that is the tree as it is.
pub fn fuse_in_tiles(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(machine), .. } = cx.options.clone() else { return };
    // Tiles change which elements are accessed when, and not how often they stand in the text.
    let counts = counted(&tree.children);
    let mut first = 0;
    while first < tree.children.len() {
        first += fuse_from(tree, cx, (&machine, &counts), first);
    }
}

/// Decides about the outermost node at `first`, and those behind it; answers how many nodes are settled.
fn fuse_from(
    tree: &mut Tree,
    cx: &mut PassCx,
    (machine, counts): (&Machine, &Counts),
    first: usize,
) -> usize {
    if let Some(stmt) = pinned(tree, first) {
        cx.missed(format!("{stmt} is kept whole"), tree.children[first].first_origin());
        return 1;
    }
    let (count, tiling, refusal) = largest_group(tree, (machine, counts), first);
    if let Some(refusal) = &refusal {
        let about = tree.children[first + count].first_origin();
        cx.missed(format!("does not run in tiles with what is before it: {refusal}"), about);
    }
    let nodes = &tree.children[first..first + count];
    let apart: Vec<Choice> =
        (first..first + count).map(|at| best_alone(tree, (machine, counts), at)).collect();
    let apart_time: f64 = apart.iter().map(|it| it.cost.time(machine)).sum();
    let tiling = tiling.filter(|_| count > 1);
    let together = tiling.and_then(|tiling| best_size(tree, machine, nodes, &tiling, &mut sizes(machine)));
    if let Some((size, cost)) = together.filter(|(_, cost)| cost.time(machine) < 0.97 * apart_time) {
        let all = Cost {
            bytes: apart.iter().map(|it| it.cost.bytes).sum(),
            operations: apart.iter().map(|it| it.cost.operations).sum(),
        };
        carry_out(tree, cx, (&Path::new(), first, count), (size, counts), all, cost);
        return 1;
    }
    for (at, choice) in apart.into_iter().enumerate() {
        if let Some(size) = choice.size {
            let (outer, inner) = match choice.is_inside {
                true => (vec![first + at], tree.block(&[first + at]).map_or(0, <[Node]>::len)),
                false => (Path::new(), 1),
            };
            let from = if choice.is_inside { 0 } else { first + at };
            carry_out(tree, cx, (&outer, from, inner), (size, counts), choice.as_is, choice.cost);
        }
    }
    count
}

/// Tiles, and tells what that is expected to bring.
fn carry_out(
    tree: &mut Tree,
    cx: &mut PassCx,
    (outer, first, count): (&Path, usize, usize),
    (size, counts): (i64, &Counts),
    before: Cost,
    after: Cost,
) {
    if !cx.may_change() {
        return;
    }
    let place = |at: usize| -> Path { outer.iter().copied().chain([at]).collect() };
    let ends = [first, first + count - 1].map(|at| named_at(tree, cx, &place(at)));
    let origins: Vec<Origin> = tree
        .block(outer)
        .map(|block| block[first..first + count].iter().filter_map(|it| it.first_origin().cloned()).collect())
        .unwrap_or_default();
    match tile(tree, outer, (first, count), Axis::J, size, counts) {
        Ok(own) => {
            if let [Some(first), Some(last)] = ends {
                tree.steps.push(Step::Tile { axis: Axis::J, size, first, last });
            }
            let own: Vec<&str> = own.iter().map(|&it| names::of_stencil(&tree.containers[it].name)).collect();
            let rows = if size == 1 { "row by row".to_owned() } else { format!("in tiles of {size} rows") };
            let own = match own.as_slice() {
                [] => String::new(),
                names => format!(", and each has its own `{}`", names.join("`, `")),
            };
            let traffic = Traffic { before: before.bytes, after: after.bytes };
            cx.remark(true, format!("run {rows}{own}"), &origins, Some(traffic));
        }
        Err(refusal) => cx.missed(format!("do not run in tiles: {refusal}"), &origins),
    }
}

/// A statement of a node that is not to be tiled.
fn pinned(tree: &Tree, at: usize) -> Option<StmtId> {
    let mut found = None;
    if tree.pins.is_empty() {
        return found;
    }
    tree.children[at].walk(&mut |it| {
        let stmt = it.origin().map(|it| it.stmt);
        found = found.or(stmt.filter(|&it| tree.pins.contains(&Pin::Whole(it))));
    });
    found
}

/// The most nodes from `first` on that tiles of rows can hold, how, and why not the next one.
fn largest_group(
    tree: &Tree,
    (machine, counts): (&Machine, &Counts),
    first: usize,
) -> (usize, Option<Tiling>, Option<Refusal>) {
    let (mut count, mut best) = (1, plan(tree, &tree.children[first..=first], Axis::J, counts).ok());
    let mut refusal = None;
    while first + count < tree.children.len() {
        if let Some(stmt) = pinned(tree, first + count) {
            refusal = Some(Refusal::new(format!("{stmt} is kept whole")));
            break;
        }
        let nodes = &tree.children[first..=first + count];
        match plan(tree, nodes, Axis::J, counts) {
            Ok(tiling) if fits(tree, machine, nodes, &tiling) => (count, best) = (count + 1, Some(tiling)),
            Ok(_) => {
                refusal = Some(Refusal::new("one row of all their arrays does not fit into the cache"));
                break;
            }
            Err(why) => {
                refusal = Some(why);
                break;
            }
        }
    }
    (count, best, refusal)
}

fn fits(tree: &Tree, machine: &Machine, nodes: &[Node], tiling: &Tiling) -> bool {
    let one_row = limited(nodes, tiling, Axis::J, 1);
    footprint(tree, &one_row, tiling, &mut sizes(machine)) <= machine.cache_bytes
}

/// What is best for one of the outermost nodes alone.
struct Choice {
    /// Rows in a tile; none where nothing is better than the node as it is.
    size: Option<i64>,
    /// Whether the tiles are inside of the node, a loop over levels.
    is_inside: bool,
    cost: Cost,
    as_is: Cost,
}

fn best_alone(tree: &Tree, (machine, counts): (&Machine, &Counts), at: usize) -> Choice {
    let nodes = std::slice::from_ref(&tree.children[at]);
    let mut ranges = sizes(machine);
    let as_is = Cost {
        bytes: bytes_of_block(tree, nodes, &mut ranges, machine),
        operations: operations_of(&nodes[0], &mut ranges),
    };
    let mut choice = Choice { size: None, is_inside: false, cost: as_is, as_is };
    let Node::Loop(levels) = &nodes[0] else { return choice };
    if levels.axis == Axis::K
        && levels.order == Order::Parallel
        && levels.children.len() > 1
        && let Ok(tiling) = plan(tree, &levels.children, Axis::J, counts)
    {
        let n = iterations(levels, &ranges);
        let middle = value(&levels.start, &ranges, End::Least) + n / 2;
        ranges.insert(levels.variable.clone(), (middle, middle));
        if let Some((size, cost)) = best_size(tree, machine, &levels.children, &tiling, &mut ranges) {
            let n = n as f64;
            let cost = Cost { bytes: cost.bytes * n, operations: cost.operations * n };
            if cost.time(machine) < 0.97 * as_is.time(machine) {
                choice = Choice { size: Some(size), is_inside: true, cost, as_is };
            }
        }
    }
    choice
}

fn iterations(it: &Loop, ranges: &Ranges) -> i64 {
    (value(&it.end, ranges, End::Greatest) - value(&it.start, ranges, End::Least)).max(1)
}

/// Numbers of rows that are tried, from the least.
const SIZES: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The number of rows in a tile for which the nodes are expected to be fastest.
fn best_size(
    tree: &Tree,
    machine: &Machine,
    nodes: &[Node],
    tiling: &Tiling,
    ranges: &mut Ranges,
) -> Option<(i64, Cost)> {
    let rows = rows(tiling, ranges);
    let mut best: Option<(i64, Cost)> = None;
    for size in SIZES.into_iter().take_while(|&size| size == 1 || size <= rows) {
        // Each core has work, and not one of them much more than the others.
        if size > 1 && rows / size < 2 * machine.cores && ranges.len() == 3 {
            break;
        }
        let in_tile = limited(nodes, tiling, Axis::J, size);
        if footprint(tree, &in_tile, tiling, ranges) > machine.cache_bytes {
            break;
        }
        let cost = tiled(tree, &in_tile, tiling, size, ranges);
        if best.is_none_or(|(_, known)| cost.time(machine) < known.time(machine)) {
            best = Some((size, cost));
        }
    }
    best
}

fn rows(tiling: &Tiling, ranges: &Ranges) -> i64 {
    (value(&tiling.range.1, ranges, End::Greatest) - value(&tiling.range.0, ranges, End::Least)).max(1)
}

/// Bytes that the nodes of one tile touch.
fn footprint(tree: &Tree, in_tile: &[Node], tiling: &Tiling, ranges: &mut Ranges) -> f64 {
    let middle = value(&tiling.range.0, ranges, End::Least) + rows(tiling, ranges) / 2;
    let variable = names::tile(Axis::J);
    ranges.insert(variable.clone(), (middle, middle));
    let bytes = boxes(tree, in_tile, ranges).iter().map(|it| it.bytes(tree)).sum();
    ranges.remove(&variable);
    bytes
}

/// The cost of nodes in tiles that fit into the cache.
fn tiled(tree: &Tree, in_tile: &[Node], tiling: &Tiling, size: i64, ranges: &mut Ranges) -> Cost {
    let (n_rows, variable) = (rows(tiling, ranges), names::tile(Axis::J));
    let start = value(&tiling.range.0, ranges, End::Least);
    ranges.insert(variable.clone(), (start, start + n_rows - 1));
    let touched = boxes(tree, in_tile, ranges);
    let bytes = touched
        .iter()
        .filter(|it| !tiling.private.contains(&it.container))
        .map(|it| it.traffic(tree, ranges))
        .sum();
    let middle = start + n_rows / 2;
    ranges.insert(variable.clone(), (middle, middle));
    let of_one: f64 = in_tile.iter().map(|it| operations_of(it, ranges)).sum();
    ranges.remove(&variable);
    Cost { bytes, operations: of_one * n_rows as f64 / size as f64 }
}
