//! Gives the values that a sweep writes into a field and reads again an array of their own beside the field.

use super::contract::{Contraction, accesses_of, is_written_wherever_read, swept};
use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::nodes::{Access, Assign, Container, ContainerKind, Node, Storage, Tree};
use crate::space::{Axis, AxisSet};

/// Lets the sweeps inside the loop at `owner` compute the values of `field` that they read again in an array
/// of their own. Each value goes there first, and from there into the field. The sweeps do not read the field
/// any more.
///
/// - **Effect**: one more temporary, as large as the field; of two levels, where it is contracted next.
/// - **Legality**: from the first sweep that writes the field on, each level is written before it is read, at
///   all points that are read. It is read one level behind at most. No condition guards its writes.
/// - **Why**: a row that is only written may go past the caches, and need not be fetched before.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn copy_results(tree: &mut Tree, owner: &Path, field: Handle<Container>) -> Result<(), Refusal> {
    let uses = may_copy(tree, owner, field)?;
    carry_out(tree, field, &uses);
    Ok(())
}

/// The statements that would use the copy, where two levels of it will do.
pub(in crate::schedule) fn small_copy(
    tree: &Tree,
    owner: &Path,
    field: Handle<Container>,
) -> Option<Vec<Path>> {
    let uses = may_copy(tree, owner, field).ok()?;
    let plan = Contraction::of_any(tree, owner, field, &uses).ok()?;
    plan.keeps_a_ring().then_some(uses)
}

/// Copies a field that may have a copy at these statements.
pub(in crate::schedule) fn carry_out(tree: &mut Tree, field: Handle<Container>, uses: &[Path]) {
    let copy = copy_of(tree, field);
    let own = tree.containers.push(copy);
    // From the last, so that the places of those before stay.
    for path in uses.iter().rev() {
        let Some((&at, outer)) = path.split_last() else { continue };
        let Some(block) = tree.block_mut(outer) else { continue };
        let Some(node) = block.get_mut(at) else { continue };
        let target = node.target().filter(|it| it.container == field).cloned();
        node.each_access_mut(&mut |access| {
            if access.container == field {
                access.container = own;
            }
        });
        if let (Some(target), Node::Assign(it)) = (target, node) {
            let value = Expr {
                kind: ExprKind::Access(Access { container: own, index: target.index.clone() }),
                dtype: it.value.dtype,
                span: it.value.span,
            };
            let assign = Assign { target, value, origin: it.origin.clone() };
            block.insert(at + 1, Node::Assign(assign));
        }
    }
}

/// The statements that use the field, from the first sweep on that writes it, where they may use a copy.
///
/// # Errors
///
/// The reason why not.
fn may_copy(tree: &Tree, owner: &Path, field: Handle<Container>) -> Result<Vec<Path>, Refusal> {
    let block = tree.block(owner).ok_or_else(|| Refusal::new("there is no such loop"))?;
    let array = tree.containers.get(field).ok_or_else(|| Refusal::new("there is no such field"))?;
    let name = name_of(array);
    let refuse = |why: &str| Err(Refusal::new(format!("`{name}` {why}")));
    let is_field = matches!(array.kind, ContainerKind::Field { is_written: true, .. });
    if !is_field || array.axes != AxisSet::IJK || array.shape.len() != 3 {
        return refuse("is no field of three dimensions that is written");
    }
    let writes = |node: &Node| Accesses::of(std::slice::from_ref(node)).has_write_of(field);
    let Some(first) = block.iter().position(writes) else { return refuse("is not written inside") };
    let all = AccessPaths::below(tree, owner);
    let uses: Vec<Path> = all
        .paths(field)
        .iter()
        .filter(|it| it.get(owner.len()).is_some_and(|&at| at >= first))
        .cloned()
        .collect();
    let is_guarded =
        |path: &Path| tree.node(path).is_none_or(|node| writes(node) && !matches!(node, Node::Assign(_)));
    if uses.iter().any(is_guarded) {
        return refuse("is written under a condition");
    }
    let found = accesses_of(tree, owner, field, &uses);
    if found.iter().any(|(it, _)| it.access.index.iter().any(|it| it.found.is_some())) {
        return refuse("is touched where only the run tells");
    }
    let along_k = (Axis::K.index(), &array.shift[Axis::K.index()]);
    match swept(tree, owner, field, along_k, &uses) {
        Some(levels) if levels > 1 && is_written_wherever_read(array, &found) => Ok(uses),
        Some(1) => refuse("is read at the level at hand alone"),
        _ => refuse("is no result of one sweep that it reads again"),
    }
}

/// A temporary like the field, with a name that there is not yet.
fn copy_of(tree: &Tree, field: Handle<Container>) -> Container {
    let it = &tree.containers[field];
    let mut names = (1_u32..).map(|number| format!("{}_{number}", name_of(it)));
    let is_free = |name: &String| tree.containers.iter().all(|(_, it)| it.name != *name);
    let name = names.find(is_free).unwrap_or_default();
    Container {
        name,
        kind: ContainerKind::Temporary,
        storage: Storage::Heap,
        ring: None,
        place: None,
        ..it.clone()
    }
}
