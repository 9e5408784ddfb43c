//! Merges a loop into the one before it.

use std::collections::BTreeSet;

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::analysis::dependence::is_private;
use crate::schedule::analysis::summary::Summary;
use crate::schedule::nodes::{Container, Loop, Node, Order, Storage, Tree, Where};
use crate::schedule::step::Ranges;
use crate::space::order::{greatest, is_at_most, least};
use crate::space::{Affine, Axis, Size, Symbol};

/// Merges the loop behind the one at `first` into that one.
///
/// - **Effect**: iteration n of the second runs right after iteration n of the first. A loop without an order
///   and a sweep become a sweep.
/// - **Legality**: [`may_merge`].
/// - **Why**: the elements that one loop leaves in the cache are there for the next one.
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
            join_limited(prev, next, ranges == Ranges::Inside);
        }
    }
    Ok(())
}

/// The positions of the compute domain along an axis.
fn domain(axis: Axis) -> (Size, Size) {
    (Affine::constant(0).into(), Affine::symbol(&Symbol::new(axis.name())).into())
}

/// Limits a loop to the compute domain, which it covers. Returns loops over its other positions.
fn keep_domain(it: &mut Loop) -> Vec<Node> {
    let (start, end) = domain(it.axis);
    let pieces = [(it.start.clone(), start.clone()), (end.clone(), it.end.clone())];
    let beside = pieces.into_iter().filter(|(start, end)| start != end);
    let beside = beside.map(|(start, end)| Node::Loop(Loop { start, end, ..it.clone() })).collect();
    (it.start, it.end) = (start, end);
    beside
}

/// Appends the body of one loop to that of another; they may be merged.
pub(in crate::schedule) fn join(prev: &mut Loop, next: Loop) {
    join_limited(prev, next, false);
}

/// The same; where `is_inside`, limits stand inside of the loops of each body.
fn join_limited(prev: &mut Loop, mut next: Loop, is_inside: bool) {
    if prev.start != next.start || prev.end != next.end {
        let (start, end) = (least(&prev.start, &next.start), greatest(&prev.end, &next.end));
        for it in [&mut *prev, &mut next] {
            if it.start != start || it.end != end {
                let limit = Where {
                    variable: it.variable.clone(),
                    start: it.start.clone(),
                    end: it.end.clone(),
                    children: Vec::new(),
                };
                let children = std::mem::take(&mut it.children);
                it.children = if is_inside {
                    limited_inside(children, &limit)
                } else {
                    vec![Node::Where(Where { children, ..limit })]
                };
            }
        }
        (prev.start, prev.end) = (start, end);
    }
    if prev.order == Order::Parallel {
        prev.order = next.order;
    }
    prev.children.append(&mut next.children);
}

/// Limits statements, and those in loops. A node that has a narrower limit already stays.
fn limited_inside(nodes: Vec<Node>, limit: &Where) -> Vec<Node> {
    let mut limited: Vec<Node> = Vec::new();
    let mut is_open = false;
    for node in nodes {
        match node {
            Node::Loop(mut it) => {
                it.children = limited_inside(it.children, limit);
                limited.push(Node::Loop(it));
                is_open = false;
            }
            Node::Where(it)
                if it.variable == limit.variable
                    && is_at_most(&limit.start, &it.start)
                    && is_at_most(&it.end, &limit.end) =>
            {
                limited.push(Node::Where(it));
                is_open = false;
            }
            // No barrier stands under a condition.
            Node::Barrier => {
                limited.push(Node::Barrier);
                is_open = false;
            }
            node @ (Node::If(_) | Node::While(_) | Node::Region(_) | Node::Where(_) | Node::Assign(_)) => {
                match limited.last_mut() {
                    Some(Node::Where(last)) if is_open => last.children.push(node),
                    _ => limited.push(Node::Where(Where { children: vec![node], ..limit.clone() })),
                }
                is_open = true;
            }
        }
    }
    limited
}

/// Whether iteration n of `next` may run right after iteration n of `prev`.
///
/// In loops without order, both must touch a shared element in the same iteration. In a sweep, `next` may
/// also look back at elements that earlier iterations of `prev` have finished. So a read is at most as far
/// ahead as the write before it. A write is at most as far ahead as a read before it. A loop without an order
/// may be run in that of the other. Parts of `prev` that a sweep finishes before `next` begins cause no
/// conflict. Loops that both have the same one iteration keep the order of their statements.
///
/// # Errors
///
/// The reason why not.
pub fn may_merge(tree: &Tree, prev: &Loop, next: &Loop, ranges: Ranges) -> Result<(), Refusal> {
    let order = common_order(prev, next, ranges)?;
    keep_values_apart(tree, prev, next)?;
    let open = Loop { children: unfinished(prev, next, order), ..prev.clone() };
    may_follow(tree, (prev, next), order, (&summary(tree, &open), &summary(tree, next)))
}

