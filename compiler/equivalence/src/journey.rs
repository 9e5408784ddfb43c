//! The trip from the OIR on, with a stop behind every door and every pass: that of the compiler itself, watched.

use std::sync::Arc;

use isobar_compiler::config::Config;
use isobar_compiler::front::Front;
use isobar_compiler::kernel::{self, Kernels};
use isobar_compiler::loops::{self, Program};
use isobar_compiler::oir::analysis::extents::{Extents, extents};
use isobar_compiler::oir::{self, nodes::Stencil};
use isobar_compiler::pass::{DecisionLimit, Device, Hook, LevelView, PassOptions, Step, StepKind};
use isobar_compiler::pipeline::{Compilation, Pipelines, route};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::{self, Tree};
use isobar_compiler::sdfg::{self, nodes::Sdfg};
use isobar_compiler::target::{MAX_THREADS, Target};

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

/// Is shown the name of a step, the level that it left, and the last change that a pass made, as it tells it. The level
/// is none where a pass left it as it was. Answers whether the journey goes on.
pub type LevelVisitor<'e> = dyn FnMut(&str, Option<Level<'_>>, Option<&str>) -> bool + 'e;

/// A stencil as it was lowered, and the passes that are held against it.
#[derive(Clone, Debug)]
pub struct Journey {
    oir: Stencil,
    /// The same with its signature and its comment lines.
    front: Front,
    project: Project,
    config: Config,
    pipelines: Pipelines,
}

impl Journey {
    /// The passes of a compilation with these options, with its schedule and for its machine. None of one without an
    /// OIR.
    #[must_use]
    pub fn of(known: &Compilation, project: &Project, config: &Config) -> Option<Self> {
        let (oir, front) = (known.front.oir.clone()?, Front::clone(&known.front));
        let (project, config) = (project.clone(), config.clone());
        let pipelines = Pipelines::of(&config.passes);
        Some(Self { oir, front, project, config, pipelines })
    }

    /// The passes that run where nothing is asked for: to C, for a machine that is not known.
    #[must_use]
    pub fn usual(oir: &Stencil) -> Self {
        Self::to(oir, schedule::passes::Target::CPU, Target::c(None))
    }

    /// The stencil.
    #[must_use]
    pub fn oir(&self) -> &Stencil {
        &self.oir
    }

    /// All passes, to code for such a machine.
    #[must_use]
    pub fn to(oir: &Stencil, machine: schedule::passes::Target, code: Target) -> Self {
        Self::through(oir, Pipelines::for_target(machine, code))
    }

    /// Passes of one's own.
    #[must_use]
    pub fn through(oir: &Stencil, pipelines: Pipelines) -> Self {
        let device = if pipelines.code.grid.value.is_some() { Device::Gpu } else { Device::Cpu };
        let config = Config { passes: PassOptions { device, ..PassOptions::default() }, ..Config::default() };
        let front = Front::of_oir(oir.clone());
        Self { oir: oir.clone(), front, project: Project::default(), config, pipelines }
    }

    /// Goes through all doors and passes, one of them limited where that is told. `each` is shown every step, and
    /// says where the journey ends.
    ///
    /// The steps are called as `isobar emit --stop-after` calls them, and a door by its level.
    pub fn go(&self, limited: Option<DecisionLimit>, each: &mut LevelVisitor<'_>) {
        let mut config = self.config.clone();
        (config.passes.limit, config.passes.stop_after) = (limited, None);
        let mut watch = LevelWatcher { each, unseen: None, is_over: false };
        let front = Arc::new(self.front.again(&config.passes, &mut watch));
        let (pipelines, project) = (&self.pipelines, &self.project);
        let done = route::compile_through(pipelines, front, project, &config.passes, &mut watch);
        let is_for_gpu = self.pipelines.code.grid.value.is_some() && !watch.is_over;
        if let Some(kernels) = done.kernels().filter(|_| is_for_gpu) {
            each("kernels", Some(Level::Kernels(kernels)), None);
        }
    }
}

/// Hands the levels of a trip on to a function.
struct LevelWatcher<'e, 'f> {
    each: &'e mut LevelVisitor<'f>,
    /// A pass that has ended, and that has shown no level.
    unseen: Option<&'static str>,
    is_over: bool,
}

impl LevelWatcher<'_, '_> {
    fn tell(&mut self, step: &str, level: Option<Level<'_>>, told: Option<&str>) {
        if !self.is_over {
            self.is_over = !(self.each)(step, level, told);
        }
    }

    /// A pass that has shown nothing left its level as it was.
    fn tell_unseen(&mut self) {
        if let Some(step) = self.unseen.take() {
            self.tell(step, None, None);
        }
    }
}

impl Hook for LevelWatcher<'_, '_> {
    fn begin(&mut self, _: Step) {
        self.tell_unseen();
    }

    fn end(&mut self, step: Step) {
        self.tell_unseen();
        self.unseen = (step.kind == StepKind::Pass).then_some(step.name);
    }

    fn show(&mut self, step: Step, shown: &dyn LevelView) {
        let Some(level) = shown.level() else { return };
        self.unseen = self.unseen.filter(|it| *it != step.name);
        self.tell_unseen();
        let told = shown.told();
        if let Some(it) = level.downcast_ref::<Stencil>() {
            self.tell(step.name, Some(Level::Oir(it, &extents(it))), told);
        } else if let Some(it) = level.downcast_ref::<Tree>() {
            self.tell(step.name, Some(Level::Schedule(it)), told);
        } else if let Some(it) = level.downcast_ref::<Sdfg>() {
            self.tell(step.name, Some(Level::Sdfg(it)), told);
        } else if let Some(it) = level.downcast_ref::<Program>() {
            self.tell(step.name, Some(Level::Loops(it)), told);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn holds_rules(&self) -> bool {
        true
    }
}
