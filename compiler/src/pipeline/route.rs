//! The way of a stencil through the levels: one line for each lowering, one table of passes for each level.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::interface::{signature, unify_params};
use super::{Compilation, Hook, Levels, NoHook, Pipelines, Stage, Step, StepKind, behind};
use crate::call::signature::{ParamKind, Signature};
use crate::config::Config;
use crate::diag::catalog::{call, directive, schedule as catalog};
use crate::diag::written::{as_written, in_function};
use crate::diag::{Diagnostic, Diagnostics, Listing, Span, StmtId};
use crate::frontend::program::SourceFile;
use crate::frontend::{self, Names, ParsedFiles, Program};
use crate::inputs::{self, KeepDirective, LoopProperty};
use crate::kernel::{self, Kernels};
use crate::loops::analysis::bounds::{GuaranteedPositions, OutOfBoundsAccess, outside};
use crate::oir::analysis::program_order;
use crate::oir::passes::PinnedStmts;
use crate::pass::{Analyses, CodeGenerator, Device, Level, PassOptions, Pipeline, Trace, Watch, show_first};
use crate::project::Project;
use crate::schedule::document::{ApplyOutcome, OpenChoices, ScheduleCommand};
use crate::schedule::step::Pin;
use crate::schedule::turn::TurnRefusal;
use crate::space::assume::Assumptions;
use crate::space::{Axis, Reach, Symbol, names};
use crate::target::{MAX_THREADS, Target};
use crate::{defir, gtir, loops, oir, schedule, sdfg, tree};

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
    travel(project, files, config, hook)
}

/// Compiles again, where nothing differs up to the passes of OIR. These levels are taken from `known`.
#[must_use]
pub fn compile_behind_oir(
    known: &Compilation,
    project: &Project,
    config: &Config,
    hook: &mut dyn Hook,
) -> Compilation {
    let mut found = Diagnostics::default();
    found.extend(known.diagnostics.iter().cloned());
    let mut compilation = known.up_to_oir();
    compilation.keeps_steps = config.passes.steps;
    let mut at = Trip { hook, found, compilation, trace: None };
    at.go_on(project, config);
    let Trip { found, mut compilation, .. } = at;
    compilation.diagnostics = found.sorted();
    compilation
}

/// Compiles the stencil in which each pair of parameters, by position, is one array: see
/// [`oir::unify`](crate::oir::unify).
///
/// # Errors
///
/// C08, where a statement reads a neighbour of the element that it writes, and the call decides which
/// neighbour.
pub(super) fn compile_unified(
    known: &Compilation,
    pairs: &[[usize; 2]],
    passes: &PassOptions,
    hook: &mut dyn Hook,
) -> Result<Compilation, Vec<Diagnostic>> {
    let mut compilation = known.up_to_oir();
    let (Some(oir), Some(signature)) = (&mut compilation.levels.oir, &mut compilation.signature) else {
        return Err(known.diagnostics.clone());
    };
    oir::unify::unify(oir, pairs).map_err(|refused| {
        let name = |at: usize| signature.params[at].name.as_str();
        let named = |&[one, other]: &[usize; 2]| {
            call::neighbour_found_at_run_time(name(one), name(other), refused.statement, refused.read)
        };
        pairs.iter().map(named).collect::<Vec<_>>()
    })?;
    let extents = oir::analysis::extents::extents(oir);
    validate(
        hook,
        "unify",
        || oir::validate::validate(oir),
        || oir::print::listing_with_extents(oir, &extents),
    );
    unify_params(signature, oir, &extents, pairs);
    compilation.levels.extents = Some(extents);
    let config = Config { passes: passes.clone(), ..Config::default() };
    let mut at = Trip { hook, found: Diagnostics::default(), compilation, trace: None };
    if at.passes_of_oir(&config).is_some() {
        at.levels_behind_oir(&Project::default(), &config);
    }
    Ok(at.compilation)
}

