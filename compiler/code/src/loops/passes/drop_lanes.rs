//! Takes loops out of vector lanes whose points may end the run, where lanes cannot do that.
//!
//! ```text
//! for i in [0, I) parallel simd:           for i in [0, I) parallel:
//!   find n in [0, K) = m[i, j]               find n in [0, K) = m[i, j]
//!   check stop at [i, j, k] in …:            check stop at [i, j, k] in …:
//!     b[i, j, k] = a[i, j, {n}]                b[i, j, k] = a[i, j, {n}]
//! ```

use super::super::nodes::{Decisions, For, Item, Program};
use super::super::visit::{any, each_origin};
use super::PassCx;
use crate::diag::Origin;

/// As options and remarks call it.
pub const NAME: &str = "loops/drop-lanes";

/// Takes the lanes from loops whose points may end the run.
///
/// - **Precondition**: loops that store rows past the caches are marked; these stay in lanes.
/// - **Effect**: [`For::is_simd`] holds for no other loop with a `while` or a check inside.
/// - **Legality**: always; iterations that may run at the same time may run one after the other.
/// - **Why**: the target's [`has_ending_lanes`](crate::target::Target::has_ending_lanes). Code generators need it, so
///   it always runs.
pub fn drop_lanes(program: &mut Program, cx: &mut PassCx) {
    if cx.options.has_ending_lanes.value {
        return;
    }
    let Program { functions, decisions, .. } = program;
    functions.values_mut().for_each(|it| block(&mut it.body, decisions, cx));
}

fn block(items: &mut [Item], decisions: &Decisions, cx: &mut PassCx) {
    for item in items {
        if let Item::For(it) = item
            && may_end(it)
            && decisions.stores(it.id).is_none()
            && cx.may_change()
        {
            it.is_simd = false;
            let mut origins: Vec<Origin> = Vec::new();
            each_origin(&it.body, &mut |it| origins.push(it.clone()));
            let (axis, reason) = (it.axis.position_name(), cx.options.has_ending_lanes.reason);
            cx.missed(format!("points along {axis} are no lanes: {reason}"), &origins);
        }
        item.blocks_mut().into_iter().for_each(|it| block(it, decisions, cx));
    }
}

/// Whether a loop in lanes holds something that may end the run.
fn may_end(it: &For) -> bool {
    it.is_simd && any(&it.body, &mut |it| matches!(it, Item::While(_) | Item::Checked(_)))
}
