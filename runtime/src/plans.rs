//! The plans of one stencil: compiled when they are first asked for, or read from the file of the stencil.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, OnceLock};

use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostic;
use isobar_compiler::kernel::Kernels;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::pipeline::plan::{CallCost, Reference};
use isobar_compiler::pipeline::{
    ArrayOrder, Compilation, NoHook, NoVariant, Plan, Program, ProgramKind, Variant, back, route,
};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::{loops, npir, pass};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::store::Store;
use crate::store::file::{FileSection, StencilFile};

/// The properties of the arrays of a call that decide the compiled variant: their order and their aliases.
type ArrayProperties = (ArrayOrder, Vec<[usize; 2]>);

/// A stencil with its plans, programs and texts.
pub struct Plans {
    /// The stencil as it is written.
    front: OnceLock<Arc<Compilation>>,
    compile: Box<dyn Fn() -> Compilation + Send + Sync>,
    /// The options that it is compiled under.
    options: PassOptions,
    /// Where plans and code are stored for other processes, if anywhere.
    file: Option<Arc<StencilFile>>,
    compiled: Store<ArrayProperties, Arc<Compilation>, Vec<Diagnostic>>,
    plans: Store<Variant, Arc<Plan>, Vec<Diagnostic>>,
    programs: Store<Variant, Program>,
    /// The key includes the type of the text.
    texts: Store<(Variant, TypeId), Arc<dyn Any + Send + Sync>>,
}

impl Plans {
    /// The plans of the stencil of a project. Nothing is compiled as long as the file has the values that are
    /// asked for.
    #[must_use]
    pub fn of_project(project: &Project, config: &Config, file: Option<Arc<StencilFile>>) -> Arc<Self> {
        let (project, config) = (project.clone(), config.clone());
        let options = config.passes.clone();
        let compile = Box::new(move || route::compile(&project, &config, &mut NoHook));
        Arc::new(Self { file, ..Self::new(OnceLock::new(), compile, options) })
    }

    /// The plans of what `compile` makes under these options, which is called at most once, as for
    /// [`of_project`](Self::of_project).
    #[must_use]
    pub fn made_by(
        compile: impl Fn() -> Compilation + Send + Sync + 'static,
        options: PassOptions,
        file: Option<Arc<StencilFile>>,
    ) -> Arc<Self> {
        Arc::new(Self { file, ..Self::new(OnceLock::new(), Box::new(compile), options) })
    }

    /// The plans of a stencil that is compiled.
    #[must_use]
    pub fn of(compilation: impl Into<Arc<Compilation>>) -> Arc<Self> {
        let compilation: Arc<Compilation> = compilation.into();
        let options = compilation.options().clone();
        Arc::new(Self::new(OnceLock::from(compilation), Box::new(Compilation::default), options))
    }

    /// The plans of a stencil that was compiled under this configuration, with a file for other processes.
    #[must_use]
    pub fn stored(
        compilation: Arc<Compilation>,
        config: &Config,
        file: Option<Arc<StencilFile>>,
    ) -> Arc<Self> {
        let front = OnceLock::from(compilation);
        let plans = Self::new(front, Box::new(Compilation::default), config.passes.clone());
        Arc::new(Self { file, ..plans })
    }

    fn new(
        front: OnceLock<Arc<Compilation>>,
        compile: Box<dyn Fn() -> Compilation + Send + Sync>,
        options: PassOptions,
    ) -> Self {
        let (compiled, plans) = (Store::default(), Store::default());
        let (programs, texts) = (Store::default(), Store::default());
        Self { front, compile, options, file: None, compiled, plans, programs, texts }
    }

    /// All levels of the stencil as it is written. A stencil whose plan came from the file is compiled now.
    pub fn compilation(&self) -> &Arc<Compilation> {
        self.front.get_or_init(|| (self.compile)().into())
    }

