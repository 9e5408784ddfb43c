//! Makes plain loops of those over a GPU's grid and blocks, where the target has neither.
//!
//! ```text
//! for k in [0, K) parallel grid:           for k in [0, K) parallel:
//!   for i in [0, I) parallel block:          for i in [0, I) parallel:
//!     b[i, k] = a[i, k]                        b[i, k] = a[i, k]
//! ```

use super::super::nodes::{Item, Program};
use super::super::visit::{any, each_origin};
use super::PassCx;
use crate::diag::Origin;

/// As options and remarks call it.
pub const NAME: &str = "loops/drop-grid";

/// Takes the marks of a GPU from loops.
///
/// - **Precondition**: none.
/// - **Effect**: no loop has a [`gpu`](super::super::nodes::For::gpu) mark, no barrier stands in one, and no
///   array lives in the memory of a GPU. A remark tells of each nest that had a mark.
/// - **Legality**: always; iterations that may run at the same time may run one after the other.
/// - **Why**: the target's [`grid`](crate::target::Target::grid); nobody should think that a schedule for a GPU runs on
///   one.
pub fn drop_grid(program: &mut Program, cx: &mut PassCx) {
    if cx.options.grid.value.is_some() {
        return;
    }
    program.functions.values_mut().for_each(|it| drop_marks(&mut it.body, false, cx));
    let is_dropped = !program
        .functions
        .values()
        .any(|it| any(&it.body, &mut |item| matches!(item, Item::For(it) if it.gpu.is_some())));
    for it in program.arrays.values_mut().filter(|_| is_dropped) {
        (it.place, it.owner) = (None, None);
    }
}

fn drop_marks(items: &mut Vec<Item>, is_inside: bool, cx: &mut PassCx) {
    if is_inside {
        items.retain(|it| !matches!(it, Item::Barrier));
    }
    for item in items {
        let mut is_inside = is_inside;
        if let Item::For(it) = item
            && it.gpu.is_some()
        {
            if !is_inside && !cx.may_change() {
                continue;
            }
            if !is_inside {
                let mut origins: Vec<Origin> = Vec::new();
                each_origin(&it.body, &mut |it| origins.push(it.clone()));
                let reason = cx.options.grid.reason;
                cx.missed(format!("loops over a grid run one after the other here: {reason}"), &origins);
            }
            it.gpu = None;
            is_inside = true;
        }
        item.blocks_mut().into_iter().for_each(|it| drop_marks(it, is_inside, cx));
    }
}
