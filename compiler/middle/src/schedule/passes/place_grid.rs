//! Gives loops to the grid and the blocks of a GPU, and puts barriers between stages.

use super::PassCx;
use crate::diag::Origin;
use crate::schedule::analysis::launch::{Launch, faults_of, follows_front, missing_barriers};
use crate::schedule::nodes::{Loop, Node, Order, Placement, Tree};
use crate::schedule::step::{LoopRef, Side, Step};
use crate::schedule::transform::{Path, Refusal};
use crate::space::{Axis, names};

pub const NAME: &str = "schedule/place-grid";

/// Gives the outermost loops of each launch to the grid, and the loops over positions inside to threads. Puts
/// barriers between stages that wait for each other.
///
/// - **Precondition**: a valid schedule tree whose launches have their shape, as
///   [`form_launches`](super::form_launches) leaves them, and whose arrays have their place.
/// - **Effect**: `grid j_tile { grid i_tile { block j { block i { .. } } barrier .. } }`.
/// - **Legality**: [`place`](crate::schedule::transform::placement::place),
///   [`put_barrier`](crate::schedule::transform::barrier::put_barrier); a nest that has a race all the same
///   is left as it was.
/// - **Why**: neighbouring threads then touch neighbours in memory, and every column or point has a thread.
pub fn place_grid(tree: &mut Tree, cx: &mut PassCx) {
    if !cx.options.has_grid {
        return;
    }
    let mut nests = Vec::new();
    collect(&tree.children, &mut Path::new(), &mut nests);
    // From the last, so that the places of those before stay.
    for path in nests.into_iter().rev() {
        let origins: Vec<Origin> =
            tree.node(&path).and_then(Node::first_origin).cloned().into_iter().collect();
        if !cx.may_change() {
            return;
        }
        let before = tree.clone();
        match placed(tree, &path) {
            Ok(n_barriers) => {
                if !cx.options.keeps_steps {
                    tree.steps.truncate(before.steps.len());
                }
                let barriers = match n_barriers {
                    0 => "no barrier".to_owned(),
                    1 => "one barrier".to_owned(),
                    n => format!("{n} barriers"),
                };
                cx.applied(format!("runs on a grid, with {barriers}"), &origins);
            }
            Err(refusal) => {
                *tree = before;
                cx.missed(format!("does not run on a grid: {refusal}"), &origins);
            }
        }
    }
}

/// Collects the outermost loops of nests that can be launches, below loops that the host runs.
fn collect(nodes: &[Node], path: &mut Path, found: &mut Vec<Path>) {
    for (at, node) in nodes.iter().enumerate() {
        path.push(at);
        if let Node::Loop(it) = node {
            if it.placement == Placement::Sequential && grid_of(it) > 0 {
                found.push(path.clone());
            } else if it.placement == Placement::Sequential {
                collect(&it.children, path, found);
            }
        }
        path.pop();
    }
}

/// How many loops from this one on are a grid: each alone in the one around, without an order, the last one over tiles.
fn grid_of(outermost: &Loop) -> usize {
    let (mut depth, mut last, mut it) = (0, 0, outermost);
    loop {
        if it.order != Order::Parallel || it.placement != Placement::Sequential || depth == 3 {
            return last;
        }
        depth += 1;
        if it.variable == names::tile(it.axis) {
            last = depth;
        }
        match it.children.as_slice() {
            [Node::Loop(only)] => it = only,
            _ => return last,
        }
    }
}

/// Places one launch; answers how many barriers it has.
fn placed(tree: &mut Tree, path: &Path) -> Result<usize, Refusal> {
    let Some(n) = tree.loop_at(path).map(grid_of) else { return Ok(0) };
    let mut body = path.clone();
    for depth in 0..n {
        if depth > 0 {
            body.push(0);
        }
        give(tree, &body, Placement::Grid)?;
    }
    let mut stages = Vec::new();
    stages_of(tree.block(&body).unwrap_or_default(), &mut body.clone(), &mut stages);
    for stage in &stages {
        give(tree, stage, Placement::Block)?;
    }
    let mut n_barriers = 0;
    while let Some(at) = next_barrier(tree, path) {
        wait(tree, &at)?;
        n_barriers += 1;
    }
    let Some(it) = tree.loop_at(path) else { return Ok(n_barriers) };
    match faults_of(tree, &Launch::at(it, path.clone())).into_iter().next() {
        Some(fault) => Err(Refusal::new(fault)),
        None => Ok(n_barriers),
    }
}

/// Where the last barrier of those is missing that a launch has none of yet: then the places of those before stay.
fn next_barrier(tree: &Tree, path: &Path) -> Option<Path> {
    let launch = Launch::at(tree.loop_at(path)?, path.clone());
    missing_barriers(tree, &launch).pop().map(|(at, _)| at)
}

fn give(tree: &mut Tree, path: &Path, placement: Placement) -> Result<(), Refusal> {
    let at = LoopRef::of(tree, path).ok_or_else(|| Refusal::new("a loop holds no statement"))?;
    Step::Place(placement, at).apply(tree)
}

/// Puts a barrier where a path tells: before a loop, or behind the last one of a block.
fn wait(tree: &mut Tree, path: &Path) -> Result<(), Refusal> {
    let Some((&at, outer)) = path.split_last() else { return Err(Refusal::new("a barrier has no place")) };
    let before = LoopRef::of(tree, path).map(|at| Step::Barrier { side: Side::Before, at });
    let behind = || {
        let last: Path = outer.iter().copied().chain([at.checked_sub(1)?]).collect();
        LoopRef::of(tree, &last).map(|at| Step::Barrier { side: Side::Behind, at })
    };
    let step = before.or_else(behind);
    step.ok_or_else(|| Refusal::new("a barrier would stand beside no loop"))?.apply(tree)
}

/// The loops over positions that threads take: the outermost ones, and those alone in them.
fn stages_of(nodes: &[Node], path: &mut Path, found: &mut Vec<Path>) {
    // Rows that follow a front are one at a time: all threads come to it.
    let is_stage = |it: &Loop| {
        it.order == Order::Parallel
            && it.axis != Axis::K
            && it.variable.name() == it.axis.position_name()
            && !follows_front(it)
    };
    for (at, node) in nodes.iter().enumerate() {
        path.push(at);
        match node {
            Node::Loop(it) if is_stage(it) => {
                found.push(path.clone());
                if let [Node::Loop(only)] = it.children.as_slice()
                    && is_stage(only)
                {
                    found.push(path.iter().copied().chain([0]).collect());
                }
            }
            Node::Loop(it) => stages_of(&it.children, path, found),
            Node::Where(it) => stages_of(&it.children, path, found),
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => {}
        }
        path.pop();
    }
}
