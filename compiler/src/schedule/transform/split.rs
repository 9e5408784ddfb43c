//! A loop becomes two, one behind the other.

use super::{Path, Refusal};
use crate::schedule::nodes::{Loop, Node, Order, Storage, Tree};
use crate::space::Affine;
use crate::space::order::{greatest, least};

/// Turns `[start, end)` into `[start, at)` and `[at, end)`, in the order in which the loop runs.
///
/// - **Effect**: where `at` may lie outside of the range on some domain, the bounds are kept within it.
/// - **Legality**: always, but for what lives in an iteration and is declared for one loop.
/// - **Why**: the first and the last levels often do something else, and loops without limits inside run in lanes.
///
/// The sections of the OIR say which levels the text treats otherwise; this cuts on, for the machine's sake alone.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn split(tree: &mut Tree, path: &Path, at: &Affine) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    if it.step != 1 {
        return Err(Refusal::new(format!("the loop over `{}` is one over tiles", it.variable)));
    }
    if tree
        .containers
        .iter()
        .any(|(_, c)| matches!(&c.storage, Storage::Private(owner) if *owner == it.variable))
    {
        return Err(Refusal::new(format!("arrays live in an iteration over `{}`", it.variable)));
    }
    let (Some((&position, outer)), Some(it)) = (path.split_last(), tree.loop_at_mut(path)) else {
        return Ok(());
    };
    let at = greatest(&it.start, &least(&at.clone().into(), &it.end));
    let upper = Loop { start: at.clone(), ..it.clone() };
    it.end = at;
    let is_descending = it.order == Order::Descending;
    if let Some(block) = tree.block_mut(outer) {
        let behind = if is_descending { position } else { position + 1 };
        block.insert(behind, Node::Loop(upper));
    }
    Ok(())
}
