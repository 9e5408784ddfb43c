//! Assignments to locals that nobody reads.

use std::collections::BTreeSet;

use crate::entity::Handle;
use crate::schedule::nodes::{Container, ContainerKind, Node, Tree};

/// Drops the assignments in a list of nodes to locals that nobody reads before their iteration ends. Drops
/// nodes that are empty then. Assignments that may end the run stay.
///
/// - **Legality**: a local does not outlive the iteration that wrote it.
/// - **Why**: a piece of a loop keeps the values of its regions, also where it has none of them.
pub(in crate::schedule) fn drop_unused(tree: &Tree, block: &mut Vec<Node>) {
    sweep(tree, block, &mut BTreeSet::new());
}

/// From the last node to the first; `live` are the locals that are read behind.
fn sweep(tree: &Tree, block: &mut Vec<Node>, live: &mut BTreeSet<Handle<Container>>) {
    let is_local = |it: Handle<Container>| tree.containers[it].kind == ContainerKind::Local;
    let mut kept = Vec::with_capacity(block.len());
    for mut node in std::mem::take(block).into_iter().rev() {
        match &mut node {
            Node::Assign(it) if is_local(it.target.container) => {
                let is_read = live.remove(&it.target.container);
                if !is_read && !may_end(&node) {
                    continue;
                }
            }
            Node::Assign(_) | Node::Barrier => {}
            Node::Loop(it) => {
                let mut inside = BTreeSet::new();
                sweep(tree, &mut it.children, &mut inside);
                live.extend(inside);
            }
            Node::While(_) => {
                // The next iteration may read all values that one reads.
                let mut inside = live.clone();
                node.walk(&mut |it| {
                    reads(it, &mut |read| {
                        inside.insert(read);
                    });
                });
                node.blocks_mut().into_iter().for_each(|it| sweep(tree, it, &mut inside));
                live.extend(inside);
            }
            Node::If(_) | Node::Region(_) | Node::Where(_) => {
                let behind = live.clone();
                for inside in node.blocks_mut() {
                    let mut within = behind.clone();
                    sweep(tree, inside, &mut within);
                    live.extend(within);
                }
            }
        }
        let is_empty = match &node {
            Node::Loop(_) | Node::Region(_) | Node::Where(_) => node.children().is_empty(),
            Node::If(_) => node.children().is_empty() && !may_end(&node),
            Node::While(_) | Node::Assign(_) | Node::Barrier => false,
        };
        if is_empty {
            continue;
        }
        reads(&node, &mut |read| {
            if is_local(read) {
                live.insert(read);
            }
        });
        kept.push(node);
    }
    kept.reverse();
    *block = kept;
}

/// Calls `each` for every container that a node itself reads.
fn reads(node: &Node, each: &mut dyn FnMut(Handle<Container>)) {
    node.each_own_access(&mut |role, access| {
        if !role.is_write() {
            each(access.container);
        }
    });
}

/// Whether a node itself checks an index.
fn may_end(node: &Node) -> bool {
    let mut found = false;
    node.each_own_access(&mut |_, access| found |= access.index.iter().any(|it| it.found.is_some()));
    found
}
