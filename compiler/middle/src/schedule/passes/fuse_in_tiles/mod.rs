//! Runs nodes that share arrays tile by tile or row by row, where that is expected to be faster.

mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use self::shape::{InnerOrder, TileCoverage, TileShape, Tiles};
use super::peel_regions::peel_below;
use super::{PassCx, Target, named};
use crate::diag::{Origin, StmtId, Traffic};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::{Accesses, Counts};
use crate::schedule::analysis::cost::{
    Cost, Machine, RangeEnd, Ranges, boxes, bytes_of_block, operations_of, sizes, value,
};
use crate::schedule::nodes::{Container, ContainerKind, Loop, Node, Order, Tree};
use crate::schedule::step::{LoopRef, Pin, Step};
use crate::schedule::transform::roll::{self, roll, rolled};
use crate::schedule::transform::tile::tile;
use crate::schedule::transform::{Path, Refusal};
use crate::space::order::is_at_most;
use crate::space::{Axis, names};

pub const NAME: &str = "schedule/fuse-in-tiles";

/// Puts a loop over tiles of rows around neighbours that share arrays, or one over the rows themselves.
///
/// - **Precondition**: a valid schedule tree; loops are merged as far as they can be, and none is tiled.
/// - **Effect**: groups of the outermost nodes run tile by tile. Temporaries of a group become as small as a
///   tile. A tile itself computes the values that it needs beside itself. Tiles have whole rows. Where one
///   row of all arrays does not fit into the cache, tiles have parts of rows: whole cache lines, and as long
///   as fits. Turned loops have neighbours across levels. There tiles have whole rows, and their levels run
///   behind a front, split at their limits, or a few at a time. Loops over rows that share arrays inside one
///   loop over levels run row by row. Each runs as far ahead as those behind it need. Where they cannot, they
///   run tile by tile.
/// - **Legality**: [`tile::plan`](crate::schedule::transform::tile::plan), along j and along i, and
///   [`roll::plan`]; a refusal becomes a remark.
/// - **Why**: an array that stays in the cache costs no traffic. The pass chooses the way that [`Cost::time`]
///   expects to be fastest on the target, which may be the tree as it is. Rows that roll compute nothing
///   twice. So they are chosen where they move no more, since elements in the nearest cache are there sooner.
pub fn fuse_in_tiles(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(machine), .. } = cx.options.clone() else { return };
    // Tiles change when elements are accessed, but not how often accesses stand in the text.
    let counts = Accesses::of(&tree.children).counts();
    let (mut first, mut tried) = (0, 0);
    while first < tree.children.len() {
        first += fuse_from(tree, cx, (&machine, &counts), first, &mut tried);
    }
}

/// Decides about the outermost node at `first`, and those behind it. Returns how many nodes are settled.
///
/// Nodes before `tried` were weighed in smaller tiles before.
fn fuse_from(
    tree: &mut Tree,
    cx: &mut PassCx,
    (machine, counts): (&Machine, &Counts),
    first: usize,
    tried: &mut usize,
) -> usize {
    if let Some(stmt) = pinned(tree, first) {
        cx.missed(format!("{stmt} is kept whole"), tree.children[first].first_origin());
        return 1;
    }
    let whole = settled(tree, (machine, counts), first, tree.children.len());
    let mut refusal = whole.refusal.as_ref().map(ToString::to_string);
    let part = if cx.options.is_turned { TileCoverage::Levels } else { TileCoverage::Points };
    if (whole.is_full || part == TileCoverage::Levels) && first >= *tried {
        match in_smaller(tree, (machine, counts), first, &whole, part) {
            Ok(it) => {
                tell_refusal(tree, cx, first + it.count, it.refusal.as_ref());
                let place = (&Path::new(), first, it.count);
                carry_out(tree, cx, place, (it.shape, counts), it.apart, it.cost);
                return 1;
            }
            Err((why, until)) => {
                *tried = until;
                let parts = part.in_words();
                refusal = refusal.map(|it| format!("{it}, and {parts} will not do: {why}"));
            }
        }
    }
    tell_refusal(tree, cx, first + whole.count, refusal.as_ref());
    let all = whole.apart_cost();
    if let Some((shape, cost)) = whole.together {
        carry_out(tree, cx, (&Path::new(), first, whole.count), (shape, counts), all, cost);
        return 1;
    }
    for (at, choice) in whole.apart.into_iter().enumerate() {
        let outer = vec![first + at];
        let inner = tree.block(&outer).map_or(0, <[Node]>::len);
        match choice.how {
            RowSchedule::AsItIs => {}
            RowSchedule::Rows(runs) => {
                // From the last, so that the places of those before stay.
                for it in runs.into_iter().rev() {
                    carry_out_rows(tree, cx, (&outer, it.first, it.count), it.before, it.after);
                }
            }
            RowSchedule::Tiles(shape) => {
                carry_out(tree, cx, (&outer, 0, inner), (shape, counts), choice.as_is, choice.cost)
            }
        }
    }
    whole.count
}

