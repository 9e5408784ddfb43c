//! Brings the loop over neighbours in memory inside.

use super::{PassCx, named_at};
use crate::schedule::nodes::{Node, Tree};
use crate::schedule::step::{LoopRef, Step};
use crate::schedule::transform::Path;
use crate::schedule::transform::distribute::distribute;
use crate::schedule::transform::swap::swap;
use crate::space::Axis;

pub const NAME: &str = "schedule/order-loops";

/// Orders the loops of each nest for the layout and the machine.
///
/// - **Precondition**: a valid schedule tree of nests `k { j { i } }`, merged as far as they can be.
/// - **Effect**: neighbours along i are innermost as they are; along j, `k { i { j } }`; along k, `j { i { k } }`.
///   A loop over levels that holds several nests is cut for that.
/// - **Legality**: [`swap`], [`distribute`]; a refusal becomes a remark.
/// - **Why**: a loop that jumps through memory waits for it.
pub fn order_loops(tree: &mut Tree, cx: &mut PassCx) {
    let contiguous = cx.options.contiguous;
    // Launches have their order already.
    if cx.options.has_grid {
        return;
    }
    let mut at = 0;
    while at < tree.children.len() {
        let path = vec![at];
        match contiguous {
            Axis::J => swap_all(tree, cx, &path, Axis::J, Axis::I),
            Axis::K => levels_inside(tree, cx, &path),
            Axis::I => {}
        }
        at += 1;
    }
}

/// Turns `k { j { i } }` into `j { i { k } }`, nest by nest.
fn levels_inside(tree: &mut Tree, cx: &mut PassCx, path: &Path) {
    // Cut behind the first nest; what is behind the cut is looked at in its turn.
    if tree.loop_at(path).is_some_and(|it| it.axis == Axis::K && it.children.len() > 1) {
        let (whole, inner) = (named_at(tree, cx, path), inner_name(tree, cx, path, 1));
        if !cx.may_change() {
            return;
        }
        match distribute(tree, path, 1) {
            Ok(()) => {
                if let Some((at, before)) = whole.zip(inner) {
                    tree.steps.push(Step::Distribute { at, before });
                }
            }
            Err(refusal) => {
                cx.missed(format!("levels stay outside: {refusal}"), &refusal.origins);
                return;
            }
        }
    }
    let mut at = path.clone();
    while tree
        .loop_at(&at)
        .is_some_and(|it| it.axis == Axis::K && matches!(it.children.as_slice(), [Node::Loop(_)]))
    {
        if !swapped(tree, cx, &at) {
            return;
        }
        at.push(0);
    }
}

fn inner_name(tree: &Tree, cx: &PassCx, path: &Path, at: usize) -> Option<LoopRef> {
    let inner: Path = path.iter().copied().chain([at]).collect();
    named_at(tree, cx, &inner)
}

/// Swaps each loop over one axis with a loop over the other right inside.
fn swap_all(tree: &mut Tree, cx: &mut PassCx, path: &Path, outer: Axis, inner: Axis) {
    let mut found: Vec<Path> = Vec::new();
    tree.each_loop(&mut |at, it| {
        let holds = matches!(it.children.as_slice(), [Node::Loop(inside)] if inside.axis == inner);
        if at.starts_with(path) && it.axis == outer && holds {
            found.push(at.clone());
        }
    });
    for at in found {
        swapped(tree, cx, &at);
    }
}

fn swapped(tree: &mut Tree, cx: &mut PassCx, at: &Path) -> bool {
    let name = named_at(tree, cx, at);
    let origin = tree.node(at).and_then(Node::first_origin).cloned();
    if !cx.may_change() {
        return false;
    }
    match swap(tree, at) {
        Ok(()) => {
            tree.steps.extend(name.map(Step::Swap));
            cx.applied("two loops change places, so that neighbours in memory follow each other", &origin);
            true
        }
        Err(refusal) => {
            cx.missed(format!("the loops stay in their order: {refusal}"), &origin);
            false
        }
    }
}
