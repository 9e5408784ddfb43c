//! The shapes that loops can have as launches: each is a few steps, and legal where these are.

use crate::entity::Handle;
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::nodes::{Container, Node, Order, Tree};
use crate::schedule::step::{LoopRef, Ranges, Step};
use crate::schedule::transform::{Path, Refusal};
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, Size, Symbol, names};

pub(super) fn reference(tree: &Tree, path: &Path) -> Result<LoopRef, Refusal> {
    LoopRef::of(tree, path).ok_or_else(|| Refusal::new("a loop holds no statement"))
}

/// Tiles the nodes of a block along an axis.
fn tile(
    tree: &mut Tree,
    outer: &Path,
    (first, count): (usize, usize),
    axis: Axis,
    size: i64,
) -> Result<(), Refusal> {
    let at = |at: usize| outer.iter().copied().chain([at]).collect::<Path>();
    let (one, other) = (reference(tree, &at(first))?, reference(tree, &at(first + count - 1))?);
    Step::Tile { axis, size, first: one, last: other }.apply(tree)
}

/// Puts nodes that touch nothing beside their column into one loop over columns:
/// `j { i_tile { i { k .. } } }`.
pub(super) fn columns(tree: &mut Tree, (first, count): (usize, usize), threads: i64) -> Result<(), Refusal> {
    if first + count > tree.children.len() {
        return Err(Refusal::new("nothing follows"));
    }
    tile(tree, &Path::new(), (first, count), Axis::J, 1)?;
    let n = tree.block(&[first]).map_or(0, <[Node]>::len);
    tile(tree, &vec![first], (0, n), Axis::I, 1)?;
    let is_column = |path: &[usize], axis: Axis| {
        tree.loop_at(path).is_some_and(|it| it.variable.name() == axis.position_name())
    };
    if !is_column(&[first], Axis::J) || !is_column(&[first, 0], Axis::I) {
        return Err(Refusal::new("something is read beside the column"));
    }
    Step::Cut { at: reference(tree, &vec![first, 0])?, size: threads }.apply(tree)
}

/// Merges neighbouring loops over levels of a column where they have levels in common and may be merged. Cuts
/// the merged loop where one of them starts or ends.
pub(super) fn join_levels(tree: &mut Tree, column: &Path) -> Result<(), Refusal> {
    let inside = |at: usize| column.iter().copied().chain([at]).collect::<Path>();
    let mut at = 0;
    let mut joined = false;
    while let Some(next) = tree.loop_at(&inside(at + 1)) {
        let overlaps = tree
            .loop_at(&inside(at))
            .is_some_and(|it| !is_at_most(&it.end, &next.start) && !is_at_most(&next.end, &it.start));
        let mut merged = false;
        if overlaps {
            let (first, second) = (reference(tree, &inside(at))?, reference(tree, &inside(at + 1))?);
            merged = Step::Merge { first, second, ranges: Ranges::Limited }.apply(tree).is_ok();
        }
        joined |= merged;
        if !merged {
            cut_levels(tree, column, &mut at)?;
        }
    }
    cut_levels(tree, column, &mut at)?;
    if joined { Ok(()) } else { Err(Refusal::new("no levels are done several times")) }
}

/// Merges the next outermost loop over levels into the one at `at`, which has no order. Each body is limited
/// to its own levels.
pub(super) fn merge_levels(tree: &mut Tree, at: usize) -> Result<(), Refusal> {
    let is_parallel = tree.loop_at(&[at]).is_some_and(|it| it.order == Order::Parallel);
    if !is_parallel {
        return Err(Refusal::new("its levels have an order"));
    }
    let (first, second) = (reference(tree, &vec![at])?, reference(tree, &vec![at + 1])?);
    Step::Merge { first, second, ranges: Ranges::Inside }.apply(tree)
}

/// Merges neighbours of the same range below the node at `path`, where that is legal.
pub(super) fn merge_inside(tree: &mut Tree, path: &Path) {
    let inside = |at: usize| path.iter().copied().chain([at]).collect::<Path>();
    let mut at = 0;
    while tree.node(&inside(at)).is_some() {
        let merged = tree.loop_at(&inside(at)).is_some()
            && tree.loop_at(&inside(at + 1)).is_some()
            && reference(tree, &inside(at))
                .and_then(|first| Ok((first, reference(tree, &inside(at + 1))?)))
                .and_then(|(first, second)| Step::Merge { first, second, ranges: Ranges::Equal }.apply(tree))
                .is_ok();
        if !merged {
            if tree.loop_at(&inside(at)).is_some() {
                merge_inside(tree, &inside(at));
            }
            at += 1;
        }
    }
}

