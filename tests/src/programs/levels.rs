//! Groups of generated programs on each level, after every door and every pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::{Control, NoControl};
use isobar_compiler::config::Config;
use isobar_compiler::diag::ProgramOrder;
use isobar_compiler::front::Front;
use isobar_compiler::kernel;
use isobar_compiler::loops::Program;
use isobar_compiler::pass::{
    Cache, CodeGenerator, Device, GpuForm, GpuModel, Hook, LevelView, MachineModel, PassOptions, Step,
};
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::pipeline::group::{GroupCompilation, compile_group};
use isobar_compiler::schedule::{self, Tree};
use isobar_compiler::sdfg::nodes::Sdfg;
use isobar_compiler::target::MAX_THREADS;
use isobar_equivalence::run::{Options, Stop};
use isobar_equivalence::{
    kernel as kernels_run, loops as loops_run, schedule as schedule_run, sdfg as sdfg_run,
};
use isobar_program::compile::compile;
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    GroupParam, GroupStop, HaloFill, MOST_BYTES, ProgramInstance, ProgramStop, StencilInterpreter,
    StencilRunner, StencilStop,
};
use isobar_program::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall};

use super::{bits_of, generated, inputs_of};
use crate::levels::Held;

/// Small domains: each level is run by an interpreter, in several orders.
const DOMAINS: [[i64; 3]; 3] = [[1, 1, 2], [3, 2, 3], [2, 9, 3]];

/// Whether the groups of a generated program mean the same on each level, in any order that must not matter.
///
/// # Errors
///
/// The first step whose outcome differs, with the text of the program.
pub fn hold_program_levels(seed: u64) -> Result<Held> {
    let text = generated(seed);
    let in_context = |why: String| anyhow!("program of seed {seed}: {why}\n{text}");
    let mut compilation = compile("model.json", &text, Config::default());
    let Some(mut program) = compilation.program.take() else {
        let told: String = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        return Err(in_context(told));
    };
    group_calls(&mut program);
    let violations = isobar_program::validate::validate(&program);
    ensure!(violations.is_empty(), in_context(violations.join("\n")));
    let pick = |n: usize| usize::try_from(seed).unwrap_or(0) % n;
    let (domain, options) = (DOMAINS[pick(DOMAINS.len())], options_of(pick(N_TARGETS)));
    let mut new = || {
        ProgramInstance::new(&program, &mut compilation.fronts, domain, HaloFill::Periodic, MOST_BYTES)
            .map_err(|it| in_context(format!("{it:#?}")))
    };
    let (mut alone, mut instance) = (new()?, new()?);
    let mut groups = GroupsOnLevels::of(&instance, &program, &options, seed).map_err(in_context)?;
    let mut results = Vec::new();
    for (instance, runner) in
        [(&mut alone, &mut StencilInterpreter as &mut dyn StencilRunner), (&mut instance, &mut groups)]
    {
        let mut inputs = inputs_of(instance, &[]);
        instance.run_with(&mut inputs, runner, &mut NoControl).map_err(|stop| match stop {
            ProgramStop::Cancelled => in_context("cancelled".to_owned()),
            ProgramStop::Fault(told) => in_context(told.iter().map(|it| compilation.rendered(it)).collect()),
        })?;
        results.push(inputs.fields.values().map(bits_of).collect::<Vec<_>>());
    }
    let held = Held { runs: groups.n_runs, ..Held::default() };
    ensure!(results[0] == results[1], in_context("the tree of a group differs from its calls".to_owned()));
    Ok(held)
}

const N_TARGETS: usize = 7;

