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
use isobar_runtime::events::Sink;
use isobar_runtime::executors::{Caller, Code, Executor, Failure, Prepared, Progress, Setting};

/// The executor of the toy: making a stencil ready takes no work.
#[derive(Debug)]
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

    fn prepare(
        &self,
        compilation: &Compilation,
        _setting: Setting<'_>,
        _sink: Sink<'_>,
    ) -> Result<Prepared, Failure> {
        let missing = || Failure::Machine("there are no loops to run".to_owned());
        let levels = &compilation.levels;
        let program = levels.loops.as_ref().filter(|_| levels.is_whole).ok_or_else(missing)?.clone();
        let order = levels.sdfg.as_ref().ok_or_else(missing)?.order.clone();
        let signature = compilation.signature.as_ref().ok_or_else(missing)?;
        let params = signature.params.iter().map(|it| it.name.clone()).collect();
        Ok(Prepared::of(Arc::new(Loops { program, order, params })))
    }
}

/// The program, which all callers share.
struct Loops {
    program: Program,
    order: ProgramOrder,
    params: Vec<String>,
}

impl Code for Loops {
    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        progress.total.store(1, Ordering::Relaxed);
        Box::new(OfCaller { loops: self, progress })
    }
}

struct OfCaller {
    loops: Arc<Loops>,
    progress: Arc<Progress>,
}

impl Caller for OfCaller {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let Loops { program, order, params } = &*self.loops;
        let params: Vec<&str> = params.iter().map(String::as_str).collect();
        let ran = loops::run(program, &params, order, launch, &Options::default());
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
