//! Changes to OIR that keep its meaning.

pub mod fold_constants;
pub mod prune_regions;
pub mod prune_temporaries;
pub mod merge_vertical_loops;
pub mod merge_horizontal_executions;
pub mod localize_temporaries;
pub mod inline_temporaries;
pub mod reduce_temporaries;
pub mod merge_conditions;
pub mod inline_conditions;
pub mod share_subexpressions;
pub mod propagate_copies;
pub mod find_caches;

use std::collections::BTreeSet;

use super::analysis::caches::CachesOf;
use super::analysis::extents::ExtentsOf;
use super::nodes::Stencil;
use super::{print, validate};
use crate::diag::{Listing, Origin, StmtId};
use crate::pass::{Analyses, Level, Pass, Pipeline};

/// Statements of the text that want to stay as they are.
#[derive(Clone, Debug, Default)]
pub struct PinnedStmts {
    /// They start loops of their own: what stands before them does not go on with them.
    pub apart: BTreeSet<StmtId>,
}

impl PinnedStmts {
    /// Whether a statement is one that stays apart from what stands before it.
    fn is_apart(&self, origin: Option<&Origin>) -> bool {
        origin.is_some_and(|it| self.apart.contains(&it.stmt))
    }
}

/// The context of the passes of this level.
pub type PassCx = crate::pass::PassCx<Stencil>;

/// In the order in which they run.
pub const PASSES: &[Pass<Stencil>] = &[
    // First come the passes that remove statements, so that no later pass looks at those. A branch that never
    // runs may be the only one that meets a region or reads a temporary.
    Pass { name: fold_constants::NAME, run: fold_constants::fold_constants, preserves: &[] },
    Pass { name: prune_regions::NAME, run: prune_regions::prune_regions, preserves: &[] },
    Pass { name: prune_temporaries::NAME, run: prune_temporaries::prune_temporaries, preserves: &[] },
    // Before executions are merged, which stand in one section then.
    Pass {
        name: merge_vertical_loops::NAME,
        run: merge_vertical_loops::merge_vertical_loops,
        preserves: &[],
    },
    Pass {
        name: merge_horizontal_executions::NAME,
        run: merge_horizontal_executions::merge_horizontal_executions,
        preserves: &[],
    },
    // After merging, when the uses of most temporaries have come together.
    Pass {
        name: localize_temporaries::NAME,
        run: localize_temporaries::localize_temporaries,
        preserves: &[],
    },
    // Of those that are left, some are better computed again than stored.
    Pass { name: inline_temporaries::NAME, run: inline_temporaries::inline_temporaries, preserves: &[] },
    Pass { name: reduce_temporaries::NAME, run: reduce_temporaries::reduce_temporaries, preserves: &[] },
    // They stood between executions that can be merged without them.
    Pass { name: prune_temporaries::INLINED, run: prune_temporaries::prune_temporaries, preserves: &[] },
    Pass {
        name: merge_horizontal_executions::AGAIN,
        run: merge_horizontal_executions::merge_horizontal_executions,
        preserves: &[],
    },
    Pass {
        name: localize_temporaries::AGAIN,
        run: localize_temporaries::localize_temporaries,
        preserves: &[],
    },
    // Branches are neighbours now, and what they ask is at the point.
    Pass { name: merge_conditions::NAME, run: merge_conditions::merge_conditions, preserves: &[] },
    // After these, since one that is asked once can stand where it is asked.
    Pass { name: inline_conditions::NAME, run: inline_conditions::inline_conditions, preserves: &[] },
    Pass {
        name: share_subexpressions::NAME,
        run: share_subexpressions::share_subexpressions,
        preserves: &[],
    },
    // A shared value may be assigned to names that were there before.
    Pass { name: propagate_copies::NAME, run: propagate_copies::propagate_copies, preserves: &[] },
    // Each place has its own value then, and not every place reads it; nor are copies read any more.
    Pass { name: prune_temporaries::LOCALS, run: prune_temporaries::prune_temporaries, preserves: &[] },
    // A look at what came of it all.
    Pass { name: find_caches::NAME, run: find_caches::find_caches, preserves: &[] },
];

/// All of them.
pub const PIPELINE: Pipeline<Stencil> = Pipeline { passes: PASSES, needed: &[] };

impl Level for Stencil {
    const NAME: &'static str = "oir";
    type Options = PinnedStmts;

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, facts: &mut Analyses<Self>) -> Listing {
        let extents = facts.get::<ExtentsOf>(self);
        print::listing_with_facts(self, &extents, &facts.get::<CachesOf>(self))
    }

    fn tidy(&mut self) {
        self.compact();
    }

    fn each_statement(&self, each: &mut dyn FnMut(&Origin)) {
        for placed in self.placed() {
            for stmt in &self.executions[placed.execution].body {
                stmt.walk(&mut |it| each(&it.origin));
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::oir::{parse::parse, print::listing, validate::validate};

    /// Runs a pass on OIR as text; answers the new text and the remarks.
    pub(in crate::oir) fn after(text: &str, pass: fn(&mut Stencil, &mut PassCx)) -> String {
        let mut stencil = parse(text).expect("the text is OIR");
        assert_eq!(validate(&stencil), Vec::<String>::new(), "before the pass");
        let mut cx = PassCx::new(PinnedStmts::default());
        pass(&mut stencil, &mut cx);
        stencil.compact();
        assert_eq!(validate(&stencil), Vec::<String>::new(), "after the pass");
        let mut found = listing(&stencil).text;
        for remark in cx.remarks() {
            let word = if remark.is_applied { "applied" } else { "missed" };
            found.push_str(&format!("{word}: {}\n", remark.message));
        }
        found
    }
}
