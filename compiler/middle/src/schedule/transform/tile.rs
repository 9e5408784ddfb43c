//! Runs neighbouring nodes tile by tile, each as far beyond a tile as the next ones need.

use std::collections::{BTreeMap, BTreeSet};

use super::contract::contract;
use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::{AccessPaths, Accesses, Counts};
use crate::schedule::analysis::dependence::{Distance, distance};
use crate::schedule::limits::MOST_POSITIONS;
use crate::schedule::nodes::{Container, ContainerKind, Loop, Node, Order, Placement, Tree, Where};
use crate::space::order::{greatest, is_at_most, least};
use crate::space::{Affine, Axis, Size, Symbol, names};

/// The plan of tiling a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Where the first tile starts, and where the last one has to end.
    pub range: (Size, Size),
    /// The loops over the axis, in order.
    pub stages: Vec<Stage>,
    /// Temporaries from which a tile needs only elements that it computes itself.
    pub private: Vec<Handle<Container>>,
}

/// A loop over positions along the axis, inside the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Below the block that is tiled: its first entry counts from the first of the nodes.
    pub path: Path,
    pub start: Size,
    pub end: Size,
    /// How far beyond a tile it runs: `lo <= 0 <= hi`.
    pub lo: i64,
    pub hi: i64,
}

/// The most positions beyond itself that a tile may need.
const MOST_OVERLAP: i64 = 64;

/// Puts a loop over tiles around `count` nodes of the block at `outer`, from `first` on. Limits every loop
/// over `axis` inside to the tile and the positions needed beside it.
///
/// - **Effect**: a tile itself computes the elements of a temporary that it needs beyond itself, again. So
///   tiles do not depend on each other, and may run at the same time.
/// - **Legality**: [`plan`].
/// - **Why**: the elements that a tile computes and reads fit into a cache, which the whole field does not.
///
/// `counts` are those of the whole tree. Returns the arrays that each tile has for itself from now on.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn tile(
    tree: &mut Tree,
    outer: &Path,
    (first, count): (usize, usize),
    axis: Axis,
    size: i64,
    counts: &Counts,
) -> Result<Vec<Handle<Container>>, Refusal> {
    has_size(size)?;
    let block = tree.block(outer).unwrap_or_default();
    let Some(nodes) = block.get(first..first + count) else {
        return Err(Refusal::new("there are no such nodes"));
    };
    let plan = plan(tree, nodes, axis, counts)?;
    let variable = names::tile(axis);
    if is_around(tree, outer, &variable) {
        return Err(Refusal::new(format!("a loop over `{variable}` stands around already")));
    }
    if nodes.iter().any(|it| is_in(it, &variable)) {
        return Err(Refusal::new(format!("a loop over `{variable}` stands inside already")));
    }
    let Some(block) = tree.block_mut(outer) else { return Ok(Vec::new()) };
    let before: Vec<Node> = block[first..first + count].to_vec();
    let mut children: Vec<Node> = block.splice(first..first + count, []).collect();
    // A tile of one position alone is that position: the loops inside go.
    let is_one = size == 1 && plan.stages.iter().all(|it| (it.lo, it.hi) == (0, 0));
    let position = Symbol::new(axis.position_name());
    for stage in plan.stages.iter().rev() {
        if is_one {
            open(&mut children, stage, &plan.range, &position);
        } else {
            limit(&mut children, stage, &variable, &plan.range.0, size);
        }
    }
    let variable = if is_one { position } else { variable };
    let (start, end) = plan.range;
    let (order, placement) = (Order::Parallel, Placement::Sequential);
    let around = Loop { variable, axis, start, end, step: size, order, placement, children };
    block.insert(first, Node::Loop(around));
    // Each tile gets these arrays for itself: another tile computes the same element at another time.
    let owner: Path = outer.iter().copied().chain([first]).collect();
    let uses = AccessPaths::below(tree, &owner);
    let arrays: Vec<_> = plan.private.iter().map(|&it| (it, tree.containers[it].clone())).collect();
    for &container in &plan.private {
        if let Err(refusal) = contract(tree, &owner, container, uses.paths(container)) {
            arrays.into_iter().for_each(|(it, array)| tree.containers[it] = array);
            if let Some(block) = tree.block_mut(outer) {
                block.splice(first..=first, before);
            }
            return Err(refusal);
        }
    }
    let is_new = |(it, array): &(Handle<Container>, Container)| tree.containers[*it].storage != array.storage;
    Ok(arrays.iter().filter(|it| is_new(it)).map(|(it, _)| *it).collect())
}

