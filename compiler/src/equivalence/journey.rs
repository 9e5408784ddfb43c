//! The way from the OIR on, with a stop behind every door and every pass.

use crate::backend::kernel::{self, Kernels};
use crate::diag::Remark;
use crate::loops::Program;
use crate::oir::analysis::extents::{Extents, extents};
use crate::oir::nodes::Stencil;
use crate::pass::Pass;
use crate::schedule::Tree;
use crate::schedule::passes::Target;
use crate::sdfg::nodes::Sdfg;
use crate::{loops, oir, schedule, sdfg, target, tree};

/// Threads that a block may have everywhere.
const MAX_THREADS: u32 = 256;

/// A level as it stands behind a step.
#[derive(Clone, Copy, Debug)]
pub enum Level<'a> {
    Oir(&'a Stencil, &'a Extents),
    Schedule(&'a Tree),
    Sdfg(&'a Sdfg),
    Loops(&'a Program),
    Kernels(&'a Kernels),
}

impl Level<'_> {
    /// All violations of the level's rules.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        match self {
            Level::Oir(stencil, _) => oir::validate::validate(stencil),
            Level::Schedule(tree) => schedule::validate::validate(tree),
            Level::Sdfg(graph) => sdfg::validate::validate(graph),
            Level::Loops(program) => loops::validate::validate(program),
            Level::Kernels(kernels) => kernel::validate::validate(kernels, MAX_THREADS),
        }
    }
}

/// The passes of all levels, in order, and what they work for.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    pub oir: &'static [Pass<Stencil>],
    pub schedule: &'static [Pass<Tree>],
    pub sdfg: &'static [Pass<Sdfg>],
    pub loops: &'static [Pass<Program>],
    pub target: &'static Target,
    /// What code is generated for.
    pub code: fn() -> target::Target,
}

impl Passes {
    /// Those that a compilation runs.
    pub const ALL: Passes = Passes {
        oir: oir::passes::PASSES,
        schedule: schedule::passes::PASSES,
        sdfg: sdfg::passes::PASSES,
        loops: loops::passes::PASSES,
        target: &Target::CPU,
        code: || target::Target::c(None),
    };

    /// The same for another machine or layout.
    #[must_use]
    pub fn for_target(target: &'static Target) -> Passes {
        if !target.has_grid {
            return Passes { target, ..Self::ALL };
        }
        let loops = loops::passes::KERNELS.passes;
        Passes { target, loops, code: || target::Target::kernels(MAX_THREADS), ..Self::ALL }
    }

    /// The same where code is generated for another target.
    #[must_use]
    pub fn for_code(self, code: fn() -> target::Target) -> Passes {
        Passes { code, ..self }
    }
}

/// A pass that may make so many changes only.
#[derive(Clone, Copy, Debug)]
pub struct Limited<'a> {
    pub pass: &'a str,
    pub changes: usize,
}

/// What is told of a step beside its level: what the last change was that the pass made.
pub type Told<'a> = Option<&'a str>;

/// Goes through all doors and these passes, of which one may be limited, and shows each step with what it left; ends
/// where `each` says so.
///
/// The steps are called as `isobar emit --stop-after` calls them, and a door by its level.
pub fn journey_within(
    from: &Stencil,
    passes: &Passes,
    limited: Option<Limited<'_>>,
    each: &mut dyn FnMut(&str, Level<'_>, Told<'_>) -> bool,
) {
    let _ = steps(from, passes, limited, each);
}

/// `None` where it was told to end.
fn steps(
    from: &Stencil,
    passes: &Passes,
    limited: Option<Limited<'_>>,
    each: &mut dyn FnMut(&str, Level<'_>, Told<'_>) -> bool,
) -> Option<()> {
    let limit_of = |pass: &str| limited.filter(|it| it.pass == pass).map(|it| it.changes);
    let mut go_on =
        |step: &str, level: Level<'_>, told: Option<String>| each(step, level, told.as_deref()).then_some(());
    let mut stencil = from.clone();
    let mut cx = oir::passes::PassCx::new(oir::passes::Pinned::default());
    go_on("oir", Level::Oir(&stencil, &extents(&stencil)), None)?;
    for pass in passes.oir {
        pass.apply(&mut stencil, &mut cx, limit_of(pass.name));
        go_on(pass.name, Level::Oir(&stencil, &extents(&stencil)), last_change(cx.remarks(), pass.name))?;
    }
    let explicit = tree::from_oir::lower(&stencil, &extents(&stencil));
    let mut tree = schedule::from_tree::lower(&explicit);
    go_on("schedule", Level::Schedule(&tree), None)?;
    let mut cx = schedule::passes::PassCx::new(passes.target.clone());
    for pass in passes.schedule {
        pass.apply(&mut tree, &mut cx, limit_of(pass.name));
        go_on(pass.name, Level::Schedule(&tree), last_change(cx.remarks(), pass.name))?;
    }
    let mut graph = sdfg::from_schedule::lower(&tree);
    go_on("sdfg", Level::Sdfg(&graph), None)?;
    let mut cx = sdfg::passes::PassCx::new(());
    for pass in passes.sdfg {
        pass.apply(&mut graph, &mut cx, limit_of(pass.name));
        go_on(pass.name, Level::Sdfg(&graph), last_change(cx.remarks(), pass.name))?;
    }
    let mut program = loops::lower(&graph);
    go_on("loops", Level::Loops(&program), None)?;
    let mut cx = loops::passes::PassCx::new((passes.code)());
    for pass in passes.loops {
        pass.apply(&mut program, &mut cx, limit_of(pass.name));
        go_on(pass.name, Level::Loops(&program), last_change(cx.remarks(), pass.name))?;
    }
    if passes.target.has_grid {
        let kernels = kernel::lower(&program, MAX_THREADS);
        go_on("kernels", Level::Kernels(&kernels), None)?;
    }
    Some(())
}

fn last_change(remarks: &[Remark], pass: &str) -> Option<String> {
    let of_pass = remarks.iter().rev().filter(|it| it.pass == pass && it.is_applied);
    of_pass.map(|it| it.message.clone()).next()
}
