//! A program that is compiled for one domain, and called with fields that the caller lends.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use isobar_compiler::call::launch::{Launch, ScalarInput};
use isobar_compiler::call::run::{Control, NoControl};
use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostic;
use isobar_compiler::diag::catalog::programs as catalog;
use isobar_compiler::front::Front;
use isobar_compiler::space::Domain;
use isobar_program::compile::{ProgramCompilation, ProgramOptions, compile};
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    Answers, Callback, DeviceRunner, GroupParam, GroupStop, HaloFill, MOST_BYTES, ProgramBytes,
    ProgramInputs, ProgramInstance, ProgramReport, ProgramStop, StencilRunner, StencilStop, Transport,
};
use isobar_program::nodes::{Container, ContainerRole};
use isobar_program::overlap::overlap_exchanges;
use isobar_program::print::listing;

use super::ProgramCode;
use super::shared::STENCILS;
use crate::buffer::Buffer;
use crate::executors::{Executor, OwnedSetting};

/// A program that is ready to run on its domain.
#[derive(Debug)]
pub struct ProgramExecutable {
    compilation: ProgramCompilation,
    instance: ProgramInstance,
    code: ProgramCode,
    /// The text of the level, with its groups.
    text: String,
}

/// The bytes of a program's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramMemory {
    /// Of the arrays that a run is given.
    pub given: u64,
    pub state: u64,
    /// Of its locals, which share memory; groups keep what they alone touch.
    pub locals: u64,
    /// Of its locals, if each had an array of its own.
    pub locals_alone: u64,
}

/// Why a program is refused, or ended early: what is told, and the files that its places are in.
#[derive(Clone, Debug)]
pub struct ProgramRefusal {
    pub diagnostics: Vec<Diagnostic>,
    /// Name and text, in the order of their numbers.
    pub files: Vec<(String, String)>,
}

/// The arguments of a call, by the names of the document.
#[derive(Debug, Default)]
pub struct ProgramArguments {
    /// Fields on the host. No two of them share memory.
    pub fields: BTreeMap<String, Buffer>,
    pub scalars: BTreeMap<String, ScalarInput>,
}

impl ProgramExecutable {
    /// Compiles a document or an object graph for a domain, and makes its code.
    ///
    /// # Errors
    ///
    /// The faults of the document, those of the domain, and what the back end cannot do.
    pub fn new(
        (name, text): (&str, &str),
        config: Config,
        (domain, fill): ([i64; 3], HaloFill),
        executor: Arc<dyn Executor>,
        setting: OwnedSetting,
    ) -> Result<Self, ProgramRefusal> {
        let options = config.passes.clone();
        let shared = STENCILS.clone();
        let mut compilation = compile(name, text, ProgramOptions { config, edges: [true; 4], shared });
        let Some(mut program) = compilation.program.take() else {
            let diagnostics = std::mem::take(&mut compilation.diagnostics);
            return Err(refusal(&compilation, diagnostics));
        };
        let mut code = ProgramCode::new(executor, setting, options);
        if code.joins_calls() {
            group_calls(&mut program);
        }
        overlap_exchanges(&mut program, Answers::Callbacks);
        let made =
            ProgramInstance::with_callbacks(&program, &mut compilation.fronts, domain, fill, MOST_BYTES);
        let instance = made.map_err(|it| refusal(&compilation, it))?;
        code.prepare(&instance).map_err(|why| {
            let told = catalog::run_input(&why, "run it on another back end");
            refusal(&compilation, vec![told])
        })?;
        Ok(Self { text: listing(&program).text, compilation, instance, code })
    }

    /// Runs the program once. Its state stays with it.
    ///
    /// # Errors
    ///
    /// Inputs that do not fit, before anything runs; otherwise the reason why the run ended early.
    pub fn run(
        &mut self,
        arguments: ProgramArguments,
        around: RunSurroundings<'_>,
    ) -> Result<ProgramReport, ProgramRefusal> {
        let mut inputs = ProgramInputs {
            fields: arguments.fields.into_iter().map(|(name, it)| (name, it.array)).collect(),
            scalars: arguments.scalars,
        };
        let mut runner = HostedCode { code: &mut self.code, around };
        let ended = self.instance.run_with(&mut inputs, &mut runner, &mut NoControl);
        ended.map_err(|stop| match stop {
            ProgramStop::Fault(told) => refusal(&self.compilation, told),
            ProgramStop::Cancelled => {
                refusal(&self.compilation, vec![catalog::run_input("the run was cancelled", "run it again")])
            }
        })
    }