/// Compiles once more from the OIR as it was lowered, by these passes. The hook sees each level.
#[must_use]
pub fn compile_through(
    pipelines: &Pipelines,
    known: &Compilation,
    project: &Project,
    config: &Config,
    hook: &mut dyn Hook,
) -> Compilation {
    let mut at = Trip { hook, found: Diagnostics::default(), compilation: known.up_to_oir(), trace: None };
    if at.passes_of_oir(config).is_some() {
        at.levels_through(pipelines, project, config);
    }
    let Trip { found, mut compilation, .. } = at;
    compilation.diagnostics = found.sorted();
    compilation
}

/// Compiles the stencil with the axes I and K exchanged. Its signature, its domain and its fields are turned
/// too.
///
/// # Errors
///
/// Why it cannot be turned.
pub(super) fn compile_turned(
    known: &Compilation,
    passes: &PassOptions,
    hook: &mut dyn Hook,
) -> Result<Compilation, TurnRefusal> {
    let tree = known.levels.tree.as_ref().ok_or(TurnRefusal::RunTime)?;
    schedule::turn::turned(&schedule::from_tree::lower(tree))?;
    let mut compilation = known.up_to_oir();
    compilation.signature = known.signature.as_ref().map(Signature::turned);
    let passes = PassOptions { turned: true, ..passes.clone() };
    let config = Config { passes, ..Config::default() };
    let mut at = Trip { hook, found: Diagnostics::default(), compilation, trace: None };
    at.levels_behind_oir(&Project::default(), &config);
    Ok(at.compilation)
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

/// Whether a pass changes the OIR.
#[must_use]
pub fn is_of_oir(pass: &str) -> bool {
    oir::passes::PASSES.iter().any(|it| it.name == pass)
}

/// The level that a pass changes; `None` where there is no such pass.
///
/// Looks in the tables of the passes. The prefix of a name is for users, and is not evaluated.
#[must_use]
pub fn level_of(pass: &str) -> Option<Stage> {
    passes().find(|(_, name)| *name == pass).map(|(level, _)| level)
}

fn travel(
    project: &Project,
    files: Vec<Arc<SourceFile>>,
    config: &Config,
    hook: &mut dyn Hook,
) -> Compilation {
    let mut found = Diagnostics::default();
    let (directives, unread) = match project.main_id() {
        Some(main) => inputs::directive::read(project.text(main), main),
        None => (inputs::Directives::default(), Vec::new()),
    };
    found.extend(unread);
    let config = with_directives(config, &directives);

    let program = watched(hook, "frontend", || Program::new(project, files, &mut found));
    let stencils = program.stencils();
    let wanted = project.stencil.clone().or_else(|| {
        let wanted = directives.stencil.clone()?;
        (!frontend::named(&stencils, &wanted).is_empty()).then_some(wanted)
    });
    let stencils: Vec<_> = stencils.into_iter().map(|it| (it.name, it.span)).collect();

    let names = Names::new(&program, &config);
    let trace = config.passes.trace.then(Trace::default);
    let mut at = Trip { hook, found, compilation: Compilation::default(), trace };
    at.compilation.files.clone_from(&program.files);
    at.compilation.directives = directives;
    at.compilation.keeps_steps = config.passes.steps;
    at.compilation.levels.passes.clone_from(&config.passes);
    let has_stencil = wanted.is_some() || !stencils.is_empty();
    if has_stencil && at.levels_up_to_oir(&program, &names, wanted.as_deref()).is_some() {
        at.go_on(project, &config);
    }
    // In a file with several stencils, a line may be meant for another stencil.
    if stencils.len() == 1 {
        at.warn_of_steps();
    }
    let Trip { found, mut compilation, trace, .. } = at;
    compilation.trace = trace;
    compilation.externals = frontend::externals::of(&program, &names, compilation.stencil.as_deref());
    compilation.stencils = stencils;
    let found = as_written(found.sorted(), &names_in_functions(&compilation, &program));
    compilation.diagnostics = program.sound(found);
    if compilation.has_errors() {
        let stencil = compilation.stencil.as_deref();
        compilation.missing = frontend::missing::of(&program, &names, stencil, &compilation.externals);
    }
    compilation
}

/// The locals of inlined functions, each with its name in the text.
fn names_in_functions<'a>(compilation: &'a Compilation, program: &'a Program) -> BTreeMap<&'a str, &'a str> {
    let fields = compilation.levels.definition.iter().flat_map(|it| it.fields.iter().map(|(_, it)| it));
    let of_functions = fields.filter_map(|it| {
        let text = program.text(it.span);
        let end = text.find(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(text.len());
        let first = &text[..end];
        let is_local = it.is_temporary && first != it.name;
        let ends_so = || it.name.strip_suffix(first).is_some_and(|it| it.ends_with('_')) && !first.is_empty();
        let written = if is_local && ends_so() { Some(first) } else { in_function(&it.name) };
        Some((&*it.name, written.filter(|_| is_local)?))
    });
    of_functions.collect()
}

/// Adds the number of levels and the externals of the text. Values of the configuration take precedence.
fn with_directives(config: &Config, directives: &inputs::Directives) -> Config {
    let mut config = config.clone().for_domain(directives.domain);
    for it in &directives.externals {
        config.externals.entry(it.name.clone()).or_insert_with(|| it.value.clone());
    }
    config
}

fn watched<T>(hook: &mut dyn Hook, step: &'static str, work: impl FnOnce() -> T) -> T {
    let step = Step { kind: StepKind::Door, name: step };
    hook.begin(step);
    let result = work();
    hook.end(step);
    result
}

/// A stencil on its way through the levels, with all diagnostics so far.
pub(super) struct Trip<'a> {
    hook: &'a mut dyn Hook,
    found: Diagnostics,
    compilation: Compilation,
    trace: Option<Trace>,
}

