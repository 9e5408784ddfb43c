//! Drops loops that run once.

use super::{PassCx, named_at};
use crate::schedule::analysis::launch::follows_front;
use crate::schedule::nodes::{Node, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::unit::drop_unit_loop;

pub const NAME: &str = "schedule/drop-unit-loops";

/// Replaces each loop with one iteration by its body, where nothing inside asks for the position.
///
/// - **Precondition**: a valid schedule tree.
/// - **Effect**: fewer loops.
/// - **Legality**: [`drop_unit_loop`].
/// - **Why**: the first and the last level are often loops of their own.
pub fn drop_unit_loops(tree: &mut Tree, cx: &mut PassCx) {
    let mut loops: Vec<Path> = Vec::new();
    let has_grid = cx.options.has_grid;
    tree.each_loop(&mut |path, it| {
        let (crate::space::Size::Affine(start), crate::space::Size::Affine(end)) = (&it.start, &it.end)
        else {
            return;
        };
        // On a GPU the row that a front is at stays one: blocks are told apart by positions.
        let is_row_of_block = has_grid && follows_front(it);
        if end.distance_from(start) == Some(1) && !is_row_of_block {
            loops.push(path.clone());
        }
    });
    // From the last, so that the places of those before stay.
    for path in loops.into_iter().rev() {
        let at = named_at(tree, cx, &path);
        let origin = tree.node(&path).and_then(Node::first_origin).cloned();
        if !cx.may_change() {
            return;
        }
        if drop_unit_loop(tree, &path).is_ok() {
            tree.steps.extend(at.map(Step::Drop));
            cx.applied("the loop around runs once, so there is none", &origin);
        }
    }
}
