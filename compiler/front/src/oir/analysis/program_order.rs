//! When each statement runs as it is written.

use crate::diag::{LevelOrder, ProgramOrder, ProgramPoint};
use crate::oir::nodes::Stencil;
use crate::space::LoopOrder;

/// Of a stencil to which no pass has done anything.
#[must_use]
pub fn program_order(stencil: &Stencil) -> ProgramOrder {
    let mut order = ProgramOrder::default();
    for (sweep, it) in (0_u32..).zip(&stencil.vertical_loops) {
        let levels = match it.order {
            LoopOrder::Parallel => LevelOrder::Unordered,
            LoopOrder::Forward => LevelOrder::Ascending,
            LoopOrder::Backward => LevelOrder::Descending,
        };
        for &execution in it.sections.iter().flat_map(|it| &it.executions) {
            let body = &stencil.executions[execution].body;
            let Some(first) = body.first() else { continue };
            let moment = ProgramPoint { sweep, levels, statement: first.origin.stmt };
            body.iter().for_each(|it| it.walk(&mut |it| order.add(it.origin.stmt, moment)));
        }
    }
    order
}