    /// The bytes of its memory behind its first run.
    #[must_use]
    pub fn memory(&self) -> ProgramMemory {
        let Domain { i, j, k } = self.instance.domain();
        let program = self.instance.program();
        let bytes_where = |is_meant: fn(&ContainerRole) -> bool| {
            let meant = program.containers.iter().filter(|it| is_meant(&it.1.role));
            meant.map(|it| ProgramBytes::of_container(it.1, Domain::new(i, j, k))).sum()
        };
        ProgramMemory {
            given: bytes_where(|it| matches!(it, ContainerRole::Argument | ContainerRole::Constant)),
            state: bytes_where(|it| matches!(it, ContainerRole::State(_))),
            locals: self.instance.local_bytes(),
            locals_alone: bytes_where(|it| matches!(it, ContainerRole::Local)),
        }
    }

    /// The names of the fields that a run is given.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let all = self.instance.program().containers.values();
        let is_given = |it: &&Container| matches!(it.role, ContainerRole::Argument | ContainerRole::Constant);
        all.filter(is_given).map(|it| it.name.as_str())
    }

    /// The names of the arguments that a run may write.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.instance.results().map(|it| it.name.as_str())
    }

    /// The text of the program, with the groups of calls that are one piece of code.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The document that was compiled; of an object graph, the one that was made of it.
    #[must_use]
    pub fn document(&self) -> &str {
        &self.compilation.document.1
    }

    /// The warnings about the document.
    #[must_use]
    pub fn warnings(&self) -> ProgramRefusal {
        refusal(&self.compilation, self.compilation.diagnostics.clone())
    }
}

/// The things that a program calls outside of itself.
pub struct RunSurroundings<'a> {
    /// Answers callbacks, by their names in the document. Meanwhile all arguments are where the caller has them.
    pub host: &'a mut dyn FnMut(&mut Callback<'_>) -> Result<(), String>,
    /// Carries messages to other ranks and from them, where there are some.
    pub transport: Option<&'a mut dyn Transport>,
}

impl fmt::Debug for RunSurroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunSurroundings")
            .field("has_ranks", &self.transport.is_some())
            .finish_non_exhaustive()
    }
}

/// The code of a program, beside its surroundings.
pub(super) struct HostedCode<'c, 'a> {
    pub(super) code: &'c mut dyn StencilRunner,
    pub(super) around: RunSurroundings<'a>,
}

impl StencilRunner for HostedCode<'_, '_> {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        self.code.run(front, launch, control)
    }

    fn group(&mut self, number: usize) -> Option<Arc<[GroupParam]>> {
        self.code.group(number)
    }

    fn run_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        self.code.run_group(number, launch, control)
    }

    fn host(&mut self, callback: &mut Callback<'_>) -> Result<(), StencilStop> {
        (self.around.host)(callback).map_err(|why| StencilStop::Fault { why, statement: None })
    }

    fn transport(&mut self) -> Option<&mut dyn Transport> {
        match &mut self.around.transport {
            Some(it) => Some(&mut **it),
            None => None,
        }
    }

    fn forgets_locals(&self) -> bool {
        self.code.forgets_locals()
    }

    fn device(&mut self) -> Option<&mut dyn DeviceRunner> {
        self.code.device()
    }

    fn prefers_rows(&self) -> bool {
        self.code.prefers_rows()
    }
}

pub(super) fn refusal(compilation: &ProgramCompilation, diagnostics: Vec<Diagnostic>) -> ProgramRefusal {
    let files = compilation.fronts.project().files.iter();
    let mut files: Vec<(String, String)> =
        files.map(|(name, text)| (name.clone(), text.to_string())).collect();
    files.push(compilation.document.clone());
    ProgramRefusal { diagnostics, files }
}