fn tell_refusal(tree: &Tree, cx: &mut PassCx, at: usize, refusal: Option<&impl std::fmt::Display>) {
    if let Some((refusal, node)) = refusal.zip(tree.children.get(at)) {
        cx.missed(format!("does not run in tiles with what is before it: {refusal}"), node.first_origin());
    }
}

/// The best way for some of the outermost nodes in tiles of whole rows.
struct RowTilePlan {
    count: usize,
    /// In one group, where that is faster than each by itself.
    together: Option<(TileShape, Cost)>,
    apart: Vec<NodePlan>,
    /// Why the next node is not one of them.
    refusal: Option<Refusal>,
    /// Whether the reason is that the cache is full.
    is_full: bool,
}

impl RowTilePlan {
    /// The cost of the nodes, each by itself.
    fn apart_cost(&self) -> Cost {
        sum(self.apart.iter().map(|it| it.cost))
    }

    fn cost(&self) -> Cost {
        self.together.map_or_else(|| self.apart_cost(), |(_, cost)| cost)
    }

    fn time(&self, machine: &Machine) -> f64 {
        self.together.map_or_else(|| self.apart_time(machine), |(_, cost)| cost.time(machine))
    }

    fn apart_time(&self, machine: &Machine) -> f64 {
        self.apart.iter().map(|it| it.cost.time(machine)).sum()
    }
}

fn sum(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.fold(Cost::default(), |one, other| Cost {
        bytes: one.bytes + other.bytes,
        operations: one.operations + other.operations,
    })
}

/// Finds the best way for the outermost node at `first` and those behind it, before the one at `end`.
fn settled(tree: &Tree, (machine, counts): (&Machine, &Counts), first: usize, end: usize) -> RowTilePlan {
    let Group { count, tiles, refusal, is_full } =
        largest_group(tree, (machine, counts), first, end, TileCoverage::Rows);
    let nodes = &tree.children[first..first + count];
    let apart = (first..first + count).map(|at| best_alone(tree, (machine, counts), at)).collect();
    let mut settled = RowTilePlan { count, together: None, apart, refusal, is_full };
    let together =
        tiles.filter(|_| count > 1).and_then(|it| it.best(tree, machine, nodes, &mut sizes(machine)));
    settled.together = together.filter(|(_, cost)| cost.time(machine) < 0.97 * settled.apart_time(machine));
    settled
}

/// Nodes that run in smaller tiles.
struct SmallTilePlan {
    count: usize,
    shape: TileShape,
    cost: Cost,
    /// Their cost in tiles of whole rows.
    apart: Cost,
    /// Why the next node is not one of them.
    refusal: Option<Refusal>,
}

/// Finds smaller tiles that hold more nodes than tiles of whole rows on all levels. Tiles of levels may also
/// hold as many nodes, since they take less where rows are computed again.
///
/// # Errors
///
/// The reason why not, and the place of the first node that is worth another try.
fn in_smaller(
    tree: &Tree,
    (machine, counts): (&Machine, &Counts),
    first: usize,
    whole: &RowTilePlan,
    part: TileCoverage,
) -> Result<SmallTilePlan, (String, usize)> {
    let Group { count, tiles, refusal, .. } =
        largest_group(tree, (machine, counts), first, tree.children.len(), part);
    let end = first + count;
    if count < whole.count || count == whole.count && (part == TileCoverage::Points || count == 1) {
        return Err((refusal.map_or_else(String::new, |it| it.reason), first + whole.count));
    }
    let nodes = &tree.children[first..end];
    let best = tiles.and_then(|it| it.best(tree, machine, nodes, &mut sizes(machine)));
    let Some((shape, cost)) = best else { return Err(("rows are short".to_owned(), end)) };
    let (mut apart, mut time, mut at) = (Cost::default(), 0.0, first);
    while at < end {
        let it = settled(tree, (machine, counts), at, end);
        apart = sum([apart, it.cost()].into_iter());
        time += it.time(machine);
        at += it.count;
    }
    if shape.time(cost, machine) >= 0.97 * time {
        return Err(("they are not expected to be faster".to_owned(), end));
    }
    Ok(SmallTilePlan { count, shape, cost, apart, refusal })
}

