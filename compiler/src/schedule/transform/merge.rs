//! A loop continues the one before it.

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::summary::Summary;
use crate::schedule::nodes::{Container, Loop, Node, Order, Storage, Tree, Where};
use crate::schedule::step::Ranges;
use crate::space::order::{greatest, is_at_most, least};
use crate::space::{Affine, Axis, Size, Symbol};

/// Merges the loop behind the one at `first` into that one.
///
/// - **Effect**: iteration n of the second runs right after iteration n of the first. Of a loop without an
///   order and a sweep it becomes the sweep.
/// - **Legality**: [`may_merge`].
/// - **Why**: what one loop leaves in the cache, the next one finds there.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn merge(tree: &mut Tree, first: &Path, ranges: Ranges) -> Result<(), Refusal> {
    let (&at, outer) = first.split_last().ok_or_else(|| Refusal::new("there is no such loop"))?;
    let block = tree.block(outer).unwrap_or_default();
    let (Some(Node::Loop(prev)), Some(Node::Loop(next))) = (block.get(at), block.get(at + 1)) else {
        return Err(Refusal::new("no loop stands right behind it"));
    };
    may_merge(tree, prev, next, ranges).map_err(|it| it.about(&block[at + 1]))?;
    let Some(block) = tree.block_mut(outer) else { return Ok(()) };
    if let (Node::Loop(mut next), Some(Node::Loop(prev))) = (block.remove(at + 1), block.get_mut(at)) {
        if ranges == Ranges::Domain {
            let beside: Vec<Node> =
                [keep_domain(prev), keep_domain(&mut next)].into_iter().flatten().collect();
            join(prev, next);
            block.splice(at..at, beside);
        } else {
            join(prev, next);
        }
    }
    Ok(())
}

/// The positions of the compute domain along an axis.
fn domain(axis: Axis) -> (Size, Size) {
    (Affine::constant(0).into(), Affine::symbol(&Symbol::new(axis.name())).into())
}

/// Leaves the positions of the compute domain to a loop, which has all of them; answers loops over the others.
fn keep_domain(it: &mut Loop) -> Vec<Node> {
    let (start, end) = domain(it.axis);
    let pieces = [(it.start.clone(), start.clone()), (end.clone(), it.end.clone())];
    let beside = pieces.into_iter().filter(|(start, end)| start != end);
    let beside = beside.map(|(start, end)| Node::Loop(Loop { start, end, ..it.clone() })).collect();
    (it.start, it.end) = (start, end);
    beside
}

/// Puts the body of one loop behind that of another; they may be merged.
pub(in crate::schedule) fn join(prev: &mut Loop, mut next: Loop) {
    if prev.start != next.start || prev.end != next.end {
        let (start, end) = (least(&prev.start, &next.start), greatest(&prev.end, &next.end));
        for it in [&mut *prev, &mut next] {
            if it.start != start || it.end != end {
                it.children = vec![Node::Where(Where {
                    variable: it.variable.clone(),
                    start: it.start.clone(),
                    end: it.end.clone(),
                    children: std::mem::take(&mut it.children),
                })];
            }
        }
        (prev.start, prev.end) = (start, end);
    }
    if prev.order == Order::Parallel {
        prev.order = next.order;
    }
    prev.children.append(&mut next.children);
}

/// Whether iteration n of `next` may run right after iteration n of `prev`.
///
/// In loops without order, both must touch a shared element in the same
/// iteration. In a sweep, `next` may also look back, at what earlier iterations
/// of `prev` have finished: a read at most as far ahead as the write, and the
/// other way round for a value that is still to be read. A loop without an order
/// may be run in that of the other.
///
/// # Errors
///
/// The reason why not.
pub fn may_merge(tree: &Tree, prev: &Loop, next: &Loop, ranges: Ranges) -> Result<(), Refusal> {
    let order = common_order(prev, next, ranges)?;
    may_follow(tree, &prev.variable, order, (&summary(tree, prev), &summary(tree, next)))
}

/// The order of the merged loop, where variable, range and order let there be one.
pub(in crate::schedule) fn common_order(prev: &Loop, next: &Loop, ranges: Ranges) -> Result<Order, Refusal> {
    if prev.variable != next.variable || prev.step != next.step {
        return Err(Refusal::new("the loop before it is over another axis"));
    }
    if ranges == Ranges::Equal && (prev.start != next.start || prev.end != next.end) {
        return Err(Refusal::new("the loop before it has another range"));
    }
    if ranges == Ranges::Domain {
        let (start, end) = domain(prev.axis);
        let holds_it = |it: &Loop| is_at_most(&it.start, &start) && is_at_most(&end, &it.end);
        if prev.variable.name() != prev.axis.position_name() || ![prev, next].into_iter().all(holds_it) {
            return Err(Refusal::new("one of the loops is not over all of the domain"));
        }
        // What lies beside the domain runs first.
        if prev.order != Order::Parallel || next.order != Order::Parallel {
            return Err(Refusal::new("one of the loops has an order"));
        }
    }
    let order = match (prev.order, next.order) {
        (one, other) if one == other => one,
        (Order::Parallel, order) | (order, Order::Parallel) => order,
        _ => return Err(Refusal::new("the loop before it runs in another order")),
    };
    Ok(order)
}

/// What the body of a loop touches along its variable, as far as other iterations see it.
pub(in crate::schedule) fn summary(tree: &Tree, it: &Loop) -> Summary {
    Summary::of(tree, it)
}

/// Whether iteration n of one body may run right after iteration n of another.
pub(in crate::schedule) fn may_follow(
    tree: &Tree,
    variable: &Symbol,
    order: Order,
    (first, second): (&Summary, &Summary),
) -> Result<(), Refusal> {
    if let Some(container) = first.conflict(second, order) {
        let name = name_of(&tree.containers[container]);
        return Err(Refusal::new(format!(
            "`{name}` must be finished beside the point before this loop may start"
        )));
    }
    let owned = |(handle, it): &(Handle<Container>, &Container)| {
        matches!(&it.storage, Storage::Private(owner) if owner == variable)
            && (first.touches(*handle) || second.touches(*handle))
    };
    match tree.containers.iter().find(owned) {
        Some((_, it)) => {
            Err(Refusal::new(format!("`{}` lives in an iteration of one of the loops", name_of(it))))
        }
        None => Ok(()),
    }
}