/// The nodes as a tiling leaves them, below the loop over tiles; arrays are as they were.
#[must_use]
pub(in crate::schedule) fn limited(nodes: &[Node], plan: &Tiling, axis: Axis, size: i64) -> Vec<Node> {
    let mut children = nodes.to_vec();
    for stage in &plan.stages {
        limit(&mut children, stage, &names::tile(axis), &plan.range.0, size);
    }
    children
}

/// The block that holds a loop, by its path below some nodes, and the loop's place in it.
pub(super) fn place_of<'t>(nodes: &'t mut Vec<Node>, path: &Path) -> Option<(&'t mut Vec<Node>, usize)> {
    let (&last, outer) = path.split_last()?;
    let mut block = nodes;
    for &at in outer {
        block = match block.get_mut(at)? {
            Node::Loop(it) => &mut it.children,
            Node::Where(it) => &mut it.children,
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => return None,
        };
    }
    Some((block, last))
}

/// Puts the body of a stage in its place, limited where the stage has not all positions.
fn open(nodes: &mut Vec<Node>, stage: &Stage, range: &(Size, Size), position: &Symbol) {
    let Some((block, at)) = place_of(nodes, &stage.path) else { return };
    let Some(Node::Loop(it)) = block.get_mut(at) else { return };
    let children = std::mem::take(&mut it.children);
    if is_at_most(&it.start, &range.0) && is_at_most(&range.1, &it.end) {
        block.splice(at..=at, children);
    } else {
        let (start, end) = (it.start.clone(), it.end.clone());
        block[at] = Node::Where(Where { variable: position.clone(), start, end, children });
    }
}

/// Limits a loop to a tile.
fn limit(nodes: &mut Vec<Node>, stage: &Stage, tile: &Symbol, first: &Size, size: i64) {
    let Some((block, at)) = place_of(nodes, &stage.path) else { return };
    let Some(Node::Loop(it)) = block.get_mut(at) else { return };
    let beside = |distance: i64| Size::Affine(Affine::beside(tile, distance));
    // No tile starts before the first one: a bound before that start plus the overlap is no limit.
    let earliest = match first {
        Size::Affine(first) => Some(first.clone().moved(stage.lo).into()),
        Size::Min(_) | Size::Max(_) => None,
    };
    let is_within = earliest
        .is_some_and(|it: Size| is_at_most(&it, &stage.start) && is_at_most(&stage.start, &it))
        || is_below_all_tiles(&stage.start, first, stage.lo);
    it.start = if is_within { beside(stage.lo) } else { both(&beside(stage.lo), &stage.start, true) };
    it.end = both(&beside(size + stage.hi), &stage.end, false);
}

/// Whether a tile plus its overlap never starts before `start`.
fn is_below_all_tiles(start: &Size, first: &Size, lo: i64) -> bool {
    match (start, first) {
        (Size::Affine(_), Size::Affine(first)) => is_at_most(start, &first.clone().moved(lo).into()),
        _ => false,
    }
}

/// The greater (or smaller) of a bound of the tile and one of the loop.
fn both(of_tile: &Size, of_loop: &Size, is_start: bool) -> Size {
    if is_start { greatest(of_loop, of_tile) } else { least(of_loop, of_tile) }
}

pub(super) fn is_around(tree: &Tree, path: &Path, variable: &Symbol) -> bool {
    (1..=path.len()).any(|depth| tree.loop_at(&path[..depth]).is_some_and(|it| it.variable == *variable))
}

/// Whether a loop over `variable` stands at a node or in it.
pub(super) fn is_in(node: &Node, variable: &Symbol) -> bool {
    let mut is_inside = false;
    node.walk(&mut |it| is_inside |= matches!(it, Node::Loop(it) if it.variable == *variable));
    is_inside
}

/// Whether a tile may have so many positions.
pub(super) fn has_size(size: i64) -> Result<(), Refusal> {
    match size {
        1..=MOST_POSITIONS => Ok(()),
        ..1 => Err(Refusal::new("a tile has at least one position")),
        _ => Err(Refusal::new(format!("a tile has at most {MOST_POSITIONS} positions"))),
    }
}

