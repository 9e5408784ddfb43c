//! The interpreter of the Program IR, which *defines the meaning* of a program.
//!
//! - Statements run in order, each finished before the next one starts.
//! - A call is the stencil's own meaning, as the debug back end has it, on its range. Parameters that are the same
//!   elements are one field.
//! - Locals hold NaN, or the smallest integer, when a run starts. State keeps its values from run to run.
//! - Scalars follow Python's rules; an exception there ends the run here.
//! - An exchange meets the domain itself: it is the only one.

mod arrays;
mod callback;
mod calls;
mod groups;
mod halos;
mod inputs;
mod made;
mod measure;
mod memory;
mod messages;
mod on_device;
mod prepare;
mod ranks;
mod rehearse;
mod run;
mod runner;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use arrays::ElementBox;
pub use callback::Callback;
use isobar_ground::call::array::Array;
use isobar_ground::call::launch::ScalarInput;
use isobar_ground::call::run::Control;
use isobar_ground::diag::Diagnostic;
use isobar_ground::entity::Handle;
use isobar_ground::space::Domain;
use isobar_ground::types::Value;
use isobar_reference::front::Front;
use itertools::Itertools;
pub use made::make_inputs;
pub use measure::StatementMeasure;
use memory::LocalMemory;
use on_device::BegunLocal;
pub use prepare::ProgramBytes;
pub use runner::{
    DeviceRunner, GroupParam, GroupStop, RankMessage, StencilInterpreter, StencilRunner, StencilStop,
    StencilsOnArrays, Transport,
};

use crate::analysis::calls::aliases;
use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStencil, StencilCall};
use crate::scalar::nodes::ScalarRole;
use crate::stencils::ProgramFronts;

/// The values that an exchange stores in the halo of the only domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HaloFill {
    /// Nothing: halos stay as they are.
    #[default]
    None,
    /// The values of the opposite edge.
    Periodic,
    /// Those of the nearest points.
    ZeroGradient,
}

impl HaloFill {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::None, "none"), (Self::Periodic, "periodic"), (Self::ZeroGradient, "zero-gradient")];

    /// As requests spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    /// The fill of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.1 == name).map(|it| it.0)
    }
}

/// The statements that others answer, while a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// None: the program runs alone.
    None,
    /// Callbacks, and exchanges with a plan.
    Callbacks,
    /// Callbacks and all exchanges.
    Exchanges,
}

/// The inputs of a run; its written fields are updated in place.
#[derive(Clone, Debug, Default)]
pub struct ProgramInputs {
    /// Arguments and constants by name, with all dimensions of the document. No two of them share memory.
    pub fields: BTreeMap<String, Array>,
    pub scalars: BTreeMap<String, ScalarInput>,
}

/// Marks and calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramReport {
    /// How often a run came to each mark, in the order of their first time.
    pub marks: Vec<(String, u64)>,
    /// Calls of stencils.
    pub n_calls: u64,
}

/// Why a run ended before its end. The fields then hold what was computed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramStop {
    /// The control said so.
    Cancelled,
    Fault(Vec<Diagnostic>),
}

/// The default limit of the bytes of all fields of a program together.
pub const MOST_BYTES: u64 = 8 << 30;

/// A program on one domain, with its state.
#[derive(Debug)]
pub struct ProgramInstance {
    program: ProgramIr,
    domain: Domain,
    fill: HaloFill,
    /// For each stencil and the pairs of its parameters that are one field.
    fronts: BTreeMap<CallKey, Arc<Front>>,
    /// Of each container; no elements where the caller has them.
    arrays: Vec<Array>,
    /// The caller's array of each container that a run has copied.
    lent: BTreeMap<Handle<Container>, Array>,
    /// Of each scalar.
    scalars: Vec<Value>,
    /// The locals that hold what this run knows of them.
    begun: BTreeSet<Handle<Container>>,
    /// The locals that may be read where nothing has written them.
    needing: BTreeSet<Handle<Container>>,
    /// The containers that some statement may write.
    written: BTreeSet<Handle<Container>>,
    /// The memory that locals share; none where each has its own.
    memory: Option<LocalMemory>,
    /// The locals that began in this run, and that no device knows yet.
    begun_locals: Vec<BegunLocal>,
    /// The number of its last run, where that was on a device.
    last_run: Option<u64>,
}

type CallKey = (Handle<ProgramStencil>, Vec<[usize; 2]>);

