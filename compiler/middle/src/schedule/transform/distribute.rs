//! Distributes the nodes in a loop over several loops.

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::analysis::dependence::{Distance, conflicts, distance};
use crate::schedule::nodes::{Container, Loop, Node, Order, Storage, Tree};

/// Turns `a { x y }` into `a { x } a { y }`, cutting before the child at `cut`.
///
/// - **Legality**: [`may_distribute`].
/// - **Why**: a sweep around several loops over rows can then change places with each.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn distribute(tree: &mut Tree, path: &Path, cut: usize) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    may_distribute(tree, it, cut)?;
    let (Some((&at, outer)), Some(it)) = (path.split_last(), tree.loop_at_mut(path)) else { return Ok(()) };
    let rest = it.children.split_off(cut);
    let second = Loop { children: rest, ..it.clone() };
    if let Some(block) = tree.block_mut(outer) {
        block.insert(at + 1, Node::Loop(second));
    }
    Ok(())
}

/// Whether each loop among some nodes gives a value before it reads it, so that none comes from outside.
fn is_written_first(nodes: &[Node], value: Handle<Container>) -> bool {
    nodes.iter().all(|node| match node {
        Node::Loop(it) => {
            let first = it
                .children
                .iter()
                .find(|it| Accesses::of(std::slice::from_ref(*it)).of_container(value).next().is_some());
            match first {
                None => true,
                Some(Node::Assign(assign)) => {
                    let mut is_read = false;
                    first.into_iter().for_each(|it| {
                        is_read |= Accesses::of(std::slice::from_ref(it)).has_read_of(value);
                    });
                    assign.target.container == value && !is_read
                }
                Some(inner @ Node::Loop(_)) => {
                    let touching = it.children.iter().filter(|it| {
                        Accesses::of(std::slice::from_ref(*it)).of_container(value).next().is_some()
                    });
                    touching.count() == 1 && is_written_first(std::slice::from_ref(inner), value)
                }
                Some(_) => false,
            }
        }
        Node::Assign(_) | Node::If(_) | Node::While(_) | Node::Region(_) | Node::Where(_) | Node::Barrier => {
            Accesses::of(std::slice::from_ref(node)).of_container(value).next().is_none()
        }
    })
}

/// Whether all iterations of the first part may run before the first one of the second.
///
/// They may not where an iteration of the second part must come before a later one of the first. Then, along
/// the loop's direction, the second part touches an element farther ahead than the first does.
///
/// # Errors
///
/// The reason why not.
pub fn may_distribute(tree: &Tree, it: &Loop, cut: usize) -> Result<(), Refusal> {
    if cut == 0 || cut >= it.children.len() {
        return Err(Refusal::new(format!("the loop over `{}` is not cut there", it.variable)));
    }
    let (before, behind) = it.children.split_at(cut);
    let (first, second) = (Accesses::of(before), Accesses::of(behind));
    let about = |refusal: Refusal| Err(refusal.about(&behind[0]));
    // A value that lives in one iteration cannot be handed from one loop to another.
    for one in first.iter() {
        let container = &tree.containers[one.access.container];
        let lives_inside = match &container.storage {
            Storage::Register => true,
            Storage::Private(owner) => *owner == it.variable,
            Storage::Caller | Storage::Heap => false,
        };
        if lives_inside
            && second.iter().any(|other| other.access.container == one.access.container)
            && !(container.storage == Storage::Register && is_written_first(behind, one.access.container))
        {
            let reason = format!("`{}` lives in an iteration over `{}`", name_of(container), it.variable);
            return about(Refusal::new(reason));
        }
    }
    if it.order == Order::Parallel {
        return Ok(());
    }
    for (one, other) in conflicts(&first, &second) {
        let ahead = match (distance(one.access, &it.variable), distance(other.access, &it.variable)) {
            (Distance::Exactly(one), Distance::Exactly(other)) => other - one,
            _ => i64::MAX,
        };
        let is_in_order = match it.order {
            Order::Descending => ahead >= 0 && ahead != i64::MAX,
            Order::Parallel | Order::Ascending => ahead <= 0,
        };
        if !is_in_order {
            let name = name_of(&tree.containers[one.access.container]);
            let reason = format!("`{name}` goes from one iteration over `{}` to the next", it.variable);
            return about(Refusal::new(reason));
        }
    }
    Ok(())
}
