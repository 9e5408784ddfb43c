//! Gives innermost independent loops to vector lanes.

use super::PassCx;
use crate::schedule::nodes::{Node, Order, Placement, Tree};
use crate::space::Axis;

pub const NAME: &str = "schedule/place-vectors";

/// Places each innermost parallel loop over i in vector lanes.
///
/// - **Precondition** — a valid schedule tree whose loops are in their final order.
/// - **Effect** — `Placement::Simd` on loops over i that hold no loop and no `while`.
/// - **Legality** — the loop is parallel; lanes change no result, since nothing is reassociated.
/// - **Why** — arrays are contiguous along i.
pub fn place_vectors(tree: &mut Tree, cx: &mut PassCx) {
    if cx.target.has_vectors {
        tree.children.iter_mut().for_each(place);
    }
}

fn place(node: &mut Node) {
    if let Node::Loop(it) = node
        && it.axis == Axis::I
        && it.order == Order::Parallel
        && it.placement == Placement::Sequential
        && !it.children.iter().any(has_loop)
    {
        it.placement = Placement::Simd;
        return;
    }
    node.blocks_mut().into_iter().flatten().for_each(place);
}

fn has_loop(node: &Node) -> bool {
    matches!(node, Node::Loop(_) | Node::While(_)) || node.children().into_iter().any(has_loop)
}
