//! The scheduling passes, in the order in which they run.

pub mod merge_loops;
pub mod sink_sequential_levels;
pub mod place_threads;
pub mod place_vectors;

use super::nodes::Tree;
use super::{print, validate};
use crate::diag::{Listing, Origin};
use crate::pass::{Analyses, Level, Pass, Pipeline};

/// The machine, as far as a schedule depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether there are cores to spread loops over.
    pub has_threads: bool,
    /// Whether the innermost loop may run in vector lanes.
    pub has_vectors: bool,
}

impl Target {
    /// Several cores with vector units, arrays contiguous along i.
    pub const CPU: Target = Target { has_threads: true, has_vectors: true };
}

/// What passes of this level get.
pub type PassCx = crate::pass::PassCx<Tree>;

/// All passes, in order.
pub const PASSES: &[Pass<Tree>] = &[
    // First: longer bodies give the later passes more to choose from.
    Pass { name: merge_loops::NAME, run: merge_loops::merge_loops, preserves: &[] },
    // After merging, since only a single plane loop can change places with the levels around it.
    Pass {
        name: sink_sequential_levels::NAME,
        run: sink_sequential_levels::sink_sequential_levels,
        preserves: &[],
    },
    // Last, on the final shape: which loops run in parallel.
    Pass { name: place_threads::NAME, run: place_threads::place_threads, preserves: &[] },
    Pass { name: place_vectors::NAME, run: place_vectors::place_vectors, preserves: &[] },
];

/// All of them.
pub const PIPELINE: Pipeline<Tree> = Pipeline { passes: PASSES };

impl Level for Tree {
    const NAME: &'static str = "schedule";
    type Options = Target;

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, _: &mut Analyses<Self>) -> Listing {
        print::listing(self)
    }

    fn each_statement(&self, each: &mut dyn FnMut(&Origin)) {
        self.children.iter().for_each(|it| it.walk(&mut |it| it.origin().into_iter().for_each(&mut *each)));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schedule::{parse::parse, print::listing, validate::validate};

    /// Declarations for the loops of a test.
    pub(in crate::schedule) const FIELDS: &str = "\
schedule test
field a: float64[I + 2, J + 2, K] shift [1, 1, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field p: float64[I, J] shift [0, 0] read-write
scalar s: float64
field n: int64[I, 2] shift [0, 0] read
field m: float64[I + 1, 2] shift [0, 0] read-write
temporary t: float64[I, J + 2, K] shift [0, 1, 0] heap
local c: float64
";

    /// Runs a pass on loops as text, below [`FIELDS`]; answers the new loops and the remarks.
    pub(in crate::schedule) fn after(
        loops: &str,
        pass: fn(&mut Tree, &mut PassCx),
        target: Target,
    ) -> String {
        let mut tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
        assert_eq!(validate(&tree), Vec::<String>::new(), "before the pass");
        let mut cx = PassCx::new(target);
        pass(&mut tree, &mut cx);
        assert_eq!(validate(&tree), Vec::<String>::new(), "after the pass");
        let printed = listing(&tree).text;
        let mut found =
            printed.strip_prefix(FIELDS).expect("a pass changes loops alone").trim_start().to_owned();
        for remark in cx.remarks() {
            let word = if remark.is_applied { "applied" } else { "missed" };
            found.push_str(&format!("{word}: {}\n", remark.message));
        }
        found
    }
}