impl Trip<'_> {
    /// Compiles to the OIR and through its passes, as far as there are no errors.
    fn levels_up_to_oir(&mut self, program: &Program, names: &Names<'_>, wanted: Option<&str>) -> Option<()> {
        let config = names.config;
        let found = &mut self.found;
        let definition =
            watched(self.hook, "definition", || defir::from_syntax::build(program, names, wanted, found))?;
        // The name that distinguishes the stencil within the main file.
        let stencils = program.stencils().into_iter();
        let known = stencils.map(|it| (it.span, it.name)).find(|it| it.0 == definition.span);
        self.compilation.stencil = Some(known.map_or_else(|| definition.name.clone(), |it| it.1));
        validate(
            self.hook,
            "definition",
            || defir::validate::validate(&definition),
            || defir::print::listing(&definition),
        );
        if self.found.has_errors() {
            // The part that was read is still typed and checked against the rules, so that all errors show at
            // once.
            let further = gtir::from_defir::faults_of_part(&definition, config, &self.found);
            self.found.extend(further);
            self.compilation.levels.definition = Some(definition);
            return None;
        }
        self.compilation.levels.definition = Some(definition);

        let definition = self.compilation.levels.definition.as_ref()?;
        let found = &mut self.found;
        let typed = watched(self.hook, "gtir", || gtir::from_defir::lower(definition, config, found))?;
        validate(self.hook, "gtir", || gtir::validate::validate(&typed), || gtir::print::listing(&typed));
        self.show("gtir", &|| gtir::print::listing(&typed));
        let typed = &*self.compilation.levels.gtir.insert(typed);

        let found = &mut self.found;
        let lowered = watched(self.hook, "oir", || oir::from_gtir::lower(typed, found))?;
        let extents = oir::analysis::extents::extents(&lowered);
        oir::analysis::definite_assignment::warn(&lowered, &extents, found);
        validate(
            self.hook,
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

        self.passes_of_oir(config)
    }

    /// Runs the passes of OIR, from the OIR as it was lowered. Discards earlier results of these passes.
    fn passes_of_oir(&mut self, config: &Config) -> Option<()> {
        let compilation = &mut self.compilation;
        (compilation.remarks, compilation.log, compilation.tombstones) = Default::default();
        compilation.results.clear();
        let mut optimized = compilation.levels.oir.clone()?;
        let pinned = pinned(&optimized, &compilation.directives.keeps);
        let is_whole = self.passes(&oir::passes::PIPELINE, &mut optimized, pinned, config);
        self.compilation.levels.optimized = Some(optimized);
        is_whole.then_some(())
    }

    /// Continues behind the OIR, where that part of the program is loaded.
    fn go_on(&mut self, project: &Project, config: &Config) {
        if let Some(behind) = behind::found() {
            (behind.levels)(self, project, config);
        }
    }

    /// Compiles through all levels behind the OIR.
    pub(super) fn levels_behind_oir(&mut self, project: &Project, config: &Config) -> Option<()> {
        self.levels_through(&Pipelines::of(&config.passes), project, config)
    }

    /// Compiles through all levels behind the OIR, with these passes.
    fn levels_through(&mut self, pipelines: &Pipelines, project: &Project, config: &Config) -> Option<()> {
        let keeps = self.compilation.directives.keeps.clone();
        let levels = &mut self.compilation.levels;
        (levels.passes, levels.keeps) = (config.passes.clone(), keeps);
        let optimized = self.compilation.levels.optimized.as_ref()?;
        let extents = oir::analysis::extents::extents(optimized);
        let explicit = watched(self.hook, "tree", || tree::from_oir::lower(optimized, &extents));
        validate(
            self.hook,
            "tree",
            || tree::validate::validate(&explicit),
            || tree::print::listing(&explicit),
        );

        self.show("tree", &|| tree::print::listing(&explicit));

        let mut scheduled = watched(self.hook, "schedule", || schedule::from_tree::lower(&explicit));
        if config.passes.turned {
            scheduled = schedule::turn::turned(&scheduled).ok()?;
        }
        validate(
            self.hook,
            "schedule",
            || schedule::validate::validate(&scheduled),
            || schedule::print::listing(&scheduled),
        );
        self.compilation.levels.tree = Some(explicit);
        self.pins(&mut scheduled);
        let written = config.passes.schedule.as_ref().map(|name| (name.as_str(), scheduled.clone()));
        let open = match &config.passes.schedule {
            Some(name) => self.document(project, name, &mut scheduled, config),
            None => Some(OpenChoices::All),
        };
        let is_whole = match open {
            Some(OpenChoices::All) => {
                self.passes(&pipelines.schedule, &mut scheduled, pipelines.machine.clone(), config)
            }
            Some(OpenChoices::Graph | OpenChoices::Nothing) => self.show_first(&scheduled),
            None => false,
        };
        let is_legal = match &written {
            Some((name, _)) => self.hold_rules(project, name, &scheduled),
            None => true,
        };
        self.compilation.levels.schedule = Some(scheduled);
        if !is_whole || !is_legal {
            return None;
        }
        let scheduled = self.compilation.levels.schedule.as_ref()?;
        let mut flow = watched(self.hook, "sdfg", || sdfg::from_schedule::lower(scheduled));
        validate(self.hook, "sdfg", || sdfg::validate::validate(&flow), || sdfg::print::listing(&flow));
        flow.order = self.compilation.levels.oir.as_ref().map(program_order).unwrap_or_default();
        let apart = scheduled.pins.iter().filter(|it| matches!(it, Pin::Apart(_)));
        flow.apart = apart.map(|it| it.stmt()).collect();
        if open == Some(OpenChoices::Nothing) {
            flow.keep_maps_apart();
        }
        let is_whole = self.passes(&pipelines.sdfg, &mut flow, (), config);
        if !is_whole {
            self.compilation.levels.sdfg = Some(flow);
            return None;
        }
        let mut program = watched(self.hook, "loops", || loops::lower(&flow));
        if let Some((name, before)) = &written {
            self.hold_bounds(project, name, (before, &program), config)?;
        }
        validate(
            self.hook,
            "loops",
            || loops::validate::validate(&program),
            || loops::print::listing(&program),
        );
        let is_whole = self.passes(&pipelines.loops, &mut program, pipelines.code.clone(), config);
        let levels = &mut self.compilation.levels;
        (levels.sdfg, levels.loops, levels.is_whole) = (Some(flow), Some(program), is_whole);
        is_whole.then_some(())
    }

    /// Warns of lines `# @step` that this stencil cannot take.
    fn warn_of_steps(&mut self) {
        let Some(signature) = &self.compilation.signature else { return };
        for step in &self.compilation.directives.steps {
            if let Some(why) = step.refusal(signature) {
                self.found.push(directive::ignored("step", &why, step.span));
            }
        }
    }

    /// Adds the pins that lines `# @keep` of the text ask for.
    fn pins(&mut self, tree: &mut schedule::Tree) {
        let keeps = &self.compilation.directives.keeps;
        let Some(first) = keeps.first() else { return };
        let written = schedule::document::statements_in(tree, first.span.file);
        for it in keeps {
            let pin = match it.keep {
                LoopProperty::Apart => Pin::Apart,
                LoopProperty::Whole => Pin::Whole,
                LoopProperty::Guarded => Pin::Guarded,
            };
            let in_line = (it.below.start, StmtId(0))..(it.below.end, StmtId(0));
            let mut stmts = written.range(in_line).map(|(_, stmt)| *stmt).peekable();
            if stmts.peek().is_none() {
                self.found.push(directive::without_statement("keep", it.span, it.below));
            }
            tree.pins.extend(stmts.map(pin));
        }
    }

    /// Applies the schedule in a file. Returns the choices that it leaves to the passes; nothing where the
    /// document is wrong.
    fn document(
        &mut self,
        project: &Project,
        name: &str,
        tree: &mut schedule::Tree,
        config: &Config,
    ) -> Option<OpenChoices> {
        self.show("schedule", &|| schedule::print::listing(tree));
        let Some(file) = project.file_id(name) else {
            self.found.push(catalog::missing(name, tree.span));
            return None;
        };
        let text = project.text(file);
        let span = |at: &std::ops::Range<usize>| {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(file, offset(at.start), offset(at.end))
        };
        let document = match schedule::document::parse(text) {
            Ok(document) => document,
            Err(wrong) => {
                let told = wrong
                    .iter()
                    .map(|it| catalog::unreadable(&text[it.at.clone()], &it.message, span(&it.at)));
                self.found.extend(told.collect::<Vec<_>>());
                return None;
            }
        };
        let applied = match config.passes.device {
            Device::Cpu => schedule::document::apply(tree, &document),
            Device::Gpu => schedule::document::apply_for_gpu(tree, &document),
        };
        match applied {
            ApplyOutcome::Whole { open } => {
                check(
                    "a schedule document",
                    || schedule::validate::validate(tree),
                    || schedule::print::listing(tree),
                );
                if let Some(trace) = &mut self.trace {
                    trace.record(
                        "schedule",
                        Some("schedule/document"),
                        Some(&schedule::print::listing(tree)),
                    );
                }
                Some(open)
            }
            ApplyOutcome::Refused { line, refusal } => {
                let told =
                    catalog::refused(&text[line.clone()], &refusal.reason, span(&line), &refusal.origins);
                self.found.push(told);
                None
            }
        }
    }

    /// Checks a schedule that somebody wrote, and that passes may have changed, against the rules of the
    /// tree; in every build.
    fn hold_rules(&mut self, project: &Project, name: &str, tree: &schedule::Tree) -> bool {
        let Some(fault) = schedule::validate::validate(tree).into_iter().next() else { return true };
        if let Some((at, span)) = last_line(project, name) {
            let text = project.file_id(name).map_or("", |it| project.text(it));
            self.found.push(catalog::refused(
                &text[at],
                &format!("it leaves no schedule: {fault}"),
                span,
                &[],
            ));
        }
        false
    }

    /// Checks that loops of a schedule that somebody wrote stay inside their arrays, whatever its steps did.
    /// `before` is the tree that the steps started from. Returns `None` where an access is not proven to be
    /// inside. It then reports the first step that leads there.
    fn hold_bounds(
        &mut self,
        project: &Project,
        name: &str,
        (before, program): (&schedule::Tree, &loops::Program),
        config: &Config,
    ) -> Option<()> {
        let known = self.known_at_calls(config);
        let at_first = || loops::lower(&sdfg::from_schedule::lower(before));
        let has_told_levels = program.arrays.values().any(|it| it.level_symbols().next().is_some());
        let held = if has_told_levels {
            GuaranteedPositions::of(&at_first())
        } else {
            GuaranteedPositions::default()
        };
        let wrong = outside(program, &held, &known).into_iter().next();
        let Some(wrong) = wrong else { return Some(()) };
        let file = project.file_id(name)?;
        let text = project.text(file);
        let document = schedule::document::parse(text).ok()?;
        let steps = document.lines.iter().filter(|it| matches!(it.order, ScheduleCommand::Step(_)));
        let mut tree = before.clone();
        let mut told = (document.lines.last().map(|it| it.at.clone()).unwrap_or_default(), wrong);
        for line in steps {
            let step = schedule::document::Document { lines: vec![line.clone()] };
            if !matches!(schedule::document::apply(&mut tree, &step), ApplyOutcome::Whole { .. }) {
                break;
            }
            let program = loops::lower(&sdfg::from_schedule::lower(&tree));
            if let Some(wrong) = outside(&program, &held, &known).into_iter().next() {
                told = (line.at.clone(), wrong);
                break;
            }
        }
        let (at, OutOfBoundsAccess { array, index, size, origin }) = told;
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(file, offset(at.start), offset(at.end));
        let reason = format!("the index `{index}` of `{array}` is not seen to be in [0, {size})");
        let about: Vec<_> = origin.into_iter().collect();
        self.found.push(catalog::refused(&text[at], &reason, span, &about));
        None
    }

    /// The facts that hold for every accepted call: enough levels, and the levels that are read of each
    /// array.
    fn known_at_calls(&self, config: &Config) -> Assumptions {
        let mut known = Assumptions::some_point();
        let Some(signature) = &self.compilation.signature else { return known };
        let levels = if config.passes.turned { Axis::I } else { Axis::K };
        known = known.with_least(&Symbol::new(levels.name()), signature.min_levels.max(1));
        for param in &signature.params {
            let ParamKind::Field { axes, boundary, .. } = &param.kind else { continue };
            let Reach { lo, hi } = boundary[Axis::K.index()];
            let name = names::of_container(&param.name);
            if axes.has(Axis::K) {
                known = known
                    .with_least(&names::levels_below(&name), -i64::from(lo))
                    .with_least(&names::levels_above(&name), i64::from(hi));
            }
        }
        known
    }

    /// Runs the passes of a level. Returns whether the compilation goes on after them.
    fn passes<I: Level>(
        &mut self,
        pipeline: &Pipeline<I>,
        ir: &mut I,
        options: I::Options,
        config: &Config,
    ) -> bool {
        if !self.show_first(ir) {
            return false;
        }
        let mut watch = Watch { hook: self.hook, options: &config.passes, trace: self.trace.as_mut() };
        let mut outcome = pipeline.run(ir, options, &mut watch);
        let compilation = &mut self.compilation;
        compilation.remarks.append(&mut outcome.remarks);
        compilation.log.append(&mut outcome.log);
        compilation.results.entry(I::NAME).or_default().append(&mut outcome.results);
        compilation.tombstones.append(&mut outcome.tombstones);
        !outcome.is_stopped
    }

    /// Shows a level before its first pass. Returns whether the compilation goes on.
    fn show_first<I: Level>(&mut self, ir: &I) -> bool {
        if let Some(trace) = &mut self.trace {
            trace.record(I::NAME, None, Some(&ir.listing(&mut Analyses::default())));
        }
        show_first(ir, self.hook)
    }

    /// Shows a level that no pass changes.
    fn show(&mut self, level: &'static str, listing: &dyn Fn() -> Listing) {
        self.hook.show(Step { kind: StepKind::Door, name: level }, &listing);
        if let Some(trace) = &mut self.trace {
            trace.record(level, None, Some(&listing()));
        }
    }
}

