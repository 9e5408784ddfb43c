//! Cuts a loop without an order into one over tiles and one over their positions.

use super::tile::{has_size, is_around, is_in};
use super::{Path, Refusal};
use crate::schedule::nodes::{Loop, Node, Order, Placement, Tree};
use crate::space::order::least;
use crate::space::{Affine, Size, names};

/// Turns `i in [start, end)` into `i_tile in [start, end) step size { i in [i_tile, min(end, i_tile + size)) }`.
///
/// - **Effect**: contents, ranges and arrays stay as they are; nothing is computed twice. Lanes stay with the positions.
/// - **Legality**: the loop has no order, and runs position by position; no loop over tiles of that axis stands around it
///   or in it.
/// - **Why**: blocks of a GPU take tiles, and their threads positions.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn cut(tree: &mut Tree, path: &Path, size: i64) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    let about = |reason: String| Err(Refusal::new(reason).about(&Node::Loop(it.clone())));
    if it.order != Order::Parallel {
        return about(format!("the loop over `{}` has an order", it.variable));
    }
    if it.step != 1 || it.variable.name() != it.axis.position_name() {
        return about(format!("the loop over `{}` is not over positions", it.variable));
    }
    if let Err(refusal) = has_size(size) {
        return about(refusal.reason);
    }
    let tile = names::tile(it.axis);
    if it.children.iter().any(|it| is_in(it, &tile)) || is_around(tree, path, &tile) {
        return about(format!("a loop over `{tile}` stands around or inside already"));
    }
    let Some(it) = tree.loop_at_mut(path) else { return Ok(()) };
    let (start, end) = (it.start.clone(), it.end.clone());
    let last = least(&end, &Size::Affine(Affine::beside(&tile, size)));
    // Lanes hold no loop: they stay with the positions.
    let (around, inside) = match it.placement {
        Placement::Simd => (Placement::Sequential, Placement::Simd),
        placement => (placement, Placement::Sequential),
    };
    let positions = Loop {
        start: Affine::symbol(&tile).into(),
        end: last,
        placement: inside,
        children: std::mem::take(&mut it.children),
        ..it.clone()
    };
    let axis = it.axis;
    *it = Loop {
        variable: tile,
        axis,
        start,
        end,
        step: size,
        order: Order::Parallel,
        placement: around,
        children: vec![Node::Loop(positions)],
    };
    Ok(())
}
