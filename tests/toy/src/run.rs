//! Runs the loops as they stand.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::debug::Trap;
use isobar_compiler::loops::nodes::{Program, Storage};
use isobar_compiler::pass;
use isobar_compiler::pipeline::{Plan, ProgramKind};
use isobar_compiler::space::Domain;
use isobar_equivalence::loops;
use isobar_equivalence::run::{Options, Stop};
use isobar_runtime::events::Sink;
use isobar_runtime::executors::{Caller, Code, Executor, Failure, Prepared, Progress, Setting};
use isobar_runtime::plans::PlanHandle;

/// The executor of the toy: making a stencil ready takes no work.
#[derive(Debug)]
pub(crate) struct Toy;

/// An element with what tells whether it was written; and as much again beyond the domain.
const ELEMENT_BYTES: u64 = 2 * 16;

impl Executor for Toy {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Loops(pass::CodeGenerator::C)
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let program = plan.loops().ok()?;
        let temporaries = program.arrays.values().filter(|it| it.storage != Storage::Caller).count() as u64;
        u64::try_from(domain.points()).ok()?.checked_mul(ELEMENT_BYTES)?.checked_mul(temporaries)
    }

    fn prepare(&self, plan: &PlanHandle, _: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        Ok(Prepared::of(Arc::new(Loops { program: plan.loops()?, plan: plan.ready_plan()? })))
    }
}

/// The program, which all callers share.
struct Loops {
    program: Arc<Program>,
    plan: Arc<Plan>,
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
        let Loops { program, plan } = &*self.loops;
        let params: Vec<&str> = plan.contract.signature.params.iter().map(|it| it.name.as_str()).collect();
        let ran = loops::run(program, &params, &plan.order, launch, &Options::default());
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
