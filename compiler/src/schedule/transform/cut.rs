//! A loop without an order becomes one over tiles and one over their positions.

use super::tile::is_around;
use super::{Path, Refusal};
use crate::schedule::nodes::{Loop, Node, Order, Placement, Tree};
use crate::space::order::least;
use crate::space::{Affine, Size, names};

/// Turns `i in [start, end)` into `i_tile in [start, end) step size { i in [i_tile, min(end, i_tile + size)) }`.
///
/// - **Effect**: contents, ranges and arrays stay as they are; nothing is computed twice.
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
    let tile = names::tile(it.axis);
    let mut is_inside = false;
    it.children.iter().for_each(|node| {
        node.walk(&mut |it| is_inside |= matches!(it, Node::Loop(it) if it.variable == tile));
    });
    if is_inside || is_around(tree, path, &tile) {
        return about(format!("a loop over `{tile}` stands around or inside already"));
    }
    let Some(it) = tree.loop_at_mut(path) else { return Ok(()) };
    let (start, end) = (it.start.clone(), it.end.clone());
    let last = least(&end, &Size::Affine(Affine::beside(&tile, size)));
    let positions = Loop {
        start: Affine::symbol(&tile).into(),
        end: last,
        placement: Placement::Sequential,
        children: std::mem::take(&mut it.children),
        ..it.clone()
    };
    let axis = it.axis;
    let (order, placement) = (Order::Parallel, it.placement);
    *it = Loop {
        variable: tile,
        axis,
        start,
        end,
        step: size,
        order,
        placement,
        children: vec![Node::Loop(positions)],
    };
    Ok(())
}
