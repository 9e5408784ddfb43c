//! The way from the OIR on, with a stop behind every door and every pass.

use crate::oir::analysis::extents::{Extents, extents};
use crate::oir::nodes::Stencil;
use crate::schedule::Tree;
use crate::sdfg::nodes::Sdfg;
use crate::{oir, schedule, sdfg, tree};

/// A level as it stands behind a step.
#[derive(Clone, Copy, Debug)]
pub enum Level<'a> {
    Oir(&'a Stencil, &'a Extents),
    Schedule(&'a Tree),
    Sdfg(&'a Sdfg),
}

/// Goes through all doors and passes, and shows each step with what it left; ends where `each` says so.
///
/// The steps are called as `isobar emit --after` calls them, and a door by its level.
pub fn journey(from: &Stencil, each: &mut dyn FnMut(&str, Level<'_>) -> bool) {
    let _ = steps(from, each);
}

/// `None` where it was told to end.
fn steps(from: &Stencil, each: &mut dyn FnMut(&str, Level<'_>) -> bool) -> Option<()> {
    let mut go_on = |step: &str, level: Level<'_>| each(step, level).then_some(());
    let mut stencil = from.clone();
    let mut cx = oir::passes::PassCx::new(());
    go_on("oir", Level::Oir(&stencil, &extents(&stencil)))?;
    for pass in oir::passes::PASSES {
        pass.apply(&mut stencil, &mut cx, None);
        go_on(pass.name, Level::Oir(&stencil, &extents(&stencil)))?;
    }
    let explicit = tree::from_oir::lower(&stencil, &extents(&stencil));
    let mut tree = schedule::from_tree::lower(&explicit);
    go_on("schedule", Level::Schedule(&tree))?;
    let mut cx = schedule::passes::PassCx::new(schedule::passes::Target::CPU);
    for pass in schedule::passes::PASSES {
        pass.apply(&mut tree, &mut cx, None);
        go_on(pass.name, Level::Schedule(&tree))?;
    }
    let mut graph = sdfg::from_schedule::lower(&tree);
    go_on("sdfg", Level::Sdfg(&graph))?;
    let mut cx = sdfg::passes::PassCx::new(());
    for pass in sdfg::passes::PASSES {
        pass.apply(&mut graph, &mut cx, None);
        go_on(pass.name, Level::Sdfg(&graph))?;
    }
    Some(())
}
