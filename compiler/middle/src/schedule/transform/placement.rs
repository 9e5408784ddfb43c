//! Which loops threads, vector lanes, and the parts of a GPU carry out.

use super::{Path, Refusal};
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::analysis::launch::{Launch, carried_by_grid};
use crate::schedule::nodes::{Loop, Node, Order, Placement, Tree};

/// Gives the loop at `path` to threads, lanes, or a part of a GPU, or takes it back.
///
/// - **Legality**: [`may_place`].
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn place(tree: &mut Tree, path: &Path, placement: Placement) -> Result<(), Refusal> {
    may_place(tree, path, placement)?;
    if let Some(it) = tree.loop_at_mut(path) {
        it.placement = placement;
    }
    Ok(())
}

/// Whether a loop may have a placement.
///
/// Only iterations without an order run at the same time. Threads start no threads, lanes hold no loops. A
/// grid has at most three loops, each alone in the one around, and their iterations touch nothing in common.
/// One iteration of all of them is a block. At most two loops in it, one in the other, are for its threads.
/// Lanes cannot stop one by one, so nothing in them may end the run.
///
/// # Errors
///
/// The reason why not.
pub fn may_place(tree: &Tree, path: &Path, placement: Placement) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    if placement == Placement::Sequential {
        return Ok(());
    }
    let refuse = |reason: String| Err(Refusal::new(reason).about(tree.node(path).expect("it was found")));
    if it.order != Order::Parallel {
        return refuse(format!("the loop over `{}` has an order", it.variable));
    }
    let around: Vec<&Loop> = (1..path.len()).filter_map(|depth| tree.loop_at(&path[..depth])).collect();
    let is_around = |wanted: Placement| around.iter().any(|it| it.placement == wanted);
    if is_around(Placement::Simd) {
        return refuse("lanes hold no other loop".to_owned());
    }
    match placement {
        Placement::Threads if is_around(Placement::Threads) => {
            refuse("a loop around is given to threads already".to_owned())
        }
        Placement::Threads if it.children.iter().any(|it| has_placed(it, Placement::Threads)) => {
            refuse("a loop inside is given to threads already".to_owned())
        }
        Placement::Simd if it.children.iter().any(has_loop) => refuse("a loop stands inside".to_owned()),
        Placement::Simd if may_end(it) => refuse("a statement inside may end the run".to_owned()),
        Placement::Block if !is_around(Placement::Grid) => {
            refuse("no loop around is given to a grid".to_owned())
        }
        Placement::Block if around.iter().filter(|it| it.placement == Placement::Block).count() > 1 => {
            refuse("two loops around are given to threads of a block already".to_owned())
        }
        Placement::Grid => match may_place_on_grid(tree, path, it, &around) {
            Ok(()) => Ok(()),
            Err(reason) => refuse(reason),
        },
        _ => Ok(()),
    }
}

/// Whether a loop may be the next one of a grid, or the first.
fn may_place_on_grid(tree: &Tree, path: &Path, it: &Loop, around: &[&Loop]) -> Result<(), String> {
    let grid: Vec<&Loop> = around.iter().copied().filter(|it| it.placement == Placement::Grid).collect();
    if around.iter().any(|it| it.placement == Placement::Block) {
        return Err("a loop around is given to threads of a block".to_owned());
    }
    if grid.len() == 3 {
        return Err("a grid has three loops at most".to_owned());
    }
    let is_perfect = grid.is_empty()
        || around.last().is_some_and(|it| it.placement == Placement::Grid && it.children.len() == 1);
    if !is_perfect || path.len() != around.len() + 1 {
        return Err("the loops of a grid stand outermost, each alone in the one around".to_owned());
    }
    let outermost = path[..path.len() - grid.len()].to_vec();
    let grid: Vec<&Loop> = grid.into_iter().chain([it]).collect();
    let launch = Launch { path: outermost, grid, body: &it.children, body_path: path.clone() };
    carried_by_grid(tree, &launch).map_or(Ok(()), |(_, reason)| Err(reason))
}

fn has_placed(node: &Node, wanted: Placement) -> bool {
    matches!(node, Node::Loop(it) if it.placement == wanted)
        || node.children().into_iter().any(|it| has_placed(it, wanted))
}

/// Whether a loop, also one at a point, stands there.
pub(in crate::schedule) fn has_loop(node: &Node) -> bool {
    matches!(node, Node::Loop(_) | Node::While(_)) || node.children().into_iter().any(has_loop)
}

/// Whether an index is checked inside.
pub(in crate::schedule) fn may_end(it: &Loop) -> bool {
    Accesses::of(&it.children).iter().any(|it| it.access.index.iter().any(|it| it.found.is_some()))
}
