//! Gives loops to the grid and the blocks of a GPU.

use super::{PassCx, named_at};
use crate::schedule::analysis::accesses::{Accesses, Counts};
use crate::schedule::nodes::{Node, Order, Placement, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::placement::place;
use crate::schedule::transform::tile::tile;
use crate::space::Axis;

pub const NAME: &str = "schedule/place-grid";

/// As many threads along i as a block has.
const BLOCK: i64 = 128;

/// Cuts the loop over i of each nest into blocks of threads, and gives the parallel loops around to the grid.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: `grid k { grid j { grid i_tile { block i { ... } } } }`, with sweeps inside of the threads.
/// - **Legality**: [`place`], [`tile`].
/// - **Why**: neighbouring threads then touch neighbours in memory, and every column or point has a thread.
pub fn place_grid(tree: &mut Tree, cx: &mut PassCx) {
    if !cx.options.has_grid {
        return;
    }
    let mut columns: Vec<Path> = Vec::new();
    tree.each_loop(&mut |path, it| {
        if it.axis == Axis::I && it.variable.name() == Axis::I.position_name() && it.order == Order::Parallel
        {
            columns.push(path.clone());
        }
    });
    let counts = Accesses::of(&tree.children).counts();
    // From the last, so that the places of those before stay.
    for path in columns.into_iter().rev() {
        if cx.may_change() {
            cut(tree, cx, &path, &counts);
        }
    }
}

fn cut(tree: &mut Tree, cx: &mut PassCx, path: &Path, counts: &Counts) {
    let Some((&at, outer)) = path.split_last() else { return };
    let name = named_at(tree, cx, path);
    let origin = tree.node(path).and_then(Node::first_origin).cloned();
    if let Err(refusal) = tile(tree, &outer.to_vec(), (at, 1), Axis::I, BLOCK, counts) {
        cx.missed(format!("does not run on a grid: {refusal}"), &origin);
        return;
    }
    if let Some(name) = name {
        tree.steps.push(Step::Tile { axis: Axis::I, size: BLOCK, first: name.clone(), last: name });
    }
    // The loops around, from outside in, up to the first with an order; then the tiles.
    for depth in 1..=path.len() {
        let around: Path = path[..depth].to_vec();
        let is_free = tree.loop_at(&around).is_some_and(|it| it.order == Order::Parallel);
        if is_free && place(tree, &around, Placement::Grid).is_ok() {
            let step = named_at(tree, cx, &around).map(|it| Step::Place(Placement::Grid, it));
            tree.steps.extend(step);
        }
    }
    let inner: Path = path.iter().copied().chain([0]).collect();
    if place(tree, &inner, Placement::Block).is_ok() {
        let step = named_at(tree, cx, &inner).map(|it| Step::Place(Placement::Block, it));
        tree.steps.extend(step);
        cx.applied(format!("{BLOCK} neighbours along i are threads of one block"), &origin);
    }
}
