//! Replaces a loop that has one iteration by its body.

use std::collections::BTreeSet;

use super::{Path, Refusal};
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::nodes::{Access, Container, Node, Storage, Subscript, Tree};
use crate::space::{Affine, Axis, Size, Symbol};

/// Replaces a loop that runs once by its body.
///
/// - **Legality**: its range holds one position, and nothing inside asks for it but indices: a region, a limit
///   and `K` need the variable. Arrays of the iteration's own become those of the loop around, where there is one.
/// - **Why**: no code for a loop, and the nodes inside may be merged with their neighbours.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn drop_unit_loop(tree: &mut Tree, path: &Path) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    let (variable, axis) = (it.variable.clone(), it.axis);
    let (Size::Affine(start), Size::Affine(end)) = (&it.start, &it.end) else {
        return Err(Refusal::new(format!("the loop over `{variable}` may have several iterations")));
    };
    if end.distance_from(start) != Some(1) {
        return Err(Refusal::new(format!("the loop over `{variable}` may have several iterations")));
    }
    let arrays = private_arrays(tree, path, &variable);
    let around = (1..path.len()).rev().find_map(|depth| tree.loop_at(&path[..depth]));
    let around = around.map(|it| it.variable.clone());
    if !arrays.is_empty() {
        let uses = AccessPaths::of(tree);
        let is_inside = |array: &Handle<Container>| uses.paths(*array).iter().all(|it| it.starts_with(path));
        if around.is_none() || !arrays.iter().all(is_inside) {
            return Err(Refusal::new(format!("arrays live in an iteration over `{variable}`")));
        }
    }
    if it.children.iter().any(|it| asks_for(it, &variable, axis)) {
        return Err(Refusal::new(format!("the position `{variable}` itself is asked for inside")));
    }
    let start = start.clone();
    for array in arrays {
        let it = &mut tree.containers[array];
        it.storage = around.clone().map_or(Storage::Heap, Storage::Private);
        it.shape.iter_mut().for_each(|size| *size = substituted(size, &variable, &start));
        it.shift.iter_mut().for_each(|sum| *sum = sum.substituted(&variable, &start));
    }
    let (Some((&at, outer)), Some(it)) = (path.split_last(), tree.loop_at_mut(path)) else { return Ok(()) };
    let mut children = std::mem::take(&mut it.children);
    children.iter_mut().for_each(|it| put(it, &variable, &start));
    if let Some(block) = tree.block_mut(outer) {
        block.splice(at..=at, children);
    }
    Ok(())
}

/// The arrays of an iteration of the loop at `path`, which counts `variable`.
fn private_arrays(tree: &Tree, path: &Path, variable: &Symbol) -> BTreeSet<Handle<Container>> {
    let inside = Accesses::of(tree.block(path).unwrap_or_default());
    let is_private = |it: &Handle<Container>| matches!(&tree.containers[*it].storage, Storage::Private(owner) if owner == variable);
    inside.iter().map(|it| it.access.container).filter(is_private).collect()
}

/// Whether something inside needs the variable itself.
fn asks_for(node: &Node, variable: &Symbol, axis: Axis) -> bool {
    let in_expr = |expr: &Expr<Access>| {
        let mut found = false;
        expr.walk(&mut |it| found |= matches!(it.kind, ExprKind::Position(of) if of == axis));
        found
    };
    let own = match node {
        Node::Region(it) => it.region.along(axis) != crate::space::Side::default(),
        Node::Where(it) => it.variable == *variable,
        // It may end the run, and then tells its cell.
        Node::While(_) => true,
        Node::Assign(_) | Node::If(_) | Node::Loop(_) | Node::Barrier => false,
    };
    let finds = |it: &Access| it.index.iter().any(|it| it.found.is_some());
    let mut in_access = false;
    node.each_own_access(&mut |_, it| in_access |= finds(it));
    own || in_access
        || node.expression().is_some_and(in_expr)
        || node.children().into_iter().any(|it| asks_for(it, variable, axis))
}

fn put(node: &mut Node, variable: &Symbol, by: &Affine) {
    node.each_size_mut(&mut |size| *size = substituted(size, variable, by));
    node.each_access_mut(&mut |access| {
        for Subscript { known, .. } in &mut access.index {
            *known = known.substituted(variable, by);
        }
    });
}

fn substituted(size: &Size, variable: &Symbol, by: &Affine) -> Size {
    match size {
        Size::Affine(sum) => Size::Affine(sum.substituted(variable, by)),
        Size::Min(parts) => Size::Min(parts.iter().map(|it| substituted(it, variable, by)).collect()),
        Size::Max(parts) => Size::Max(parts.iter().map(|it| substituted(it, variable, by)).collect()),
    }
}
