//! Runs the loops as they stand.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobar_compiler::backend::debug::Trap;
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::diag::ProgramOrder;
use isobar_compiler::equivalence::loops;
use isobar_compiler::equivalence::run::{Options, Stop};
use isobar_compiler::loops::nodes::{Program, Storage};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_runner::backends::events::Sink;
use isobar_runner::backends::{Executor, Failure, Prepared, Progress, Setting};

/// What makes a stencil ready: there is nothing to make.
pub(crate) struct Toy;

/// An element with what tells whether it was written; and as much again beyond the domain.
const ELEMENT_BYTES: u64 = 2 * 16;

impl Executor for Toy {
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let arrays = &compilation.levels.loops.as_ref()?.arrays;
        let temporaries = arrays.iter().filter(|it| it.storage != Storage::Caller).count() as u64;
        u64::try_from(domain.points()).ok()?.checked_mul(ELEMENT_BYTES)?.checked_mul(temporaries)
    }

    fn prepare<'a>(
        &self,
        compilation: &'a Compilation,
        _setting: Setting<'_>,
        _sink: Sink<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        let missing = || Failure::Machine("there are no loops to run".to_owned());
        let levels = &compilation.levels;
        let program = levels.loops.as_ref().filter(|_| levels.is_whole).ok_or_else(missing)?;
        let order = &levels.sdfg.as_ref().ok_or_else(missing)?.order;
        let signature = compilation.signature.as_ref().ok_or_else(missing)?;
        let params = signature.params.iter().map(|it| it.name.as_str()).collect();
        let progress = Arc::new(Progress::default());
        progress.total.store(1, Ordering::Relaxed);
        Ok(Box::new(Ready { program, order, params, progress }))
    }
}

struct Ready<'a> {
    program: &'a Program,
    order: &'a ProgramOrder,
    params: Vec<&'a str>,
    progress: Arc<Progress>,
}

impl Prepared for Ready<'_> {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let ran = loops::run(self.program, &self.params, self.order, launch, &Options::default());
        self.progress.done.store(1, Ordering::Relaxed);
        ran.map(drop).map_err(|stop| match stop {
            Stop::Trap(Trap { message, origin, cell }) => {
                Failure::Trap { message, statement: origin.stmt, cell }
            }
            Stop::Fault(what) => Failure::Machine(what),
        })
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}
