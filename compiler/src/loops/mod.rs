//! Loops and statements over elements: what all code generators of the graph read.
//!
//! Maps and loop regions are loops, tasklets are assignments, and each name means one thing in the whole program. The
//! passes of this level decide what a processor should do with a loop: what stands before it, which iterations are
//! lanes, how rows are stored and prefetched. Code generators write that down. This level knows no text of a target, and
//! no layout beyond what the graph knows of it.

pub mod nodes;
pub mod visit;
pub mod analysis;
pub mod from_sdfg;
pub mod print;
pub mod parse;
pub mod validate;
pub mod passes;

mod reserved;
#[cfg(test)]
mod samples;

use std::collections::BTreeSet;

use crate::sdfg::nodes::Sdfg;
use crate::target::Target;

pub use from_sdfg::lower;
pub use nodes::Program;

/// A valid graph as a program for a target, after all passes.
#[must_use]
pub fn ready(sdfg: &Sdfg, target: &Target) -> Program {
    ready_without(sdfg, target, &BTreeSet::new())
}

/// The same without these passes, where they are not needed.
#[must_use]
pub fn ready_without(sdfg: &Sdfg, target: &Target, skip: &BTreeSet<String>) -> Program {
    let mut program = lower(sdfg);
    let mut cx = passes::PassCx::new(target.clone());
    for pass in passes::PASSES.iter().filter(|it| !passes::PIPELINE.skips(it.name, skip)) {
        pass.apply(&mut program, &mut cx, None);
    }
    program
}

#[cfg(test)]
mod tests {
    use super::lower;
    use crate::sdfg::{from_schedule, samples};

    #[test]
    fn each_step_tells_what_it_writes_and_where_that_stands() {
        let about = lower(&from_schedule::lower(&samples::copy_scale())).about(0);
        assert_eq!((about.writes.as_slice(), about.spans.len()), (&["q_out".to_owned()][..], 1));
    }
}