/// Finds out how far beyond a tile each loop over `axis` inside the nodes has to run.
///
/// A container that is written here and seen elsewhere is computed once, each element by its own tile. All
/// accesses to it are at the point itself, and none in another tile. A temporary of these nodes alone is
/// computed by each tile that needs it, as far as needed. `counts` are those of the whole tree.
///
/// # Errors
///
/// The reason why tiles would depend on each other.
pub fn plan(tree: &Tree, nodes: &[Node], axis: Axis, counts: &Counts) -> Result<Tiling, Refusal> {
    let position = crate::space::Symbol::new(axis.position_name());
    let found = stages(nodes, &position)?;
    let inside = Accesses::of(nodes).counts();
    let is_own = |container: Handle<Container>| {
        tree.containers[container].kind == ContainerKind::Temporary
            && inside.get(&container) == counts.get(&container)
    };
    let mut uses: Vec<BTreeMap<Handle<Container>, StageUse>> = Vec::new();
    // The stages that write each container.
    let mut written: BTreeMap<Handle<Container>, Vec<usize>> = BTreeMap::new();
    for (at, stage) in found.iter().enumerate() {
        let mut of_stage: BTreeMap<Handle<Container>, StageUse> = BTreeMap::new();
        for touch in Accesses::of(&stage.node.children).iter() {
            let container = touch.access.container;
            if tree.containers[container].shape.is_empty() {
                continue;
            }
            let it = of_stage.entry(container).or_default();
            let along = match distance(touch.access, &position) {
                Distance::Exactly(at) => Some((at, at)),
                Distance::Everywhere => None,
            };
            let known = if touch.role.is_write() { &mut it.writes } else { &mut it.reads };
            *known = Some(match known.take() {
                None => along,
                Some(known) => known.zip(along).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))),
            });
            if touch.role.is_write() {
                let writers = written.entry(container).or_default();
                if writers.last() != Some(&at) {
                    writers.push(at);
                }
            }
        }
        uses.push(of_stage);
    }
    let about = |stage: usize, reason: String| {
        Err(Refusal::new(reason).about(&Node::Loop(found[stage].node.clone())))
    };

    let mut need: Vec<Option<(i64, i64)>> = vec![None; found.len()];
    let mut shared = Vec::new();
    for (at, of_stage) in uses.iter().enumerate() {
        for (&container, it) in of_stage {
            if written.contains_key(&container) && !is_own(container) {
                need[at] = Some((0, 0));
                shared.push((at, container, *it));
            }
        }
    }
    // An element that others see is touched by the tile that it belongs to, and by no other.
    let mut places: BTreeMap<Handle<Container>, (i64, i64)> = BTreeMap::new();
    for &(at, container, it) in &shared {
        for along in [it.reads, it.writes].into_iter().flatten() {
            let name = name_of(&tree.containers[container]);
            let Some((lo, hi)) = along else {
                return about(at, format!("`{name}` is written, and touched by more than one tile"));
            };
            let known = places.entry(container).or_insert((lo, hi));
            *known = (known.0.min(lo), known.1.max(hi));
            if known.0 != known.1 {
                return about(at, format!("`{name}` is written, and touched beside the point"));
            }
        }
    }
    // How far beyond a tile a stage runs, from the stages that need it; in a sweep also from those before it
    // in the text. Each iteration but the last one widens a range. A range that is too wide ends the loop.
    loop {
        let mut is_settled = true;
        for reader in (0..found.len()).rev() {
            let Some((lo, hi)) = need[reader] else { continue };
            for (&container, it) in &uses[reader] {
                let Some(writers) = written.get(&container).filter(|_| is_own(container)) else { continue };
                let Some(reads) = it.reads else { continue };
                for &writer in writers {
                    let comes_before = writer <= reader || are_in_one_sweep(&found, writer, reader);
                    let Some(writes) = uses[writer].get(&container).and_then(|it| it.writes) else {
                        continue;
                    };
                    if !comes_before {
                        continue;
                    }
                    let (Some(reads), Some(writes)) = (reads, writes) else {
                        let name = name_of(&tree.containers[container]);
                        return about(reader, format!("`{name}` is touched by more than one tile"));
                    };
                    let wanted = (lo + reads.0 - writes.1, hi + reads.1 - writes.0);
                    let known = need[writer].unwrap_or((0, 0));
                    let grown = (known.0.min(wanted.0), known.1.max(wanted.1));
                    if need[writer] != Some(grown) {
                        need[writer] = Some(grown);
                        is_settled = false;
                    }
                    if grown.0 < -MOST_OVERLAP || grown.1 > MOST_OVERLAP {
                        let name = name_of(&tree.containers[container]);
                        return about(reader, format!("`{name}` is needed ever farther beside a tile"));
                    }
                }
            }
        }
        if is_settled {
            break;
        }
    }
    for &(at, container, _) in &shared {
        if need[at] != Some((0, 0)) {
            let name = name_of(&tree.containers[container]);
            return about(
                at,
                format!("what is needed beside a tile is computed together with `{name}`, which others see"),
            );
        }
    }
    let sinks: BTreeSet<usize> = shared.iter().map(|(stage, ..)| *stage).collect();
    let range = sinks
        .into_iter()
        .map(|at| &found[at])
        .map(|it| (it.node.start.clone(), it.node.end.clone()))
        .reduce(|a, b| (least(&a.0, &b.0), greatest(&a.1, &b.1)));
    let Some(range) = range else { return Err(Refusal::new("nothing is written that others see")) };
    let stages = found.iter().zip(&need).map(|(it, need)| {
        let (lo, hi) = need.unwrap_or((0, 0));
        Stage { path: it.path.clone(), start: it.node.start.clone(), end: it.node.end.clone(), lo, hi }
    });
    let private = written.into_keys().filter(|&it| is_own(it)).collect();
    Ok(Tiling { range, stages: stages.collect(), private })
}

