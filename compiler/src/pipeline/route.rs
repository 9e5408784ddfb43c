//! The trip itself: one line for each door, one table of passes for each room.

use std::sync::Arc;

use super::interface::signature;
use super::{Compilation, Hook, Stage};
use crate::backend::c;
use crate::config::Config;
use crate::diag::{Diagnostics, Listing};
use crate::frontend::program::SourceFile;
use crate::frontend::{self, Names, ParsedFiles, Program};
use crate::inputs;
use crate::project::Project;
use crate::{defir, gtir, oir, schedule, sdfg, tree};

/// Compiles the stencil of a project as far as its errors allow.
#[must_use]
pub fn compile(project: &Project, config: &Config, hook: &mut dyn Hook) -> Compilation {
    compile_files(project, ParsedFiles::default().of(project), config, hook)
}

/// Compiles the stencil of a project whose files may be parsed already.
#[must_use]
pub fn compile_files(
    project: &Project,
    files: Vec<Arc<SourceFile>>,
    config: &Config,
    hook: &mut dyn Hook,
) -> Compilation {
    travel(project, files, config, hook, None)
}

/// The level as it stood right after `pass`, as `oir/merge-horizontal-executions`;
/// `None` where there is no such pass, or the text has errors before it.
#[must_use]
pub fn listing_after(project: &Project, config: &Config, pass: &str) -> Option<Listing> {
    let stage = passes().find(|(_, name)| *name == pass)?.0;
    let files = ParsedFiles::default().of(project);
    travel(project, files, config, &mut super::NoHook, Some(pass)).listing(stage).cloned()
}

/// Every pass with the level that it changes, in the order in which they run.
pub fn passes() -> impl Iterator<Item = (Stage, &'static str)> {
    let oir = oir::passes::PASSES.iter().map(|it| (Stage::Oir, it.name));
    oir.chain(schedule::passes::PASSES.iter().map(|it| (Stage::Schedule, it.name)))
}

fn travel(
    project: &Project,
    files: Vec<Arc<SourceFile>>,
    config: &Config,
    hook: &mut dyn Hook,
    stop_after: Option<&str>,
) -> Compilation {
    let mut found = Diagnostics::default();
    let (directives, unread) = match project.main_id() {
        Some(main) => inputs::directive::read(project.text(main), main),
        None => (inputs::Directives::default(), Vec::new()),
    };
    found.extend(unread);
    let config = with_directives(config, &directives);

    let program = watched(hook, "frontend", || Program::new(project, files, &mut found));
    let stencils: Vec<_> = program.stencils().into_iter().map(|it| (it.name, it.span)).collect();
    let wanted = project.stencil.clone().or_else(|| {
        let named = directives.stencil.clone()?;
        stencils.iter().any(|(name, _)| *name == named).then_some(named)
    });

    let names = Names::new(&program, &config);
    let mut at = Trip { hook, found, compilation: Compilation::default(), stop_after };
    at.compilation.files.clone_from(&program.files);
    at.compilation.directives = directives;
    if wanted.is_some() || !stencils.is_empty() {
        at.levels(&program, &names, wanted.as_deref());
    }
    let Trip { found, mut compilation, .. } = at;
    compilation.externals = frontend::externals::of(&program, &names, compilation.stencil.as_deref());
    compilation.stencils = stencils;
    compilation.diagnostics = found.sorted();
    compilation
}

/// Externals that the text itself gives stand in for those that nobody else gave.
fn with_directives(config: &Config, directives: &inputs::Directives) -> Config {
    let mut config = config.clone().for_domain(directives.domain);
    for it in &directives.externals {
        config.externals.entry(it.name.clone()).or_insert_with(|| it.value.clone());
    }
    config
}

fn watched<T>(hook: &mut dyn Hook, step: &'static str, work: impl FnOnce() -> T) -> T {
    hook.begin(step);
    let result = work();
    hook.end(step);
    result
}

struct Trip<'a> {
    hook: &'a mut dyn Hook,
    found: Diagnostics,
    compilation: Compilation,
    stop_after: Option<&'a str>,
}

