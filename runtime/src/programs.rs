//! The stencils of a program of calls, as code of a back end.

use std::fmt;
use std::sync::Arc;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::run::Control;
use isobar_compiler::diag::{Span, StmtId};
use isobar_compiler::front::Front;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::pipeline::{Compilation, NoHook, ProgramKind, Variant, back};
use isobar_program::interpret::{StencilRunner, StencilStop};
use rayon::prelude::*;

use crate::executors::{Executor, OwnedSetting, Prepared, prepare};
use crate::failure::Failure;
use crate::plans::Plans;

/// The code of each stencil that a program calls.
pub struct ProgramCode {
    executor: Arc<dyn Executor>,
    setting: OwnedSetting,
    options: PassOptions,
    codes: Vec<StencilCode>,
}

struct StencilCode {
    front: Arc<Front>,
    compilation: Arc<Compilation>,
    prepared: Prepared,
}

impl fmt::Debug for ProgramCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramCode").field("n_stencils", &self.codes.len()).finish_non_exhaustive()
    }
}

impl ProgramCode {
    /// Code of a back end whose fields lie on the host. `options` are those of all stencils.
    #[must_use]
    pub fn new(executor: Arc<dyn Executor>, setting: OwnedSetting, options: PassOptions) -> Self {
        Self { executor, setting, options, codes: Vec::new() }
    }

    /// Prepares stencils before the first run, all cores at the same time. A stencil that is not prepared waits for its
    /// first call.
    ///
    /// # Errors
    ///
    /// The first stencil that the back end cannot prepare, with the reason.
    pub fn prepare<'a>(&mut self, fronts: impl IntoIterator<Item = &'a Arc<Front>>) -> Result<(), String> {
        let fronts: Vec<&Arc<Front>> = fronts.into_iter().filter(|it| self.position(it).is_none()).collect();
        let Self { executor, setting, options, .. } = &*self;
        let made: Vec<_> = fronts.par_iter().map(|it| made(it, &**executor, setting, options)).collect();
        for (front, made) in fronts.into_iter().zip(made) {
            let name = front.stencil.as_deref().unwrap_or_default();
            self.codes.push(made.map_err(|why| format!("`{name}` has no code: {}", in_words(why)))?);
        }
        Ok(())
    }

    /// The number of stencils that have code.
    #[must_use]
    pub fn n_stencils(&self) -> usize {
        self.codes.len()
    }

    fn position(&self, front: &Arc<Front>) -> Option<usize> {
        self.codes.iter().position(|it| Arc::ptr_eq(&it.front, front))
    }

    fn code(&mut self, front: &Arc<Front>) -> Result<&mut StencilCode, Failure> {
        let at = match self.position(front) {
            Some(at) => at,
            None => {
                let made = made(front, &*self.executor, &self.setting, &self.options)?;
                self.codes.push(made);
                self.codes.len() - 1
            }
        };
        Ok(&mut self.codes[at])
    }
}

fn made(
    front: &Arc<Front>,
    executor: &dyn Executor,
    setting: &OwnedSetting,
    options: &PassOptions,
) -> Result<StencilCode, Failure> {
    let variant = Variant::of(options, executor.program(setting.borrow()));
    let compilation = back(front, options, &variant, &mut NoHook)
        .map_err(|_| Failure::Machine("the compiler made none".to_owned()))?;
    let compilation = Arc::new(compilation);
    let plans = Plans::of(Arc::clone(&compilation));
    let prepared = prepare(executor, &plans, setting.borrow(), &|_| ())?;
    Ok(StencilCode { front: Arc::clone(front), compilation, prepared })
}

impl StencilRunner for ProgramCode {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        let fault = |why: String, statement| StencilStop::Fault { why, statement };
        let code = self.code(front).map_err(|it| fault(in_words(it), None))?;
        code.prepared.run(launch).map_err(|failure| match failure {
            Failure::Cancelled => StencilStop::Cancelled,
            Failure::Trap { message, statement, cell: [i, j, k] } => {
                let why = format!("{message}, in {statement} at i={i}, j={j}, k={k}");
                fault(why, code.place(statement))
            }
            other => fault(in_words(other), None),
        })
    }

    /// Loops run along I. Other arrays would be copied at each call.
    fn prefers_rows(&self) -> bool {
        matches!(self.executor.program(self.setting.borrow()), ProgramKind::Loops(_))
    }
}

impl StencilCode {
    /// The place of a statement in the stencil's text.
    fn place(&self, statement: StmtId) -> Option<Span> {
        let nodes = self.compilation.listings().flat_map(|(_, it)| &it.nodes);
        nodes.filter(|it| it.stmts == [statement]).find_map(|it| it.spans.first().copied())
    }
}

fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Cancelled => "it was cancelled".to_owned(),
        Failure::OutOfMemory => "there is no memory for its temporaries".to_owned(),
        Failure::Trap { message, .. } => message,
        Failure::Code(said) => format!("the C compiler refused the code: {said}"),
        Failure::Machine(why) => why,
    }
}
