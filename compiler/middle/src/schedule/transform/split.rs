//! Splits a loop into two, one behind the other.

use super::tile::is_around;
use super::{Path, Refusal};
use crate::schedule::limits::{MOST_DISTANCE, MOST_FACTOR};
use crate::schedule::nodes::{Loop, Node, Order, Tree};
use crate::space::assume::Assumptions;
use crate::space::order::{greatest, least};
use crate::space::{Affine, Size, Symbol, names};

/// Turns `[start, end)` into `[start, at)` and `[at, end)`, in the order in which the loop runs.
///
/// - **Effect**: where `at` may lie outside of the range on some domain, the bounds are kept within it. Loops
///   inside are bounded by the part of the range that is left, and go where there is none. So do limits to
///   some of its iterations.
/// - **Legality**: `at` counts from sizes of the domain, and from variables of loops around, and not far from
///   them. It leaves something on both sides on some domain.
/// - **Why**: the first and the last levels often do something else, and loops without limits inside run in
///   lanes.
///
/// The sections of the OIR say which levels the text treats otherwise. This cuts further, for the machine's
/// sake alone.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn split(tree: &mut Tree, path: &Path, at: &Affine) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    if it.step != 1 {
        return Err(Refusal::new(format!("the loop over `{}` is one over tiles", it.variable)));
    }
    is_known(tree, path, at)?;
    let Some((&position, outer)) = path.split_last() else { return Ok(()) };
    let at = greatest(&it.start, &least(&at.clone().into(), &it.end));
    if at == it.start || at == it.end {
        return Err(Refusal::new(format!("the position lies outside of [{}, {})", it.start, it.end)));
    }
    let mut lower = Loop { end: at.clone(), ..it.clone() };
    let mut upper = Loop { start: at, ..it.clone() };
    for half in [&mut lower, &mut upper] {
        let within = Assumptions::some_point().with(&half.variable, &half.start, &half.end);
        bound(&mut half.children, &half.variable, &within);
    }
    let is_descending = upper.order == Order::Descending;
    let halves = if is_descending { [upper, lower] } else { [lower, upper] };
    if let Some(block) = tree.block_mut(outer) {
        block.splice(position..=position, halves.map(Node::Loop));
    }
    Ok(())
}

/// Whether a position is one that the loop at `path` can start from.
fn is_known(tree: &Tree, path: &Path, at: &Affine) -> Result<(), Refusal> {
    if at.offset().unsigned_abs() > MOST_DISTANCE.unsigned_abs() {
        return Err(Refusal::new(format!("`{at}` lies more than {MOST_DISTANCE} positions away")));
    }
    let outer = &path[..path.len() - 1].to_vec();
    for (symbol, factor) in at.terms() {
        if !names::is_size(symbol) && !is_around(tree, outer, symbol) {
            let reason = format!("no loop around counts `{symbol}`, and it is no size of the domain");
            return Err(Refusal::new(reason));
        }
        if factor.unsigned_abs() > MOST_FACTOR.unsigned_abs() {
            return Err(Refusal::new(format!("`{symbol}` counts more than {MOST_FACTOR} times in `{at}`")));
        }
    }
    Ok(())
}

/// Simplifies bounds that count from `variable` by the range at hand, and removes loops that are empty.
fn bound(nodes: &mut Vec<Node>, variable: &Symbol, within: &Assumptions) {
    let counts = |size: &Size| {
        let mut is_any = false;
        size.each_symbol(&mut |it| is_any |= it == variable);
        is_any
    };
    nodes.retain_mut(|node| {
        if let Node::Loop(it) = node {
            for size in [&mut it.start, &mut it.end] {
                if counts(size) {
                    *size = within.simplified(size);
                }
            }
            if (counts(&it.start) || counts(&it.end)) && within.is_at_most(&it.end, &it.start) {
                return false;
            }
        }
        node.blocks_mut().into_iter().for_each(|block| bound(block, variable, within));
        true
    });
    // A limit that excludes all iterations at hand goes with its children; one that excludes none leaves
    // them.
    *nodes = std::mem::take(nodes)
        .into_iter()
        .flat_map(|node| match node {
            Node::Where(it) if it.variable == *variable => {
                let here: Size = Affine::symbol(variable).into();
                let next: Size = Affine::symbol(variable).moved(1).into();
                if within.is_at_most(&it.end, &here) || within.is_at_most(&next, &it.start) {
                    Vec::new()
                } else if within.is_at_most(&it.start, &here) && within.is_at_most(&next, &it.end) {
                    it.children
                } else {
                    vec![Node::Where(it)]
                }
            }
            node => vec![node],
        })
        .collect();
}