    /// Whether the stencil was compiled in this process.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.front.get().is_some()
    }

    /// The plan of the stencil as it is written, for a back end that runs such programs.
    #[must_use]
    pub fn plan_for(self: &Arc<Self>, program: ProgramKind) -> PlanHandle {
        PlanHandle { plans: Arc::clone(self), variant: Variant::of(&self.options, program) }
    }

    /// All levels of a variant.
    fn compiled(&self, variant: &Variant) -> Result<Arc<Compilation>, Vec<Diagnostic>> {
        let front = self.compilation();
        if variant.order == ArrayOrder::AlongI && variant.aliases.is_empty() {
            return Ok(Arc::clone(front));
        }
        self.compiled.value((variant.order, variant.aliases.clone()), |_| {
            back(&front.front, front.options(), variant, &mut NoHook).map(Arc::new).map_err(|why| match why {
                NoVariant::Aliases(diagnostics) => diagnostics,
                NoVariant::Order(_) => Vec::new(),
            })
        })
    }
}

impl fmt::Debug for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plans").field("is_compiled", &self.is_compiled()).finish_non_exhaustive()
    }
}

/// One plan of a stencil, whether it is compiled yet or not.
#[derive(Clone, Debug)]
pub struct PlanHandle {
    plans: Arc<Plans>,
    variant: Variant,
}

impl PlanHandle {
    #[must_use]
    pub fn plans(&self) -> &Arc<Plans> {
        &self.plans
    }

    #[must_use]
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The plan of the same stencil for arrays whose neighbours along K lie side by side.
    #[must_use]
    pub fn along_k(&self) -> Self {
        Self { variant: self.variant.along_k(), ..self.clone() }
    }

    /// The plan of the same stencil for calls in which these pairs of parameters are one array.
    #[must_use]
    pub fn with_aliases(&self, aliases: &[[usize; 2]]) -> Self {
        Self { variant: self.variant.with_aliases(aliases), ..self.clone() }
    }

    /// The stored values of this variant, where there is a file.
    #[must_use]
    pub fn section(&self) -> Option<FileSection> {
        self.plans.file.as_ref().map(|it| FileSection::of(it, &self.variant))
    }

    /// The plan.
    ///
    /// # Errors
    ///
    /// The faults of the stencil; an empty list where its axes have no other order.
    pub fn plan(&self) -> Result<Arc<Plan>, Vec<Diagnostic>> {
        self.plans.plans.value(self.variant.clone(), |variant| {
            let section = self.section();
            let make = || {
                let compilation = self.plans.compiled(variant)?;
                let plan = Plan::of(&compilation).ok_or_else(|| compilation.notes.diagnostics.clone())?;
                if let Some(section) = &section {
                    section.call(&plan.stencil);
                }
                Ok::<Plan, Vec<Diagnostic>>(plan)
            };
            let plan = match &section {
                Some(section) => section.get_or_make("plan", &(), make)?,
                None => make()?,
            };
            if let Some(section) = &section {
                section.call(&plan.contract.signature.name);
            }
            Ok(Arc::new(plan))
        })
    }

    /// The plan, with the error type of back ends.
    ///
    /// # Errors
    ///
    /// There is no plan.
    pub fn ready_plan(&self) -> Result<Arc<Plan>, Failure> {
        self.plan().map_err(|_| missing(self.variant.program))
    }

    /// The program that the back end runs, or generates code from.
    ///
    /// # Errors
    ///
    /// The stencil was not compiled up to this program.
    pub fn program(&self) -> Result<Program, Failure> {
        self.plans.programs.value(self.variant.clone(), |variant| {
            let no_program = || missing(variant.program);
            let make = || {
                let compilation = self.plans.compiled(variant).map_err(|_| no_program())?;
                Program::of(&compilation, variant.program).ok_or_else(no_program)
            };
            let Some(section) = self.section().filter(|_| is_stored(variant.program)) else {
                return make();
            };
            // Programs of other kinds take less time to make than to read.
            let make = || match make()? {
                Program::Loops(it) => Ok(Arc::unwrap_or_clone(it)),
                Program::Reference(_) | Program::Arrays(_) | Program::Kernels(_) => Err(no_program()),
            };
            let loops: loops::Program = section.get_or_make("program", &(), make)?;
            Ok(Program::Loops(Arc::new(loops)))
        })
    }

