//! Branches whose arms strips skip where none of their points takes them.

use super::super::super::nodes::{
    ArmOfStrip, Branch, BranchOfStrip, Decisions, For, If, Item, MOST_BRANCHES, StripPart,
};
use super::super::super::visit::walk;
use super::super::hoist_invariants::is_long;
use crate::expr::ExprKind;

/// Makes a branch whose arms run where some point takes them; it is nested `depth` deep, counted from 1.
pub(super) fn branch_of_strip(it: &If, depth: usize) -> BranchOfStrip {
    let arm = |it: &Branch| ArmOfStrip {
        condition: it.condition.clone(),
        origin: it.origin.clone(),
        parts: parts_of_arm(&it.body, depth),
    };
    let otherwise = parts_of_arm(&it.otherwise, depth);
    BranchOfStrip { arms: it.branches.iter().map(arm).collect(), otherwise }
}

fn parts_of_arm(items: &[Item], depth: usize) -> Vec<StripPart> {
    let part = |items: &[Item]| match items {
        [Item::If(it)] if depth < MOST_BRANCHES && is_long_branch(it) => {
            StripPart::Branch(branch_of_strip(it, depth + 1))
        }
        items => StripPart::Lanes(items.to_vec()),
    };
    pieces_of_arm(items, depth).map(part).collect()
}

/// Splits an arm into the pieces that have loops of their own.
pub(super) fn pieces_of_arm(items: &[Item], depth: usize) -> impl Iterator<Item = &[Item]> {
    let stands_alone =
        move |it: &Item| depth < MOST_BRANCHES && matches!(it, Item::If(it) if is_long_branch(it));
    items.chunk_by(move |one, other| !stands_alone(one) && !stands_alone(other))
}

/// Whether a loop has a branch that is worth passing over, and points that are lanes.
pub(super) fn has_long_branch(it: &For, decisions: &Decisions) -> bool {
    may_pass_over(it)
        && decisions.stores(it.id).is_none()
        && it.body.iter().any(|it| matches!(it, Item::If(it) if is_long_branch(it)))
}

/// Whether strips of a loop may pass over branches.
pub(super) fn may_pass_over(it: &For) -> bool {
    it.is_simd && !it.is_descending && it.positions.only_turn().is_none()
}

/// Whether an arm of a branch is so long that it pays to test whether some point takes it.
pub(super) fn is_long_branch(it: &If) -> bool {
    let of_arm = it.branches.iter().map(|it| it.body.as_slice()).chain([it.otherwise.as_slice()]);
    it.branches.len() < 62 && of_arm.map(work).max().is_some_and(|it| it >= LEAST_WORK)
}

/// Least work of the longest arm of a branch that is worth skipping, in additions.
const LEAST_WORK: usize = 96;

/// Counts the work of statements, in additions: a division is some of them, a function of mathematics many.
fn work(items: &[Item]) -> usize {
    let mut n = 0;
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.walk(&mut |it| {
                n += match () {
                    () if it.is_transcendental() => 24,
                    () if is_long(it) => 8,
                    () => usize::from(!matches!(it.kind, ExprKind::Access(_) | ExprKind::Literal(_))),
                };
            });
        });
    });
    n
}