/// The last line of a document that is not empty, and its place.
fn last_line(project: &Project, name: &str) -> Option<(std::ops::Range<usize>, Span)> {
    let file = project.file_id(name)?;
    let document = schedule::document::parse(project.text(file)).ok()?;
    let at = document.lines.last().map(|it| it.at.clone()).unwrap_or_default();
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = Span::new(file, offset(at.start), offset(at.end));
    Some((at, span))
}

/// The program of loops for a GPU, compiled from levels that were made for a processor. Steps that a person
/// wrote are for the processor, and left out.
fn loops_for_gpu(known: &Levels) -> Option<loops::Program> {
    let passes = PassOptions {
        device: Device::Gpu,
        schedule: None,
        steps: false,
        trace: false,
        ..known.passes.clone()
    };
    let config = Config { passes, ..Config::default() };
    let mut compilation = Compilation::default();
    compilation.directives.keeps.clone_from(&known.keeps);
    compilation.levels.oir.clone_from(&known.oir);
    compilation.levels.optimized.clone_from(&known.optimized);
    let mut at = Trip { hook: &mut NoHook, found: Diagnostics::default(), compilation, trace: None };
    at.levels_behind_oir(&Project::default(), &config);
    at.compilation.levels.loops.filter(|_| at.compilation.levels.is_whole)
}

