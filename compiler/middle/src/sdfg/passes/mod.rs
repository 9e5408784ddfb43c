//! Changes to the graph that keep its meaning and the order of every loop: that was chosen on the schedule tree.

pub mod promote_scalars;
pub mod eliminate_dead_dataflow;
pub mod remove_copies;
pub mod fuse_states;
pub mod fuse_maps;
pub mod reuse_transients;

use super::nodes::Sdfg;
use super::{print, validate};
use crate::diag::{Listing, Origin};
use crate::pass::{Analyses, Level, Pass, Pipeline};

/// The context of the passes of this level.
pub type PassCx = crate::pass::PassCx<Sdfg>;

/// All passes, in order.
pub const PASSES: &[Pass<Sdfg>] = &[
    // First: a symbol is no data that other passes have to look at.
    Pass { name: promote_scalars::NAME, run: promote_scalars::promote_scalars, preserves: &[] },
    // Removes the stores of promoted scalars.
    Pass {
        name: eliminate_dead_dataflow::NAME,
        run: eliminate_dead_dataflow::eliminate_dead_dataflow,
        preserves: &[],
    },
    // A copy that is gone orders nothing any more.
    Pass { name: remove_copies::NAME, run: remove_copies::remove_copies, preserves: &[] },
    // Where a state in between is gone, its neighbours meet.
    Pass { name: fuse_states::NAME, run: fuse_states::fuse_states, preserves: &[] },
    // Within one state, since data flow tells which maps depend on each other.
    Pass { name: fuse_maps::NAME, run: fuse_maps::fuse_maps, preserves: &[] },
    // Last, when it is known how long each array is needed.
    Pass { name: reuse_transients::NAME, run: reuse_transients::reuse_transients, preserves: &[] },
];

/// All passes of this level.
pub const PIPELINE: Pipeline<Sdfg> = Pipeline { passes: PASSES, needed: &[] };

impl Level for Sdfg {
    const NAME: &'static str = "sdfg";
    type Options = ();

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, _: &mut Analyses<Self>) -> Listing {
        print::listing(self)
    }

    fn tidy(&mut self) {
        self.drop_unused_containers();
    }

    fn each_statement(&self, each: &mut dyn FnMut(&Origin)) {
        self.each_origin(&mut |it| each(it));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::samples::parsed;
    use crate::sdfg::from_schedule::lower;

    /// Runs a pass on the graph of a schedule tree. Returns the listing and the remarks.
    pub(in crate::sdfg) fn after(tree: &str, pass: fn(&mut Sdfg, &mut PassCx)) -> String {
        after_graph(lower(&parsed(tree)), pass)
    }

    pub(in crate::sdfg) fn after_graph(mut graph: Sdfg, pass: fn(&mut Sdfg, &mut PassCx)) -> String {
        assert_eq!(validate::validate(&graph), Vec::<String>::new(), "before the pass");
        let mut cx = PassCx::new(());
        pass(&mut graph, &mut cx);
        graph.tidy();
        assert_eq!(validate::validate(&graph), Vec::<String>::new(), "after the pass");
        let mut found = print::listing(&graph).text;
        for remark in cx.remarks() {
            let word = if remark.is_applied { "applied" } else { "missed" };
            found.push_str(&format!("{word}: {}\n", remark.message));
        }
        found
    }

    /// The remarks of such an answer.
    pub(in crate::sdfg) fn remarks_in(answer: &str) -> String {
        let remarks = answer.lines().filter(|it| it.starts_with("missed") || it.starts_with("applied"));
        remarks.collect::<Vec<_>>().join("; ")
    }
}