/// Lets each loop over levels of a column that only reads an array compute it again. Returns whether there is
/// such a loop.
pub(super) fn repeat_values(
    tree: &mut Tree,
    column: &Path,
    container: Handle<Container>,
) -> Result<bool, Refusal> {
    let name = tree.containers[container].name.clone();
    let mut is_one = false;
    for at in 0..tree.block(column).map_or(0, <[Node]>::len) {
        let path: Path = column.iter().copied().chain([at]).collect();
        let Some(it) = tree.loop_at(&path) else { continue };
        let all = Accesses::of(&it.children);
        if all.has_read_of(container) && !all.has_write_of(container) {
            let owner = reference(tree, &path)?;
            Step::Repeat { container: name.clone(), owner }.apply(tree)?;
            is_one = true;
        }
    }
    Ok(is_one)
}

/// A loop over levels whose limits have more bounds than this stays whole.
const MOST_CUTS: usize = 4;

/// Cuts a loop over levels with an order at the limits inside, so that none is left. `at` becomes the place
/// behind it.
fn cut_levels(tree: &mut Tree, column: &Path, at: &mut usize) -> Result<(), Refusal> {
    let inside = |at: usize| column.iter().copied().chain([at]).collect::<Path>();
    let mut bounds: Vec<(i64, i64, Affine)> = Vec::new();
    if let Some(it) = tree.loop_at(&inside(*at)).filter(|it| it.order != Order::Parallel) {
        let levels = Symbol::new(Axis::K.name());
        for node in &it.children {
            let Node::Where(limit) = node else { continue };
            for bound in [&limit.start, &limit.end] {
                if let Size::Affine(sum) = bound
                    && *bound != it.start
                    && *bound != it.end
                {
                    bounds.push((sum.factor(&levels), sum.offset(), sum.clone()));
                }
            }
        }
        bounds.sort();
        bounds.dedup();
        if it.order == Order::Descending {
            bounds.reverse();
        }
    }
    if bounds.len() <= MOST_CUTS {
        for (_, _, position) in bounds {
            Step::Split { at: reference(tree, &inside(*at))?, position }.apply(tree)?;
            *at += 1;
        }
    }
    *at += 1;
    Ok(())
}

/// Gives each stage in a loop over levels a loop over rows of its own.
fn separate(tree: &mut Tree, at: usize) -> Result<(), Refusal> {
    let mut stage = 0;
    while let Some(node) = tree.node(&[at, stage]) {
        let Node::Loop(rows) = node else {
            return Err(Refusal::new("a statement stands outside of any loop over rows"));
        };
        if rows.children.len() > 1 {
            let path = vec![at, stage];
            let before = reference(tree, &vec![at, stage, 1])?;
            Step::Distribute { at: reference(tree, &path)?, before }.apply(tree)?;
        }
        stage += 1;
    }
    Ok(())
}

/// Whether each level may belong to a block of its own: all arrays that are written there have an axis K.
fn may_spread_levels(tree: &Tree, at: usize) -> bool {
    let Some(Node::Loop(levels)) = tree.children.get(at) else { return false };
    let all = Accesses::of(&levels.children);
    levels.order == Order::Parallel
        && all.iter().filter(|it| it.role.is_write()).all(|it| {
            let container = &tree.containers[it.access.container];
            container.shape.is_empty() || container.axes.has(Axis::K)
        })
}

/// Runs the stages of a loop over levels tile by tile: `k_tile { j_tile { i_tile { k { j { i } .. } } } }`.
pub(super) fn tiles(tree: &mut Tree, at: usize, [rows, columns, levels]: [i64; 3]) -> Result<(), Refusal> {
    separate(tree, at)?;
    let (outer, nodes) = if !may_spread_levels(tree, at) {
        (Path::new(), (at, 1))
    } else if levels > 1 {
        Step::Cut { at: reference(tree, &vec![at])?, size: levels }.apply(tree)?;
        (vec![at], (0, 1))
    } else {
        (vec![at], (0, tree.block(&[at]).map_or(0, <[Node]>::len)))
    };
    tile(tree, &outer, nodes, Axis::J, rows)?;
    let tiled: Path = outer.iter().copied().chain([nodes.0]).collect();
    let n = tree.block(&tiled).map_or(0, <[Node]>::len);
    tile(tree, &tiled, (0, n), Axis::I, columns)
}