/// The program of loops for another kind of code than that of the levels; `None` where not all passes ran.
pub(super) fn loops_for(known: &Levels, code: CodeGenerator) -> Option<loops::Program> {
    let flow = known.sdfg.as_ref().filter(|_| known.is_whole)?;
    let passes = PassOptions { device: Device::Cpu, code, ..known.passes.clone() };
    let config = Config { passes, ..Config::default() };
    let compilation = Compilation::default();
    let mut at = Trip { hook: &mut NoHook, found: Diagnostics::default(), compilation, trace: None };
    let mut program = loops::lower(flow);
    check("loops", || loops::validate::validate(&program), || loops::print::listing(&program));
    let target = Target::of(&config.passes);
    at.passes(&loops::passes::PIPELINE, &mut program, target, &config).then_some(program)
}

/// Kernels for a GPU, whichever device the levels are made for; `None` where not all passes ran.
pub(super) fn kernels(levels: &Levels) -> Option<Kernels> {
    match levels.passes.device {
        Device::Gpu => {
            let program = levels.loops.as_ref().filter(|_| levels.is_whole)?;
            Some(lower_kernels(program))
        }
        Device::Cpu if levels.is_whole => {
            let program = loops_for_gpu(levels)?;
            Some(lower_kernels(&program))
        }
        Device::Cpu => None,
    }
}

