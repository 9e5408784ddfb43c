//! Runs what shares arrays tile by tile or row by row, where that is expected to be faster.

use std::collections::BTreeSet;

use super::{PassCx, Target, named};
use crate::diag::{Origin, StmtId, Traffic};
use crate::schedule::analysis::accesses::{Accesses, Counts};
use crate::schedule::analysis::cost::{
    Cost, End, Machine, Ranges, boxes, bytes_of_block, operations_of, sizes, value,
};
use crate::schedule::nodes::{ContainerKind, Loop, Node, Order, Tree};
use crate::schedule::step::{LoopRef, Pin, Step};
use crate::schedule::transform::roll::{self, roll, rolled};
use crate::schedule::transform::tile::{Tiling, limited, plan, tile};
use crate::schedule::transform::{Path, Refusal};
use crate::space::{Axis, names};

pub const NAME: &str = "schedule/fuse-in-tiles";

/// Puts a loop over tiles of rows around neighbours that share arrays, or one over the rows themselves.
///
/// - **Precondition**: a valid schedule tree; loops are merged as far as they can be, and none is tiled.
/// - **Effect**: groups of the outermost nodes run tile by tile; temporaries of a group become as small as a tile, and
///   what a tile needs beside itself it computes again. The loops over rows inside one loop over levels run row by
///   row, each as far ahead as those behind it need, where they share arrays; where they cannot, tile by tile.
/// - **Legality**: [`tile::plan`](plan) and [`roll::plan`]; a refusal becomes a remark.
/// - **Why**: an array that stays in the cache costs no traffic. Chosen is what [`Cost::time`] expects to be
///   fastest on the target, and nothing where that is the tree as it is; rows that roll compute nothing twice, so
///   they are chosen where they move no more, for what the nearest cache has is there sooner.
pub fn fuse_in_tiles(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(machine), .. } = cx.options.clone() else { return };
    // Tiles change which elements are accessed when, and not how often they stand in the text.
    let counts = Accesses::of(&tree.children).counts();
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
        let inner = tree.block(&[first + at]).map_or(0, <[Node]>::len);
        let place = (&vec![first + at], 0, inner);
        match choice.how {
            How::AsItIs => {}
            How::Rows => carry_out_rows(tree, cx, place, choice.as_is, choice.cost),
            How::Tiles(size) => carry_out(tree, cx, place, (size, counts), choice.as_is, choice.cost),
        }
    }
    count
}

/// Runs nodes row by row, and tells what that is expected to bring.
fn carry_out_rows(
    tree: &mut Tree,
    cx: &mut PassCx,
    (outer, first, count): (&Path, usize, usize),
    before: Cost,
    after: Cost,
) {
    if !cx.may_change() {
        return;
    }
    let (ends, origins) = about(tree, cx, (outer, first, count));
    match roll(tree, outer, (first, count), Axis::J) {
        Ok(()) => {
            if let [Some(first), Some(last)] = ends {
                tree.steps.push(Step::Roll { axis: Axis::J, first, last });
            }
            let traffic = Traffic { before: before.bytes, after: after.bytes };
            let message = "run row by row, each as far ahead as those behind it need";
            cx.remark(true, message.to_owned(), &origins, Some(traffic));
        }
        Err(refusal) => cx.missed(format!("do not run row by row: {refusal}"), &origins),
    }
}

/// The names of the first and the last of some nodes, where steps are kept, and the first statement of each.
fn about(
    tree: &Tree,
    cx: &PassCx,
    (outer, first, count): (&Path, usize, usize),
) -> ([Option<LoopRef>; 2], Vec<Origin>) {
    let ends = [first, first + count - 1].map(|at| named(tree, cx, outer, at));
    let nodes = tree.block(outer).and_then(|it| it.get(first..first + count)).unwrap_or_default();
    (ends, nodes.iter().filter_map(|it| it.first_origin().cloned()).collect())
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
    let (ends, origins) = about(tree, cx, (outer, first, count));
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
    how: How,
    cost: Cost,
    as_is: Cost,
}

/// How the loops over rows inside of a loop over levels run.
enum How {
    AsItIs,
    /// Row by row.
    Rows,
    /// In tiles of so many rows.
    Tiles(i64),
}