    /// The OIR as it was lowered, of a plan for the interpreter.
    ///
    /// # Errors
    ///
    /// There is no such program.
    pub fn reference(&self) -> Result<Arc<Reference>, Failure> {
        match self.program()? {
            Program::Reference(it) => Ok(it),
            Program::Arrays(_) | Program::Loops(_) | Program::Kernels(_) => {
                Err(missing(ProgramKind::Reference))
            }
        }
    }

    /// The operations on whole arrays, of a plan that runs them.
    ///
    /// # Errors
    ///
    /// There is no such program.
    pub fn arrays(&self) -> Result<Arc<npir::Stencil>, Failure> {
        match self.program()? {
            Program::Arrays(it) => Ok(it),
            Program::Reference(_) | Program::Loops(_) | Program::Kernels(_) => {
                Err(missing(ProgramKind::Arrays))
            }
        }
    }

    /// The loops, of a plan for a processor.
    ///
    /// # Errors
    ///
    /// There is no such program.
    pub fn loops(&self) -> Result<Arc<loops::Program>, Failure> {
        match self.program()? {
            Program::Loops(it) => Ok(it),
            Program::Reference(_) | Program::Arrays(_) | Program::Kernels(_) => {
                Err(missing(self.variant.program))
            }
        }
    }

    /// The kernels, of a plan for a GPU.
    ///
    /// # Errors
    ///
    /// There is no such program.
    pub fn kernels(&self) -> Result<Arc<Kernels>, Failure> {
        match self.program()? {
            Program::Kernels(it) => Ok(it),
            Program::Reference(_) | Program::Arrays(_) | Program::Loops(_) => {
                Err(missing(ProgramKind::Kernels))
            }
        }
    }

    /// A value that depends only on plan and program, by a name and the rest of its key. It is stored where
    /// there is a file.
    ///
    /// # Errors
    ///
    /// Why there is no program, or why the value cannot be made.
    pub fn derived<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        key: &impl Serialize,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(section) = self.section() else { return make() };
        if let Some(found) = section.find(name, key) {
            return Ok(found);
        }
        // Made first: while the file waits for this value, it cannot be asked for another one.
        self.ready_plan()?;
        self.program()?;
        section.get_or_make(name, key, make)
    }

    /// A text that a back end makes of the program. It is made once for all callers.
    ///
    /// # Errors
    ///
    /// The errors of `make`.
    pub fn text<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let key = (self.variant.clone(), TypeId::of::<T>());
        let text =
            self.plans.texts.value(key, |_| make().map(|it| Arc::new(it) as Arc<dyn Any + Send + Sync>))?;
        text.downcast().map_err(|_| missing(self.variant.program))
    }

    /// The expected cost of a call on a machine; `None` where there is no schedule. Compiles the variant.
    #[must_use]
    pub fn cost_of_call(&self, machine: &Machine) -> Option<CallCost> {
        self.plans.compiled(&self.variant).ok()?.cost_of_call(machine)
    }

    /// Whether there is such a plan with all its levels.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.plans.compiled(&self.variant).is_ok_and(|it| it.is_whole() && it.front.signature.is_some())
    }

    /// Name and text of each file, in the order of their numbers. Compiles the stencil.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.plans.compilation().front.sources()
    }
}

/// Whether programs of a kind are stored: those whose making takes longer than reading them.
fn is_stored(program: ProgramKind) -> bool {
    matches!(program, ProgramKind::Loops(pass::CodeGenerator::Native { .. }))
}

fn missing(program: ProgramKind) -> Failure {
    let what = match program {
        ProgramKind::Reference => "no OIR to run",
        ProgramKind::Arrays => "no NPIR to run",
        ProgramKind::Loops(pass::CodeGenerator::C) => "no C to compile",
        ProgramKind::Loops(pass::CodeGenerator::Native { .. }) => "no graph to make code of",
        ProgramKind::Kernels => "no kernels to run",
    };
    Failure::Machine(format!("there is {what}"))
}
