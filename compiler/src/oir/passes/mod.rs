//! Changes to OIR that keep its meaning.

pub mod merge_horizontal_executions;
pub mod localize_temporaries;
pub mod prune_temporaries;
pub mod prune_regions;

use super::analysis::extents::ExtentsOf;
use super::nodes::Stencil;
use super::{print, validate};
use crate::diag::{Listing, Origin};
use crate::pass::{Analyses, Level, Pass, Pipeline};

/// What passes of this level get.
pub type PassCx = crate::pass::PassCx<Stencil>;

/// In the order in which they run.
pub const PASSES: &[Pass<Stencil>] = &[
    // First what needs no work at all, so that nothing later looks at it.
    Pass { name: prune_regions::NAME, run: prune_regions::prune_regions, preserves: &[] },
    Pass { name: prune_temporaries::NAME, run: prune_temporaries::prune_temporaries, preserves: &[] },
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
    // Each place has its own value then, and not every place reads it.
    Pass { name: prune_temporaries::LOCALS, run: prune_temporaries::prune_temporaries, preserves: &[] },
];

/// All of them.
pub const PIPELINE: Pipeline<Stencil> = Pipeline { passes: PASSES };

impl Level for Stencil {
    const NAME: &'static str = "oir";
    type Options = ();

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, facts: &mut Analyses<Self>) -> Listing {
        print::listing_with_extents(self, &facts.get::<ExtentsOf>(self))
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
        let mut cx = PassCx::new(());
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