/// Runs all stages of a loop over levels as one. Each point computes again the values that it reads beside
/// itself.
pub(super) fn recomputed(tree: &mut Tree, at: usize, [rows, columns]: [i64; 2]) -> Result<(), Refusal> {
    separate(tree, at)?;
    let n = tree.block(&[at]).map_or(0, <[Node]>::len);
    let (first, last) = (reference(tree, &vec![at, 0])?, reference(tree, &vec![at, n.saturating_sub(1)])?);
    Step::Recompute { first, last }.apply(tree)?;
    tiles(tree, at, [rows, columns, 1])
}

/// Runs the stages of a loop over levels row by row, in strips of rows:
/// `k { j_tile { i_tile { j_front { j { i } .. } } } }`.
pub(super) fn in_rows(tree: &mut Tree, at: usize, [rows, columns]: [i64; 2]) -> Result<(), Refusal> {
    if !may_spread_levels(tree, at) {
        return Err(Refusal::new("its levels have an order"));
    }
    separate(tree, at)?;
    let n = tree.block(&[at]).map_or(0, <[Node]>::len);
    tile(tree, &vec![at], (0, n), Axis::J, rows)?;
    tile(tree, &vec![at, 0], (0, n), Axis::I, columns)?;
    let path = vec![at, 0, 0];
    let (first, last) = (
        reference(tree, &[path.as_slice(), &[0]].concat())?,
        reference(tree, &[path.as_slice(), &[n - 1]].concat())?,
    );
    Step::Roll { axis: Axis::J, first, last }.apply(tree)
}

/// Runs each stage of a loop over levels without an order as a launch of its own.
pub(super) fn points(tree: &mut Tree, at: usize, shape: [i64; 2]) -> Result<(), Refusal> {
    separate(tree, at)?;
    let n = tree.block(&[at]).map_or(0, <[Node]>::len);
    for cut in (1..n).rev() {
        let before = reference(tree, &vec![at, cut])?;
        Step::Distribute { at: reference(tree, &vec![at])?, before }.apply(tree)?;
    }
    for nest in at..at + n {
        if may_spread_levels(tree, nest) {
            cut_nest(tree, &vec![nest, 0], shape)?;
        } else {
            columns_or_levels(tree, nest, shape)?;
        }
    }
    Ok(())
}

fn columns_or_levels(tree: &mut Tree, at: usize, shape: [i64; 2]) -> Result<(), Refusal> {
    let mut formed = tree.clone();
    match columns(&mut formed, (at, 1), 64) {
        Ok(()) => *tree = formed,
        Err(_) => level_by_level(tree, at, shape)?,
    }
    Ok(())
}

/// Leaves a loop over levels outside, around a launch for each of its stages.
pub(super) fn level_by_level(tree: &mut Tree, at: usize, shape: [i64; 2]) -> Result<(), Refusal> {
    separate(tree, at)?;
    let n = tree.block(&[at]).map_or(0, <[Node]>::len);
    (0..n).rev().try_for_each(|stage| cut_nest(tree, &vec![at, stage], shape))
}

/// Turns `j { i }` into `j_tile { i_tile { j { i } } }`, contents unchanged.
fn cut_nest(tree: &mut Tree, path: &Path, [rows, columns]: [i64; 2]) -> Result<(), Refusal> {
    let inside = |depth: usize| path.iter().copied().chain(std::iter::repeat_n(0, depth)).collect::<Path>();
    let is_over = |depth: usize, axis: Axis| {
        tree.loop_at(&inside(depth)).is_some_and(|it| it.variable.name() == axis.position_name())
    };
    if !is_over(0, Axis::J) || !is_over(1, Axis::I) {
        return Err(Refusal::new("it is no loop over rows of columns"));
    }
    Step::Cut { at: reference(tree, path)?, size: rows }.apply(tree)?;
    Step::Cut { at: reference(tree, &inside(2))?, size: columns }.apply(tree)?;
    Step::Swap(reference(tree, &inside(1))?).apply(tree)?;
    let is_tile = |depth: usize, axis: Axis| {
        tree.loop_at(&inside(depth)).is_some_and(|it| it.variable == names::tile(axis))
    };
    if is_tile(0, Axis::J) && is_tile(1, Axis::I) {
        Ok(())
    } else {
        Err(Refusal::new("its loops are no tiles"))
    }
}
