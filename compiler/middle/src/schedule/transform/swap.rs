//! Exchanges a loop and the one inside.

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::dependence::carried;
use crate::schedule::nodes::{Container, Loop, Node, Order, Storage, Tree};

/// Turns `a { b { ... } }` into `b { a { ... } }`, where `b` stands alone in `a`.
///
/// - **Legality**: [`may_swap`].
/// - **Why**: the loop over neighbours in memory belongs inside, and the one that threads share outside.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn swap(tree: &mut Tree, outer: &Path) -> Result<(), Refusal> {
    let it = tree.loop_at(outer).ok_or_else(|| Refusal::new("there is no such loop"))?;
    may_swap(tree, it)?;
    let Some(it) = tree.loop_at_mut(outer) else { return Ok(()) };
    if let Some(Node::Loop(mut inner)) = it.children.pop() {
        it.children = std::mem::take(&mut inner.children);
        std::mem::swap(it, &mut inner);
        it.children.push(Node::Loop(inner));
    }
    Ok(())
}

/// Whether the loop may change places with the one inside.
///
/// Where the outer iterations are independent, they may be interleaved in any way. Where they have an order,
/// it must not matter which of the inner ones comes first: none touches what another writes.
///
/// # Errors
///
/// The reason why not.
pub fn may_swap(tree: &Tree, outer: &Loop) -> Result<(), Refusal> {
    let [Node::Loop(inner)] = outer.children.as_slice() else {
        return Err(Refusal::new(format!("more than one loop stands in the loop over `{}`", outer.variable)));
    };
    let is_free = |size: &crate::space::Size| {
        let mut is_free = true;
        size.each_symbol(&mut |symbol| is_free &= *symbol != outer.variable);
        is_free
    };
    if !is_free(&inner.start) || !is_free(&inner.end) {
        let reason = format!("the range over `{}` depends on `{}`", inner.variable, outer.variable);
        return Err(Refusal::new(reason).about(&outer.children[0]));
    }
    if let Some((_, it)) = tree.containers.iter().find(|(_, it)| {
        matches!(&it.storage, Storage::Private(owner) if *owner == outer.variable || *owner == inner.variable)
    }) {
        return Err(Refusal::new(format!("`{}` lives in an iteration of one of the loops", name_of(it))));
    }
    if outer.order == Order::Parallel {
        return Ok(());
    }
    if inner.order != Order::Parallel {
        return Err(Refusal::new("both loops have an order").about(&outer.children[0]));
    }
    let is_private = |it: Handle<Container>| tree.containers[it].shape.is_empty();
    carried(&inner.children, &inner.variable, &is_private).map_err(|it| {
        let name = name_of(&tree.containers[it.container]);
        let reason = format!(
            "`{name}` is touched in several iterations over `{}` of one sweep over `{}`",
            inner.variable, outer.variable
        );
        Refusal::new(reason).about(&outer.children[0])
    })
}