/// The options that a target is asked for by.
fn options_of(number: usize) -> PassOptions {
    let cache = |bytes| Cache { bytes, cores: 1 };
    // Caches that hold a few rows of a small domain.
    let small =
        |bytes| MachineModel { cores: 2, caches: vec![cache(bytes)], vector_bytes: 64, line_bytes: 64 };
    let native = |vector_bits| CodeGenerator::Native { vector_bits };
    let usual = PassOptions::default();
    match number {
        0 => usual,
        1 => PassOptions { code: native(512), ..usual },
        2 => PassOptions { machine: Some(small(4 << 10)), ..usual },
        3 => PassOptions { machine: Some(small(16 << 10)), code: native(256), ..usual },
        4 => PassOptions { device: Device::Gpu, ..usual },
        5 => PassOptions { device: Device::Gpu, gpu_form: Some(GpuForm::Tiles), ..usual },
        _ => PassOptions { device: Device::Gpu, gpu: Some(GpuModel::WEBGPU), ..usual },
    }
}

/// Runs groups on each level, and other calls by `debug`.
struct GroupsOnLevels<'p> {
    program: &'p ProgramIr,
    options: &'p PassOptions,
    seed: u64,
    /// The stencil of each call of a group.
    groups: BTreeMap<usize, Group<'p>>,
    n_runs: u64,
}

struct Group<'p> {
    body: &'p [ProgramStmt],
    fronts: Vec<Option<Arc<Front>>>,
    params: Arc<[GroupParam]>,
}

impl<'p> GroupsOnLevels<'p> {
    fn of(
        instance: &ProgramInstance,
        program: &'p ProgramIr,
        options: &'p PassOptions,
        seed: u64,
    ) -> Result<Self, String> {
        let mut bodies = Vec::new();
        program.body.iter().for_each(|it| {
            it.walk(&mut |stmt| {
                if let ProgramStmtKind::Group { number, body } = &stmt.kind {
                    bodies.push((*number, body.as_slice()));
                }
            });
        });
        let mut groups = BTreeMap::new();
        for (number, body) in bodies {
            let fronts = body.iter().map(|it| match &it.kind {
                ProgramStmtKind::Call(call) => instance.front_of(call).map(Arc::clone),
                _ => None,
            });
            let mut group = Group { body, fronts: fronts.collect(), params: Arc::new([]) };
            let made = group.compiled(program, number, options, &mut NoHook)?;
            group.params = made.params.into();
            groups.insert(number, group);
        }
        Ok(Self { program, options, seed, groups, n_runs: 0 })
    }
}

impl Group<'_> {
    fn compiled(
        &self,
        program: &ProgramIr,
        number: usize,
        options: &PassOptions,
        hook: &mut dyn Hook,
    ) -> Result<GroupCompilation, String> {
        let front_of = |call: &StencilCall| {
            let is_it =
                |it: &ProgramStmt| matches!(&it.kind, ProgramStmtKind::Call(own) if std::ptr::eq(own, call));
            self.fronts[self.body.iter().position(is_it)?].clone()
        };
        compile_group(program, (number, self.body), &front_of, options, hook)
    }
}

