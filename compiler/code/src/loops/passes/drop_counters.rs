//! Marks the loops that have one position at most, where code needs no counter for them.
//!
//! ```text
//! for i in [I - 1, I) parallel:            for i in [I - 1, I) parallel once:
//!   b[i, j, k] = a[i, j, k]                  b[i, j, k] = a[i, j, k]
//! ```

use super::super::nodes::{Item, Program};
use super::super::visit::walk;
use super::PassCx;

/// As options and remarks call it.
pub const NAME: &str = "loops/drop-counters";

/// Marks the loops that are a block, or a branch where the position need not exist.
///
/// - **Precondition**: loops that store rows past the caches are marked; these stay loops.
/// - **Effect**: [`Decisions::is_once`](super::super::nodes::Decisions::is_once).
/// - **Legality**: [`Positions::only_turn`](super::super::nodes::Positions::only_turn).
/// - **Why**: the target's [`has_blocks`](crate::target::Target::has_blocks).
pub fn drop_counters(program: &mut Program, cx: &mut PassCx) {
    if !cx.options.has_blocks.value {
        return;
    }
    let mut found = Vec::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item
                && it.positions.only_turn().is_some()
                && program.decisions.stores(it.id).is_none()
                && cx.may_change()
            {
                found.push(it.id);
            }
        });
    }
    found.into_iter().for_each(|it| program.decisions.set_once(it));
}
