//! Decides which branches of a loop in lanes are passed over where no lane takes them.
//!
//! Lanes under masks compute a short branch anyway, and keep what they had. A long branch is worth the question
//! whether any lane takes it.
//!
//! ```text
//! if a[i, j, k] > 0.0:                     if a[i, j, k] > 0.0:
//!   b[i, j, k] = exp(a[i, j, k])             skip where no lane takes it
//! else:                                      b[i, j, k] = exp(a[i, j, k])
//!   b[i, j, k] = 0.0                       else:
//!                                            b[i, j, k] = 0.0
//! ```

use super::super::analysis::operations::definitions;
use super::super::nodes::{If, Item, Program, SkippedArms};
use super::super::visit::{any, walk};
use super::PassCx;
use crate::target::Divergence;

/// As options and remarks call it.
pub const NAME: &str = "loops/skip-branches";

/// Nodes of the expressions in a branch, from which on it is worth asking whether any lane takes it.
const WORTH_A_QUESTION: usize = 25;

/// Marks the arms of branches that lanes pass over together.
///
/// - **Precondition**: loops in lanes under masks are marked.
/// - **Effect**: [`Decisions::skipped`](super::super::nodes::Decisions::skipped).
/// - **Legality**: always; lanes that do not take an arm keep what they have, whether or not it is computed.
/// - **Why**: the target's [`divergence`](crate::target::Target::divergence). A question costs a jump, and a short
///   arm less.
pub fn skip_branches(program: &mut Program, cx: &mut PassCx) {
    if cx.options.divergence.value != Divergence::Masks {
        return;
    }
    let mut found = Vec::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            let Item::For(it) = item else { return };
            if !program.decisions.lanes(it.id).is_masked {
                return;
            }
            walk(&it.body, &mut |item| {
                if let Item::If(it) = item {
                    let skipped = skipped(it);
                    if skipped != SkippedArms::default() && cx.may_change() {
                        found.push((it.id, skipped));
                    }
                }
            });
        });
    }
    found.into_iter().for_each(|(of, skipped)| program.decisions.set_skipped(of, skipped));
}

/// The arms of a branch that are worth a question, and those behind which all others are.
fn skipped(it: &If) -> SkippedArms {
    let mut skipped = SkippedArms::default();
    for (at, branch) in it.branches.iter().enumerate() {
        if is_worth(&[&branch.body]) {
            skipped.arms.insert(at);
        }
        let others = it.branches[at + 1..].iter().map(|it| it.body.as_slice());
        let others: Vec<&[Item]> = others.chain([it.otherwise.as_slice()]).collect();
        if is_worth(&others) {
            skipped.others.insert(at);
        }
    }
    skipped
}

/// Whether blocks are long, compute a formula, or repeat something.
fn is_worth(blocks: &[&[Item]]) -> bool {
    let mut n = 0;
    for block in blocks {
        walk(block, &mut |item| item.each_expr(&mut |expr| expr.walk(&mut |_| n += 1)));
    }
    let is_long =
        |it: &&[Item]| !definitions(it).is_empty() || any(it, &mut |it| matches!(it, Item::While(_)));
    n >= WORTH_A_QUESTION || blocks.iter().any(is_long)
}
