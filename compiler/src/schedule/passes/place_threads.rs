//! Gives the outermost independent loops to threads.

use super::PassCx;
use crate::schedule::nodes::{Node, Order, Placement, Tree};

pub const NAME: &str = "schedule/place-threads";

/// Places the outermost parallel loop on every path on threads.
///
/// - **Precondition** — a valid schedule tree whose loops are in their final order.
/// - **Effect** — `Placement::Threads` on at most one loop of every path.
/// - **Legality** — a loop is parallel only where its iterations are independent, which merging keeps.
/// - **Why** — the outermost such loop has the most work for each thread and the fewest barriers.
pub fn place_threads(tree: &mut Tree, cx: &mut PassCx) {
    if cx.target.has_threads {
        tree.children.iter_mut().for_each(place);
    }
}

fn place(node: &mut Node) {
    match node {
        Node::Loop(it) if it.order == Order::Parallel => it.placement = Placement::Threads,
        Node::Loop(_) | Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) => {
            node.blocks_mut().into_iter().flatten().for_each(place);
        }
    }
}