/// The range along the axis in which a stage reads and writes a container, where that is known.
#[derive(Clone, Copy, Debug, Default)]
struct StageUse {
    reads: Option<Option<(i64, i64)>>,
    writes: Option<Option<(i64, i64)>>,
}

pub(super) struct StageLoop<'t> {
    pub(super) path: Path,
    pub(super) node: &'t Loop,
    /// The sweeps around, by their paths.
    sweeps: Vec<Path>,
}

fn are_in_one_sweep(found: &[StageLoop<'_>], one: usize, other: usize) -> bool {
    found[one].sweeps.iter().any(|it| found[other].sweeps.contains(it))
}

/// The loops over a position inside the nodes.
pub(super) fn stages<'t>(nodes: &'t [Node], position: &Symbol) -> Result<Vec<StageLoop<'t>>, Refusal> {
    let mut found: Vec<StageLoop<'t>> = Vec::new();
    let mut wrong = None;
    collect(nodes, &mut Vec::new(), &mut Vec::new(), position, &mut found, &mut wrong);
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if found.is_empty() {
        return Err(Refusal::new(format!("no loop over `{position}` stands inside")));
    }
    Ok(found)
}

fn collect<'t>(
    nodes: &'t [Node],
    path: &mut Path,
    sweeps: &mut Vec<Path>,
    position: &Symbol,
    found: &mut Vec<StageLoop<'t>>,
    wrong: &mut Option<Refusal>,
) {
    for (at, node) in nodes.iter().enumerate() {
        path.push(at);
        match node {
            Node::Loop(it) if it.variable == *position => {
                if it.order == Order::Parallel {
                    found.push(StageLoop { path: path.clone(), node: it, sweeps: sweeps.clone() });
                } else {
                    let reason = format!("the loop over `{position}` has an order");
                    *wrong = Some(Refusal::new(reason).about(node));
                }
            }
            Node::Loop(it) => {
                let is_sweep = it.order != Order::Parallel;
                if is_sweep {
                    sweeps.push(path.clone());
                }
                if along(position).is_some_and(|axis| {
                    it.step != 1 && it.variable == names::tile(axis) || it.variable == names::front(axis)
                }) {
                    let reason = format!("a loop over `{}` stands inside already", it.variable);
                    *wrong = Some(Refusal::new(reason).about(node));
                }
                collect(&it.children, path, sweeps, position, found, wrong);
                if is_sweep {
                    sweeps.pop();
                }
            }
            Node::Where(it) => collect(&it.children, path, sweeps, position, found, wrong),
            Node::Barrier => {
                *wrong = Some(Refusal::new("a barrier stands inside"));
            }
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) => {
                let reason = format!("a statement stands outside of any loop over `{position}`");
                *wrong = Some(Refusal::new(reason).about(node));
            }
        }
        path.pop();
    }
}

fn along(position: &Symbol) -> Option<Axis> {
    Axis::ALL.into_iter().find(|it| it.position_name() == position.name())
}