impl Trip<'_> {
    /// Through all doors, until one stays shut.
    fn levels(&mut self, program: &Program, names: &Names<'_>, wanted: Option<&str>) -> Option<()> {
        let config = names.config;
        let found = &mut self.found;
        let definition =
            watched(self.hook, "definition", || defir::from_syntax::build(program, names, wanted, found))?;
        self.compilation.stencil = Some(definition.name.clone());
        check("definition", || defir::validate::validate(&definition), || defir::print::listing(&definition));
        if self.found.has_errors() {
            // What was understood is still typed and held to the rules, so that all errors show at once.
            let further = gtir::from_defir::faults_of_part(&definition, config, &self.found);
            self.found.extend(further);
            self.compilation.levels.definition = Some(definition);
            return None;
        }
        self.compilation.levels.definition = Some(definition);

        let definition = self.compilation.levels.definition.as_ref()?;
        let found = &mut self.found;
        let typed = watched(self.hook, "gtir", || gtir::from_defir::lower(definition, config, found))?;
        check("gtir", || gtir::validate::validate(&typed), || gtir::print::listing(&typed));
        let typed = &*self.compilation.levels.gtir.insert(typed);

        let found = &mut self.found;
        let lowered = watched(self.hook, "oir", || oir::from_gtir::lower(typed, found))?;
        let extents = oir::analysis::extents::extents(&lowered);
        oir::analysis::definite_assignment::warn(&lowered, &extents, found);
        check(
            "oir",
            || oir::validate::validate(&lowered),
            || oir::print::listing_with_extents(&lowered, &extents),
        );
        self.compilation.signature = Some(signature(typed, &lowered, &extents));
        let is_sound = !self.found.has_errors();
        self.compilation.levels.oir = Some(lowered);
        self.compilation.levels.extents = Some(extents);
        if !is_sound {
            return None;
        }

        let extents = self.optimized_oir()?;
        let optimized = self.compilation.levels.optimized.as_ref()?;
        let explicit = watched(self.hook, "tree", || tree::from_oir::lower(optimized, &extents));
        check("tree", || tree::validate::validate(&explicit), || tree::print::listing(&explicit));

        self.schedule(&explicit)?;
        self.compilation.levels.tree = Some(explicit);

        let scheduled = self.compilation.levels.schedule.as_ref()?;
        let flow = watched(self.hook, "sdfg", || sdfg::from_schedule::lower(scheduled));
        check("sdfg", || sdfg::validate::validate(&flow), || sdfg::print::listing(&flow));
        let artifact = watched(self.hook, "c", || c::generate(&flow, &c::COptions::default()));
        self.compilation.levels.sdfg = Some(flow);
        self.compilation.levels.artifact = Some(artifact);
        Some(())
    }

    /// Makes a copy of the OIR that all passes have changed; `None` where the trip ends there.
    fn optimized_oir(&mut self) -> Option<oir::analysis::extents::Extents> {
        let mut stencil = self.compilation.levels.oir.clone()?;
        let mut cx = oir::passes::PassCx::new(&stencil);
        let mut is_stopped = false;
        for pass in oir::passes::PASSES {
            watched(self.hook, pass.name, || (pass.run)(&mut stencil, &mut cx));
            check(
                pass.name,
                || oir::validate::validate(&stencil),
                || oir::print::listing_with_extents(&stencil, &cx.extents),
            );
            is_stopped = self.stop_after == Some(pass.name);
            if is_stopped {
                break;
            }
        }
        self.compilation.levels.optimized = Some(stencil);
        self.compilation.remarks.append(&mut cx.remarks);
        (!is_stopped).then_some(cx.extents)
    }

    /// Makes the schedule tree that all passes have changed; `None` where the trip ends there.
    fn schedule(&mut self, explicit: &tree::Tree) -> Option<()> {
        let mut scheduled = watched(self.hook, "schedule", || schedule::from_tree::lower(explicit));
        check(
            "schedule",
            || schedule::validate::validate(&scheduled),
            || schedule::print::listing(&scheduled),
        );
        let mut cx = schedule::passes::PassCx::new(schedule::passes::Target::CPU);
        let mut is_stopped = false;
        for pass in schedule::passes::PASSES {
            watched(self.hook, pass.name, || (pass.run)(&mut scheduled, &mut cx));
            check(
                pass.name,
                || schedule::validate::validate(&scheduled),
                || schedule::print::listing(&scheduled),
            );
            is_stopped = self.stop_after == Some(pass.name);
            if is_stopped {
                break;
            }
        }
        self.compilation.levels.schedule = Some(scheduled);
        self.compilation.remarks.append(&mut cx.remarks);
        (!is_stopped).then_some(())
    }
}

/// What a validator finds is a fault of ours: loud where we test, and never the user's, who does not wait for it.
fn check(step: &str, violations: impl FnOnce() -> Vec<String>, listing: impl Fn() -> Listing) {
    if cfg!(debug_assertions) {
        let violations = violations();
        assert!(
            violations.is_empty(),
            "invalid IR after {step}:\n{}\n\n{}",
            violations.join("\n"),
            listing().text
        );
    }
}