fn best_alone(tree: &Tree, (machine, counts): (&Machine, &Counts), at: usize) -> Choice {
    let nodes = std::slice::from_ref(&tree.children[at]);
    let mut ranges = sizes(machine);
    let as_is = Cost {
        bytes: bytes_of_block(tree, nodes, &mut ranges, machine),
        operations: operations_of(&nodes[0], &mut ranges),
    };
    let mut choice = Choice { how: How::AsItIs, cost: as_is, as_is };
    let Node::Loop(levels) = &nodes[0] else { return choice };
    if levels.axis != Axis::K || levels.order != Order::Parallel || levels.children.len() < 2 {
        return choice;
    }
    if share_arrays(tree, &levels.children)
        && let Ok(rolling) = roll::plan(tree, &levels.children, Axis::J)
    {
        let in_rows = rolled(levels.children.clone(), &rolling, Axis::J);
        // What a stage computes it computes once, so only the traffic is another.
        let bytes = bytes_in_rows(tree, (machine, counts), levels, in_rows);
        let cost = Cost { bytes, operations: as_is.operations };
        if cost.time(machine) <= as_is.time(machine) {
            choice = Choice { how: How::Rows, cost, as_is };
        }
    }
    let n = iterations(levels, &ranges);
    let middle = value(&levels.start, &ranges, End::Least) + n / 2;
    ranges.insert(levels.variable.clone(), (middle, middle));
    if let Ok(tiling) = plan(tree, &levels.children, Axis::J, counts)
        && let Some((size, cost)) = best_size(tree, machine, &levels.children, &tiling, &mut ranges)
    {
        let n = n as f64;
        let cost = Cost { bytes: cost.bytes * n, operations: cost.operations * n };
        if cost.time(machine) < 0.97 * choice.cost.time(machine) {
            choice = Choice { how: How::Tiles(size), cost, as_is };
        }
    }
    choice
}

/// Bytes that loops over rows move that run row by row inside of the loop over levels around.
fn bytes_in_rows(tree: &Tree, (machine, counts): (&Machine, &Counts), levels: &Loop, in_rows: Loop) -> f64 {
    let mut ranges = sizes(machine);
    let start = value(&levels.start, &ranges, End::Least);
    let last = start + iterations(levels, &ranges) - 1;
    let first = value(&in_rows.start, &ranges, End::Least);
    let end = value(&in_rows.end, &ranges, End::Greatest) - 1;
    let middle = (first + end) / 2;
    ranges.insert(levels.variable.clone(), (start, start));
    ranges.insert(in_rows.variable.clone(), (middle, middle));
    let of_one: f64 = boxes(tree, &in_rows.children, &mut ranges).iter().map(|it| it.bytes(tree)).sum();
    if of_one > machine.cache_bytes {
        ranges = sizes(machine);
        let node = Node::Loop(Loop { children: vec![Node::Loop(in_rows)], ..levels.clone() });
        return bytes_of_block(tree, &[node], &mut ranges, machine);
    }
    ranges.insert(levels.variable.clone(), (start, last));
    ranges.insert(in_rows.variable.clone(), (first, end));
    // Of what nobody else sees, the rows that are needed stay in the cache.
    let inside = Accesses::of(&in_rows.children).counts();
    let is_own = |container| {
        tree.containers[container].kind == ContainerKind::Temporary
            && inside.get(&container) == counts.get(&container)
    };
    let touched = boxes(tree, &in_rows.children, &mut ranges);
    touched.iter().filter(|it| !is_own(it.container)).map(|it| it.traffic(tree, &ranges)).sum()
}

/// Whether some temporary is touched by several of the nodes.
fn share_arrays(tree: &Tree, nodes: &[Node]) -> bool {
    let mut seen = BTreeSet::new();
    nodes.iter().any(|node| {
        let own: BTreeSet<_> = Accesses::of(std::slice::from_ref(node)).counts().into_keys().collect();
        let is_shared = own.iter().any(|&it| {
            let container = &tree.containers[it];
            !container.shape.is_empty() && container.kind == ContainerKind::Temporary && seen.contains(&it)
        });
        seen.extend(own);
        is_shared
    })
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
