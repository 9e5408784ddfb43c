//! Passes that decide about loops and statements before any code is written, in the order in which they run.
//!
//! Each pass reads the capabilities of the target ([`Target`]). It changes the program, or records decisions
//! ([`Decisions`]) that code generators then write down. A pass that takes a loop out of the program drops what
//! was decided about it.

pub mod drop_grid;
pub mod drop_idle_stores;
pub mod widen_masks;
pub mod hoist_invariants;
pub mod lift_repeats;
pub mod convert_branches;
pub mod declare_locals;
pub mod place_rows;
pub mod mask_lanes;
pub mod prefetch_rows;
pub mod stream_stores;
pub mod split_loops;
pub mod block_rows;
pub mod drop_lanes;
pub mod drop_counters;
pub mod skip_branches;
pub mod plan_compilation;

#[cfg(test)]
mod tests;

use super::nodes::{Array, Decisions, Function, If, Item, Local, Program, next_handle};
use super::{print, validate};
use crate::diag::{Listing, Origin};
use crate::entity::{Arena, Handle, Namer};
use crate::pass::{Analyses, Level, Pass, Pipeline};
use crate::target::Target;
use crate::types::DType;

/// The context of the passes of this level.
pub type PassCx = crate::pass::PassCx<Program>;

/// All passes, in order.
pub const PASSES: &[Pass<Program>] = &[
    // Before any other pass looks at loops.
    Pass { name: drop_grid::NAME, run: drop_grid::drop_grid, preserves: &[] },
    // Before elements become locals, and before other passes look at loops that it leaves empty.
    Pass { name: drop_idle_stores::NAME, run: drop_idle_stores::drop_idle_stores, preserves: &[] },
    // Before reads of a row of masks become locals, or are hoisted.
    Pass { name: widen_masks::NAME, run: widen_masks::widen_masks, preserves: &[] },
    // Before other passes keep elements in locals, since it looks for reads of elements.
    Pass { name: hoist_invariants::NAME, run: hoist_invariants::hoist_invariants, preserves: &[] },
    // Before branches become choices: the rest of a branch around a `while` may become one too.
    Pass { name: lift_repeats::NAME, run: lift_repeats::lift_repeats, preserves: &[] },
    // After hoisting: a value that is the same for all lanes is no choice between them any more.
    Pass { name: convert_branches::NAME, run: convert_branches::convert_branches, preserves: &[] },
    // After every pass that creates locals, except those that declare their locals themselves.
    Pass { name: declare_locals::NAME, run: declare_locals::declare_locals, preserves: &[] },
    // By the stores that loops have now.
    Pass { name: place_rows::NAME, run: place_rows::place_rows, preserves: &[] },
    Pass { name: prefetch_rows::NAME, run: prefetch_rows::prefetch_rows, preserves: &[] },
    Pass { name: mask_lanes::NAME, run: mask_lanes::mask_lanes, preserves: &[] },
    // Before loops are split: a loop that stores rows past the caches is not split.
    Pass { name: stream_stores::NAME, run: stream_stores::stream_stores, preserves: &[] },
    Pass { name: split_loops::NAME, run: split_loops::split_loops, preserves: &[] },
    // For the loops that were not split.
    Pass { name: block_rows::NAME, run: block_rows::block_rows, preserves: &[] },
    // After every pass that asks which loops the schedule gave lanes, and after `while` loops became strips.
    Pass { name: drop_lanes::NAME, run: drop_lanes::drop_lanes, preserves: &[] },
    // After loops that store rows past the caches are known: these stay loops.
    Pass { name: drop_counters::NAME, run: drop_counters::drop_counters, preserves: &[] },
    // After lanes have their masks.
    Pass { name: skip_branches::NAME, run: skip_branches::skip_branches, preserves: &[] },
    // Last: it counts the operations of the program that code is made of.
    Pass { name: plan_compilation::NAME, run: plan_compilation::plan_compilation, preserves: &[] },
];

/// All of them.
pub const PIPELINE: Pipeline<Program> =
    Pipeline { passes: PASSES, needed: &[declare_locals::NAME, drop_lanes::NAME] };

/// Those for kernels of a GPU. Loops there are short or spread over threads, and compilers of kernels hoist themselves.
pub const KERNELS: Pipeline<Program> = Pipeline {
    passes: &[Pass { name: declare_locals::NAME, run: declare_locals::declare_locals, preserves: &[] }],
    needed: &[declare_locals::NAME],
};

impl Level for Program {
    const NAME: &'static str = "loops";
    type Options = Target;

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, _: &mut Analyses<Self>) -> Listing {
        print::listing(self)
    }

    fn each_statement(&self, each: &mut dyn FnMut(&Origin)) {
        self.functions.values().for_each(|it| super::visit::each_origin(&it.body, each));
    }
}

/// The names of a program and what was decided about it, while a pass changes its statements.
struct Names<'a> {
    locals: &'a mut Arena<Local>,
    arrays: &'a Arena<Array>,
    decisions: &'a mut Decisions,
    n_branches: &'a mut usize,
    namer: &'a mut Namer,
}

impl Names<'_> {
    /// The handle of a branch, which no other branch has.
    fn new_branch(&mut self) -> Handle<If> {
        next_handle(self.n_branches)
    }

    /// A local that statements read.
    fn new_local(&mut self, wanted: &str, dtype: DType) -> Handle<Local> {
        let name = self.namer.name(wanted);
        self.locals.push(Local { name, dtype, is_read: true })
    }
}

/// Changes the body of each function, in order.
fn each_body(program: &mut Program, change: &mut dyn FnMut(&mut Vec<Item>, &mut Names<'_>)) {
    let Program { functions, locals, arrays, decisions, n_branches, namer, .. } = program;
    let mut names = Names { locals, arrays, decisions, n_branches, namer };
    functions.values_mut().for_each(|Function { body, .. }| change(body, &mut names));
}
