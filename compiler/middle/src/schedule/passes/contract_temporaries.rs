//! Makes temporaries as small as the innermost loop around all their uses needs them.

use super::{PassCx, named_at};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::AccessPaths;
use crate::schedule::nodes::{Container, ContainerKind, Node, Storage, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::contract::{Contraction, contract};
use crate::schedule::transform::{Path, Refusal};
use crate::space::names::of_stencil;

pub const NAME: &str = "schedule/contract-temporaries";

/// Gives each iteration of the innermost possible loop its own array for each temporary.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: dimensions along which an iteration touches one position go; an array without dimensions is
///   a value.
/// - **Legality**: [`Contraction::of`]; where no loop around all uses will do, the reason becomes a remark.
/// - **Why**: a row or a plane stays in the cache, and a value in a register.
pub fn contract_temporaries(tree: &mut Tree, cx: &mut PassCx) {
    let temporaries: Vec<Handle<Container>> = tree
        .containers
        .iter()
        .filter(|(_, it)| it.kind == ContainerKind::Temporary && it.storage != Storage::Caller)
        .map(|(handle, _)| handle)
        .collect();
    // Contracting an array moves no statement.
    let uses = AccessPaths::of(tree);
    for container in temporaries {
        let Some(around) = uses.owner(container) else { continue };
        let paths = uses.paths(container);
        let mut refusal = None;
        let chosen = (1..=around.len()).rev().map(|depth| around[..depth].to_vec()).find(|owner| {
            if tree.loop_at(owner).is_none() {
                return false;
            }
            match Contraction::of(tree, owner, container, paths) {
                Ok(it) => it.is_smaller(&tree.containers[container]),
                Err(why) => {
                    refusal = Some(why);
                    false
                }
            }
        });
        match chosen {
            Some(owner) if cx.may_change() => shrink(tree, cx, &owner, container, paths),
            Some(_) => {}
            None => tell(tree, cx, container, paths, refusal),
        }
    }
}

fn shrink(tree: &mut Tree, cx: &mut PassCx, owner: &Path, container: Handle<Container>, uses: &[Path]) {
    let at = named_at(tree, cx, owner);
    let origin = tree.node(owner).and_then(Node::first_origin).cloned();
    let name = tree.containers[container].name.clone();
    if contract(tree, owner, container, uses).is_ok() {
        if let Some(at) = at {
            tree.steps.push(Step::Contract { container: name, owner: at });
        }
        let it = &tree.containers[container];
        let shown = of_stencil(&it.name);
        let shape = it.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let message = match &it.storage {
            Storage::Private(variable) => format!("`{shown}` is an array of {shape} for each `{variable}`"),
            _ => format!("`{shown}` is one value"),
        };
        cx.applied(message, &origin);
    }
}

/// Why an array stays as large as the domain.
fn tell(tree: &Tree, cx: &mut PassCx, container: Handle<Container>, uses: &[Path], refusal: Option<Refusal>) {
    let it = &tree.containers[container];
    if it.storage != Storage::Heap {
        return;
    }
    let why = refusal.map_or_else(|| "no loop holds all its uses".to_owned(), |it| it.reason);
    let shown = of_stencil(&it.name);
    let mut first = None;
    for used in uses.iter().filter_map(|it| tree.node(it)) {
        used.walk(&mut |node| {
            let uses = node.target().is_some_and(|it| it.container == container);
            if first.is_none() && uses {
                first = node.origin().cloned();
            }
        });
    }
    cx.missed(format!("`{shown}` stays in memory as a whole: {why}"), &first);
}