/// Runs nodes row by row, and remarks the expected gain.
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
    let (_, origins) = about(tree, cx, (outer, first, count));
    match behind_front(tree, cx, (outer, first, count), Axis::J) {
        Ok(()) => {
            let traffic = Traffic { before: before.bytes, after: after.bytes };
            let message = "run row by row, each as far ahead as those behind it need";
            cx.remark(true, message.to_owned(), &origins, Some(traffic));
        }
        Err(refusal) => cx.missed(format!("do not run row by row: {refusal}"), &origins),
    }
}

/// Puts a loop over a front around nodes.
fn behind_front(
    tree: &mut Tree,
    cx: &PassCx,
    (outer, first, count): (&Path, usize, usize),
    axis: Axis,
) -> Result<(), Refusal> {
    let (ends, _) = about(tree, cx, (outer, first, count));
    roll(tree, outer, (first, count), axis)?;
    if let [Some(first), Some(last)] = ends {
        tree.steps.push(Step::Roll { axis, first, last });
    }
    Ok(())
}

/// The names of the first and the last of some nodes, where steps are kept. Then the first statement of each
/// node.
fn about(
    tree: &Tree,
    cx: &PassCx,
    (outer, first, count): (&Path, usize, usize),
) -> ([Option<LoopRef>; 2], Vec<Origin>) {
    let ends = [first, first + count - 1].map(|at| named(tree, cx, outer, at));
    let nodes = tree.block(outer).and_then(|it| it.get(first..first + count)).unwrap_or_default();
    (ends, nodes.iter().filter_map(|it| it.first_origin().cloned()).collect())
}

/// Tiles nodes, and remarks the expected gain.
fn carry_out(
    tree: &mut Tree,
    cx: &mut PassCx,
    place: (&Path, usize, usize),
    (shape, counts): (TileShape, &Counts),
    before: Cost,
    after: Cost,
) {
    if !cx.may_change() {
        return;
    }
    let (_, origins) = about(tree, cx, place);
    match in_tiles(tree, cx, place, shape, counts) {
        Ok(own) => {
            let own: Vec<&str> = own.iter().map(|&it| names::of_stencil(&tree.containers[it].name)).collect();
            let own = match own.as_slice() {
                [] => String::new(),
                names => format!(", and each has its own `{}`", names.join("`, `")),
            };
            let traffic = Traffic { before: before.bytes, after: after.bytes };
            cx.remark(true, format!("run {}{own}", shape.in_words()), &origins, Some(traffic));
        }
        Err(refusal) => cx.missed(format!("do not run in tiles: {refusal}"), &origins),
    }
}

/// Puts loops over tiles around nodes. Returns the arrays that each tile has for itself from now on.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
fn in_tiles(
    tree: &mut Tree,
    cx: &mut PassCx,
    (outer, first, count): (&Path, usize, usize),
    shape: TileShape,
    counts: &Counts,
) -> Result<BTreeSet<Handle<Container>>, Refusal> {
    let before = (shape.within != InnerOrder::AsTheyStand).then(|| tree.clone());
    let mut own = BTreeSet::new();
    own.extend(along(tree, cx, (outer, first, count), (Axis::J, shape.rows), counts)?);
    let inside: Path = outer.iter().copied().chain([first]).collect();
    if let (InnerOrder::Front, Some(machine)) = (shape.within, cx.options.machine.clone()) {
        // The pieces of a loop are stages of the front, each at its levels.
        peel_below(tree, cx, &inside, (&machine, Axis::K));
    }
    let n = tree.block(&inside).map_or(0, <[Node]>::len);
    let done = match shape.within {
        InnerOrder::AsTheyStand => Ok(Vec::new()),
        InnerOrder::Tiles(axis, size) => along(tree, cx, (&inside, 0, n), (axis, size), counts),
        InnerOrder::Front => behind_front(tree, cx, (&inside, 0, n), Axis::K).map(|()| Vec::new()),
    };
    match (done, before) {
        (Ok(arrays), _) => own.extend(arrays),
        (Err(refusal), before) => {
            before.into_iter().for_each(|it| *tree = it);
            return Err(refusal);
        }
    }
    Ok(own)
}