impl StencilRunner for GroupsOnLevels<'_> {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        StencilInterpreter.run(front, launch, control)
    }

    fn group(&mut self, number: usize) -> Option<Arc<[GroupParam]>> {
        self.groups.get(&number).map(|it| Arc::clone(&it.params))
    }

    fn run_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        let fault =
            |why: String| GroupStop { stop: StencilStop::Fault { why, statement: None }, statement: None };
        let group = &self.groups[&number];
        // The first compilation tells the names of the parameters and the order of the statements.
        let plain = group.compiled(self.program, number, self.options, &mut NoHook).map_err(fault)?;
        let front = &plain.compilation.front;
        let (Some(signature), Some(tree)) = (&front.signature, &plain.compilation.levels.tree) else {
            return Err(fault("a group has no tree".to_owned()));
        };
        let names: Vec<&str> = signature.params.iter().map(|it| it.name.as_str()).collect();
        let order = front.order();
        let mut watch = LevelWatch {
            names: &names,
            order: &order,
            seeds: [None, Some(self.seed), Some(self.seed + 1)],
            launch,
            expected: launch.clone(),
            n_runs: 0,
            wrong: None,
        };
        let first = schedule::from_tree::lower(tree);
        if let Err(stop) = schedule_run::run(&first, &names, &order, &mut watch.expected, &Options::default())
        {
            return Err(fault(stop.to_string()));
        }
        let done = group.compiled(self.program, number, self.options, &mut watch).map_err(fault)?;
        if !done.compilation.is_whole() {
            return Err(fault("not all passes ran".to_owned()));
        }
        if let Some(kernels) = done.compilation.kernels().filter(|_| self.options.device == Device::Gpu) {
            let violations = kernel::validate::validate(kernels, MAX_THREADS);
            watch.hold("kernels", violations, &|launch, options| {
                kernels_run::run(kernels, &names, &order, launch, options).map(drop)
            });
        }
        let LevelWatch { expected, n_runs, wrong, .. } = watch;
        self.n_runs += n_runs;
        if let Some(wrong) = wrong {
            return Err(fault(wrong));
        }
        *launch = expected;
        Ok(())
    }
}

/// Runs each level that a compilation shows.
pub(super) struct LevelWatch<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) order: &'a ProgramOrder,
    /// The orders that are tried.
    pub(super) seeds: [Option<u64>; 3],
    pub(super) launch: &'a Launch,
    pub(super) expected: Launch,
    pub(super) n_runs: u64,
    pub(super) wrong: Option<String>,
}

impl LevelWatch<'_> {
    fn hold(
        &mut self,
        step: &str,
        violations: Vec<String>,
        run: &dyn Fn(&mut Launch, &Options) -> Result<(), Stop>,
    ) {
        if self.wrong.is_some() {
            return;
        }
        if !violations.is_empty() {
            self.wrong = Some(format!("after {step}: {}", violations.join("; ")));
            return;
        }
        for seed in self.seeds {
            let mut launch = self.launch.clone();
            self.n_runs += 1;
            let options = Options { seed, ..Options::default() };
            let ended = run(&mut launch, &options);
            let differs = differing(self.names, &self.expected, &launch);
            if let Some(what) = ended.err().map(|it| it.to_string()).or(differs) {
                self.wrong = Some(format!("after {step}, in the order of {seed:?}: {what}"));
                return;
            }
        }
    }
}

/// The first field that has other bits.
pub(super) fn differing(names: &[&str], expected: &Launch, found: &Launch) -> Option<String> {
    let pairs = expected.arguments.iter().zip(&found.arguments).zip(names);
    let mut different = pairs.filter_map(|((expected, found), name)| match (expected, found) {
        (Argument::Field(expected), Argument::Field(found)) => {
            let is_same = bits_of(&expected.array) == bits_of(&found.array);
            (!is_same).then(|| format!("`{name}` has other values"))
        }
        _ => None,
    });
    different.next()
}

impl Hook for LevelWatch<'_> {
    fn show(&mut self, step: Step, shown: &dyn LevelView) {
        let Some(level) = shown.level() else { return };
        let (names, order) = (self.names, self.order);
        if let Some(it) = level.downcast_ref::<Tree>() {
            self.hold(step.name, schedule::validate::validate(it), &|launch, options| {
                schedule_run::run(it, names, order, launch, options).map(drop)
            });
        } else if let Some(it) = level.downcast_ref::<Sdfg>() {
            self.hold(step.name, isobar_compiler::sdfg::validate::validate(it), &|launch, options| {
                sdfg_run::run(it, names, order, launch, options).map(drop)
            });
        } else if let Some(it) = level.downcast_ref::<Program>() {
            self.hold(step.name, isobar_compiler::loops::validate::validate(it), &|launch, options| {
                loops_run::run(it, names, order, launch, options).map(drop)
            });
        }
    }

    fn holds_rules(&self) -> bool {
        true
    }
}