impl ProgramInstance {
    /// Makes a program ready for runs on a domain. Its state starts anew.
    ///
    /// # Errors
    ///
    /// Whatever this domain makes impossible, and statements that are not carried out.
    pub fn new(
        program: &ProgramIr,
        fronts: &mut ProgramFronts,
        domain: [i64; 3],
        fill: HaloFill,
        most_bytes: u64,
    ) -> Result<Self, Vec<Diagnostic>> {
        prepare::instance(program, fronts, domain, (fill, most_bytes), Answers::None)
    }

    /// Whether a program could run on a domain, however much memory it takes.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn check(
        program: &ProgramIr,
        fronts: &mut ProgramFronts,
        domain: [i64; 3],
        answers: Answers,
    ) -> Result<(), Vec<Diagnostic>> {
        prepare::checked(program, fronts, domain, (u64::MAX, answers)).map(drop)
    }

    /// Makes it ready for runners that answer callbacks.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_callbacks(
        program: &ProgramIr,
        fronts: &mut ProgramFronts,
        domain: [i64; 3],
        fill: HaloFill,
        most_bytes: u64,
    ) -> Result<Self, Vec<Diagnostic>> {
        prepare::instance(program, fronts, domain, (fill, most_bytes), Answers::Callbacks)
    }

    /// The domain that it is for.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &ProgramIr {
        &self.program
    }

    /// The stencils of its calls: each function once for its externals, its edges and its aliases.
    pub fn fronts(&self) -> impl Iterator<Item = &Arc<Front>> {
        self.fronts.values().unique_by(|it| Arc::as_ptr(it))
    }

    /// The stencil that a call runs, in which parameters that are one field are one parameter.
    #[must_use]
    pub fn front_of(&self, call: &StencilCall) -> Option<&Arc<Front>> {
        self.fronts.get(&(call.stencil, aliases(&self.program, call)))
    }

    /// Points along the dimensions of a field on this domain.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let container = self.program.containers.find(|it| it.name == name)?;
        Some(arrays::shape(&self.program.containers[container], self.domain))
    }

    /// The arguments that a run may write, in the order of the document.
    pub fn results(&self) -> impl Iterator<Item = &Container> {
        let all = self.program.containers.iter().filter(|it| it.1.role == ContainerRole::Argument);
        all.filter(|(handle, _)| self.written.contains(handle)).map(|it| it.1)
    }

    /// The names of the scalars that a caller gives.
    pub fn scalar_arguments(&self) -> impl Iterator<Item = &str> {
        let all = self.program.scalars.values().filter(|it| it.role == ScalarRole::Argument);
        all.map(|it| it.name.as_str())
    }

    /// The elements of a state between two runs.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<&Array> {
        let container = self.program.containers.find(|it| it.name == name)?;
        let is_own = matches!(self.program.containers[container].role, ContainerRole::State(_));
        self.arrays.get(container.index()).filter(|_| is_own)
    }

    /// The value of a scalar between two runs, by its name.
    #[must_use]
    pub fn scalar(&self, name: &str) -> Option<Value> {
        let scalar = self.program.scalars.find(|it| it.name == name)?;
        self.scalars.get(scalar.index()).copied()
    }

    /// Runs the program once.
    ///
    /// # Errors
    ///
    /// P18 for inputs that do not fit, before anything runs; else the reason why it ended early.
    pub fn run(
        &mut self,
        inputs: &mut ProgramInputs,
        control: &mut dyn Control,
    ) -> Result<ProgramReport, ProgramStop> {
        self.run_with(inputs, &mut StencilInterpreter, control)
    }

    /// Runs the program once; `runner` runs its stencils, as fast as it can and with the bits of `debug`.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run), and what the runner cannot do.
    pub fn run_with(
        &mut self,
        inputs: &mut ProgramInputs,
        runner: &mut dyn StencilRunner,
        control: &mut dyn Control,
    ) -> Result<ProgramReport, ProgramStop> {
        self.take(inputs, runner).map_err(ProgramStop::Fault)?;
        let mut run = run::ProgramRun::new(self, runner, control);
        let result = run.program();
        let report = run.report();
        self.give_back(inputs);
        result.map(|()| report)
    }

    /// The same, and measures each statement. `now` tells milliseconds.
    ///
    /// # Errors
    ///
    /// As for [`run_with`](Self::run_with).
    pub fn run_measured(
        &mut self,
        inputs: &mut ProgramInputs,
        runner: &mut dyn StencilRunner,
        control: &mut dyn Control,
        now: &dyn Fn() -> f64,
    ) -> Result<(ProgramReport, Vec<StatementMeasure>), ProgramStop> {
        self.take(inputs, runner).map_err(ProgramStop::Fault)?;
        let mut run = run::ProgramRun::new(self, runner, control).measured(now);
        let result = run.program();
        let measures = run.measures();
        let report = run.report();
        self.give_back(inputs);
        result.map(|()| (report, measures))
    }
}
