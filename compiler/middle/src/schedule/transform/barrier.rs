//! Lets the threads of a block wait for each other.

use super::{Path, Refusal};
use crate::schedule::nodes::{Node, Placement, Tree};

/// Puts a barrier before the child that a path ends with, or behind the last one.
///
/// - **Legality**: a loop of a grid stands around, none of a block, and no condition: all threads come to it.
/// - **Why**: one stage reads beside the point what another one writes.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn put_barrier(tree: &mut Tree, path: &Path) -> Result<(), Refusal> {
    let (mut is_in_grid, mut is_in_block, mut is_guarded) = (false, false, false);
    for depth in 1..path.len() {
        match tree.node(&path[..depth]) {
            Some(Node::Loop(it)) => {
                is_in_grid |= it.placement == Placement::Grid;
                is_in_block |= it.placement == Placement::Block;
            }
            _ => is_guarded = true,
        }
    }
    if !is_in_grid {
        return Err(Refusal::new("no loop around is given to a grid"));
    }
    if is_in_block || is_guarded {
        return Err(Refusal::new("not all threads of the block come there"));
    }
    let Some((&at, outer)) = path.split_last() else { return Ok(()) };
    match tree.block_mut(outer).filter(|it| at <= it.len()) {
        Some(block) => {
            block.insert(at, Node::Barrier);
            Ok(())
        }
        None => Err(Refusal::new("there is no such place")),
    }
}