/// Kernels of a program of loops.
fn lower_kernels(program: &loops::Program) -> Kernels {
    let kernels = kernel::lower(program, MAX_THREADS);
    check(
        "kernels",
        || kernel::validate::validate(&kernels, MAX_THREADS),
        || kernel::print::listing(&kernels),
    );
    kernels
}

/// Holds the result of a door to the rules of its level, and tells the hook.
fn validate(
    hook: &mut dyn Hook,
    step: &'static str,
    violations: impl FnOnce() -> Vec<String>,
    listing: impl Fn() -> Listing,
) {
    check(step, violations, listing);
    if cfg!(debug_assertions) {
        hook.validated(Step { kind: StepKind::Door, name: step });
    }
}

/// Asserts that a validator finds nothing. A finding is a fault of the compiler. So builds with debug
/// assertions fail, and other builds save the time of the check.
pub(super) fn check(step: &str, violations: impl FnOnce() -> Vec<String>, listing: impl Fn() -> Listing) {
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

/// The statements that lines `# @keep apart` of the text refer to.
fn pinned(stencil: &oir::Stencil, keeps: &[KeepDirective]) -> PinnedStmts {
    let mut apart = BTreeSet::new();
    let lines: Vec<Span> =
        keeps.iter().filter(|it| it.keep == LoopProperty::Apart).map(|it| it.below).collect();
    if !lines.is_empty() {
        stencil.each_statement(&mut |origin| {
            let is_in = |line: &Span| {
                let here = origin.spans().iter().filter(|it| it.file == line.file);
                here.into_iter().any(|it| line.start <= it.start && it.start < line.end)
            };
            if lines.iter().any(is_in) {
                apart.insert(origin.stmt);
            }
        });
    }
    PinnedStmts { apart }
}