/// Whether values without dimensions stay within the iterations of two loops that become one. No value may be
/// read by one loop before that loop writes it, and be written by the other loop.
///
/// # Errors
///
/// The value that would change.
pub(in crate::schedule) fn keep_values_apart(tree: &Tree, prev: &Loop, next: &Loop) -> Result<(), Refusal> {
    for (one, other) in [(prev, next), (next, prev)] {
        let mut expected = BTreeSet::new();
        let _ =
            values_expected(tree, &one.children.iter().collect::<Vec<_>>(), BTreeSet::new(), &mut expected);
        let all = Accesses::of(&other.children);
        let written = all.iter().filter(|it| it.role.is_write()).map(|it| it.access.container);
        if let Some(container) = written.into_iter().find(|it| expected.contains(it)) {
            let name = name_of(&tree.containers[container]);
            return Err(Refusal::new(format!(
                "`{name}` is one value for all iterations of one of the loops"
            )));
        }
    }
    Ok(())
}

/// Adds the values that nodes read before they are sure to have written them. Returns the values written in
/// the end.
fn values_expected(
    tree: &Tree,
    nodes: &[&Node],
    mut written: BTreeSet<Handle<Container>>,
    expected: &mut BTreeSet<Handle<Container>>,
) -> BTreeSet<Handle<Container>> {
    for node in nodes {
        let mut targets = Vec::new();
        node.each_own_access(&mut |role, access| {
            if !is_private(&tree.containers[access.container]) {
                return;
            }
            if role.is_write() {
                targets.push(access.container);
            }
            if !role.is_write() && !written.contains(&access.container) {
                expected.insert(access.container);
            }
        });
        match node {
            Node::Assign(_) => written.extend(targets),
            Node::If(it) => {
                let mut of = |block: &[Node]| {
                    values_expected(tree, &block.iter().collect::<Vec<_>>(), written.clone(), expected)
                };
                let (then, otherwise) = (of(&it.then), of(&it.otherwise));
                written.extend(then.intersection(&otherwise));
            }
            // Nodes inside need not run in all iterations or columns, or at all.
            _ => {
                let _ = values_expected(tree, &node.children(), written.clone(), expected);
            }
        }
    }
    written
}

/// The children of a loop that are not finished when another one starts that runs with it. Left out are those
/// that are limited to iterations before those of the other.
fn unfinished(prev: &Loop, next: &Loop, order: Order) -> Vec<Node> {
    let is_over = |node: &Node| match (node, order) {
        (Node::Where(it), Order::Ascending) if it.variable == prev.variable => {
            is_at_most(&it.end, &next.start)
        }
        (Node::Where(it), Order::Descending) if it.variable == prev.variable => {
            is_at_most(&next.end, &it.start)
        }
        _ => false,
    };
    prev.children.iter().filter(|it| !is_over(it)).cloned().collect()
}

/// The order of the merged loop, where variable, range and order let there be one.
pub(in crate::schedule) fn common_order(prev: &Loop, next: &Loop, ranges: Ranges) -> Result<Order, Refusal> {
    if prev.variable != next.variable || prev.step != next.step {
        return Err(Refusal::new("the loop before it is over another axis"));
    }
    // Threads inside of one loop would come to stand inside the threads of the other one.
    if prev.placement != next.placement {
        return Err(Refusal::new("the loop before it is placed elsewhere"));
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
        // The positions beside the domain run first.
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

/// The accesses of a loop's body along its variable, as far as other iterations see them.
pub(in crate::schedule) fn summary(tree: &Tree, it: &Loop) -> Summary {
    Summary::of(tree, it)
}

/// Whether iteration n of one body may run right after iteration n of another.
pub(in crate::schedule) fn may_follow(
    tree: &Tree,
    (prev, next): (&Loop, &Loop),
    order: Order,
    (first, second): (&Summary, &Summary),
) -> Result<(), Refusal> {
    let variable = &prev.variable;
    let is_once =
        (&prev.start, &prev.end) == (&next.start, &next.end) && is_at_most(&prev.end, &prev.start.moved(1));
    if let Some(container) = first.conflict(second, order).filter(|_| !is_once) {
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