/// Puts a loop over tiles along an axis around nodes.
fn along(
    tree: &mut Tree,
    cx: &PassCx,
    (outer, first, count): (&Path, usize, usize),
    (axis, size): (Axis, i64),
    counts: &Counts,
) -> Result<Vec<Handle<Container>>, Refusal> {
    let (ends, _) = about(tree, cx, (outer, first, count));
    let own = tile(tree, outer, (first, count), axis, size, counts)?;
    if let [Some(first), Some(last)] = ends {
        tree.steps.push(Step::Tile { axis, size, first, last });
    }
    Ok(own)
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

/// Neighbours of the outermost nodes that tiles can hold.
struct Group {
    count: usize,
    tiles: Option<Tiles>,
    /// Why the next node is not one of them, where there is one.
    refusal: Option<Refusal>,
    /// Whether the reason is that the cache is full.
    is_full: bool,
}

/// The most nodes from `first` on, before the one at `end`, that tiles can hold.
///
/// Values that a node computes for a later one are seen outside of the group until that one is in it too. So
/// a few more nodes are tried behind a refusal.
fn largest_group(
    tree: &Tree,
    (machine, counts): (&Machine, &Counts),
    first: usize,
    end: usize,
    part: TileCoverage,
) -> Group {
    let alone = Tiles::of(tree, &tree.children[first..=first], counts, part).ok();
    let mut group = Group { count: 1, tiles: alone, refusal: None, is_full: false };
    let mut count = 1;
    while first + count < end && count <= group.count + FURTHER {
        if let Some(stmt) = pinned(tree, first + count) {
            let why = || Refusal::new(format!("{stmt} is kept whole"));
            group.refusal.get_or_insert_with(why);
            break;
        }
        let nodes = &tree.children[first..=first + count];
        match Tiles::of(tree, nodes, counts, part) {
            Ok(tiles) if tiles.fit(tree, machine, nodes) => {
                group = Group { count: count + 1, tiles: Some(tiles), refusal: None, is_full: false };
            }
            Ok(_) => {
                let what = match part {
                    TileCoverage::Rows => "one row",
                    TileCoverage::Points => "one line",
                    TileCoverage::Levels => "one row of one level",
                };
                let reason = format!("{what} of all their arrays does not fit into the cache");
                (group.refusal, group.is_full) = (Some(Refusal::new(reason)), true);
                break;
            }
            Err(why) => drop(group.refusal.get_or_insert(why)),
        }
        count += 1;
    }
    group
}

/// The number of nodes behind a refused one that are tried with it.
const FURTHER: usize = 8;

/// The best way for one of the outermost nodes alone.
struct NodePlan {
    how: RowSchedule,
    cost: Cost,
    as_is: Cost,
}

/// How the loops over rows inside of a loop over levels run.
enum RowSchedule {
    AsItIs,
    /// Row by row: each of these runs by itself.
    Rows(Vec<RowRun>),
    Tiles(TileShape),
}

/// Neighbours inside of a loop over levels that run row by row.
struct RowRun {
    first: usize,
    count: usize,
    before: Cost,
    after: Cost,
}

/// The most rows of a loop that stays out of a front. A tile has dozens of such loops around its corners. In a front,
/// each of them tests every row.
const FEW_ROWS: i64 = 8;

fn has_few_rows(node: &Node) -> bool {
    match node {
        Node::Loop(it) => it.axis == Axis::J && is_at_most(&it.end, &it.start.moved(FEW_ROWS)),
        _ => false,
    }
}

/// The runs of nodes between those with few rows, as the first and the number of each.
fn runs_of_rows(nodes: &[Node]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in nodes.iter().enumerate().filter(|it| !has_few_rows(it.1)) {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == at => *count += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

fn best_alone(tree: &Tree, (machine, counts): (&Machine, &Counts), at: usize) -> NodePlan {
    let nodes = std::slice::from_ref(&tree.children[at]);
    let mut ranges = sizes(machine);
    let as_is = Cost {
        bytes: bytes_of_block(tree, nodes, &mut ranges, machine),
        operations: operations_of(&nodes[0], &mut ranges),
    };
    let mut choice = NodePlan { how: RowSchedule::AsItIs, cost: as_is, as_is };
    let Node::Loop(levels) = &nodes[0] else { return choice };
    if levels.axis != Axis::K || levels.order != Order::Parallel || levels.children.len() < 2 {
        return choice;
    }
    if let Some(runs) = in_rows(tree, (machine, counts), levels, as_is) {
        let saved: f64 = runs.iter().map(|it| it.before.bytes - it.after.bytes).sum();
        let cost = Cost { bytes: as_is.bytes - saved, operations: as_is.operations };
        choice = NodePlan { how: RowSchedule::Rows(runs), cost, as_is };
    }
    let n = iterations(levels, &ranges);
    let middle = value(&levels.start, &ranges, RangeEnd::Least) + n / 2;
    ranges.insert(levels.variable.clone(), (middle, middle));
    if let Ok(tiles) = Tiles::of(tree, &levels.children, counts, TileCoverage::Rows)
        && let Some((shape, cost)) = tiles.best(tree, machine, &levels.children, &mut ranges)
    {
        let n = n as f64;
        let cost = Cost { bytes: cost.bytes * n, operations: cost.operations * n };
        if cost.time(machine) < 0.97 * choice.cost.time(machine) {
            choice = NodePlan { how: RowSchedule::Tiles(shape), cost, as_is };
        }
    }
    choice
}

/// The runs of loops over rows that are worth running row by row, inside of a loop over levels; none where no run is.
/// `whole` is the cost of all of them as they stand.
fn in_rows(
    tree: &Tree,
    (machine, counts): (&Machine, &Counts),
    levels: &Loop,
    whole: Cost,
) -> Option<Vec<RowRun>> {
    let all = runs_of_rows(&levels.children);
    let is_all = all == [(0, levels.children.len())];
    let of_run = |(first, count): (usize, usize)| {
        let nodes = levels.children.get(first..first + count)?;
        if count < 2 || !share_arrays(tree, nodes) {
            return None;
        }
        let rolling = roll::plan(tree, nodes, Axis::J).ok()?;
        let before = if is_all {
            whole
        } else {
            let alone = [Node::Loop(Loop { children: nodes.to_vec(), ..levels.clone() })];
            let mut ranges = sizes(machine);
            Cost {
                bytes: bytes_of_block(tree, &alone, &mut ranges, machine),
                operations: operations_of(&alone[0], &mut ranges),
            }
        };
        // Stages compute nothing twice, so only the traffic differs.
        let bytes = bytes_in_rows(tree, (machine, counts), levels, rolled(nodes.to_vec(), &rolling, Axis::J));
        let after = Cost { bytes, operations: before.operations };
        (after.time(machine) <= before.time(machine)).then_some(RowRun { first, count, before, after })
    };
    let runs: Vec<RowRun> = all.into_iter().filter_map(of_run).collect();
    (!runs.is_empty()).then_some(runs)
}

/// Bytes that loops over rows move if they run row by row inside of the loop over levels around.
fn bytes_in_rows(tree: &Tree, (machine, counts): (&Machine, &Counts), levels: &Loop, in_rows: Loop) -> f64 {
    let mut ranges = sizes(machine);
    let start = value(&levels.start, &ranges, RangeEnd::Least);
    let last = start + iterations(levels, &ranges) - 1;
    let first = value(&in_rows.start, &ranges, RangeEnd::Least);
    let end = value(&in_rows.end, &ranges, RangeEnd::Greatest) - 1;
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
    // The rows needed of an array that nobody outside sees stay in the cache.
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
    (value(&it.end, ranges, RangeEnd::Greatest) - value(&it.start, ranges, RangeEnd::Least)).max(1)
}
