//! The way of a stencil through all levels, and the names of its passes.

use std::sync::Arc;

use super::{Compilation, Hook, Levels, Pipelines, Stage, lowering};
use crate::config::Config;
use crate::front::{Front, front};
use crate::pass::PassOptions;
use crate::project::Project;
use crate::{loops, oir, schedule, sdfg};

/// Compiles the stencil of a project as far as its errors allow.
#[must_use]
pub fn compile(project: &Project, config: &Config, hook: &mut dyn Hook) -> Compilation {
    let front = front(project, config, hook);
    compile_front(Arc::new(front), project, &config.passes, hook)
}

/// Compiles a front through all levels behind it. A schedule that the options name is a file of the project.
#[must_use]
pub fn compile_front(
    front: Arc<Front>,
    project: &Project,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Compilation {
    compile_through(&Pipelines::of(options), front, project, options, hook)
}

/// As [`compile_front`], by passes of one's own.
#[must_use]
pub fn compile_through(
    pipelines: &Pipelines,
    front: Arc<Front>,
    project: &Project,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Compilation {
    let alone = Arc::clone(&front);
    lowering::lower(front, pipelines, project, options, hook).unwrap_or_else(|_| {
        let notes = alone.notes.clone();
        Compilation::new(alone, notes, Levels::default())
    })
}

/// Every pass with the level that it changes, in the order in which they run.
pub fn passes() -> impl Iterator<Item = (Stage, &'static str)> {
    let oir = oir::passes::PASSES.iter().map(|it| (Stage::OIR, it.name));
    let schedule = schedule::passes::PASSES.iter().map(|it| (Stage::SCHEDULE, it.name));
    let sdfg = sdfg::passes::PASSES.iter().map(|it| (Stage::SDFG, it.name));
    let loops = loops::passes::PASSES.iter().map(|it| (Stage::LOOPS, it.name));
    oir.chain(schedule).chain(sdfg).chain(loops)
}

/// Whether a pass runs even where it is to be skipped, since later passes cannot do without it.
#[must_use]
pub fn is_needed(pass: &str) -> bool {
    loops::passes::PIPELINE.needed.contains(&pass)
}

/// The level that a pass changes; `None` where there is no such pass.
///
/// Looks in the tables of the passes. The prefix of a name is for users, and is not evaluated.
#[must_use]
pub fn level_of(pass: &str) -> Option<Stage> {
    passes().find(|(_, name)| *name == pass).map(|(level, _)| level)
}
