//! The two that run without generated code: the interpreter, and operations on whole arrays.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::{Control, Stop, Trap};
use isobar_compiler::pipeline::ProgramKind;
use isobar_compiler::space::Domain;
use isobar_compiler::{debug, numpy};

use super::{Caller, Code, Executor, Failure, Prepared, Progress, Setting, cancel};
use crate::events::Sink;
use crate::plans::PlanHandle;

/// The interpreter: statement by statement.
#[derive(Clone, Copy, Debug)]
pub struct Debug;

impl Executor for Debug {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Reference
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let program = plan.reference().ok()?;
        bytes_of(program.stencil.fields.iter().map(|(_, it)| it.data_dims.as_slice()), domain)
    }

    fn prepare(&self, plan: &PlanHandle, _: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        let program = plan.reference()?;
        let run = move |launch: &mut Launch, control: &mut dyn Control| {
            debug::run(&program.stencil, &program.extents, launch, control)
        };
        Ok(Prepared::of(Arc::new(LevelCode { run })))
    }
}

/// Operations on whole arrays.
#[derive(Clone, Copy, Debug)]
pub struct Numpy;

impl Executor for Numpy {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Arrays
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let stencil = plan.arrays().ok()?;
        let temporaries = stencil.fields.iter().filter(|(_, it)| it.is_temporary || it.kept_as.is_some());
        bytes_of(temporaries.map(|(_, it)| it.data_dims.as_slice()), domain)
    }

    fn prepare(&self, plan: &PlanHandle, _: Setting<'_>, _: Sink<'_>) -> Result<Prepared, Failure> {
        let stencil = plan.arrays()?;
        let run = move |launch: &mut Launch, control: &mut dyn Control| numpy::run(&stencil, launch, control);
        Ok(Prepared::of(Arc::new(LevelCode { run })))
    }
}

/// The bytes of fields with these data dimensions. Each has all levels, and as many rows as the extents ask for:
/// half as much again is plenty.
fn bytes_of<'a>(fields: impl Iterator<Item = &'a [u32]>, domain: Domain) -> Option<u64> {
    let points = u64::try_from(domain.points()).ok()?;
    let elements = |sizes: &[u32]| sizes.iter().try_fold(1, |n: u64, &size| n.checked_mul(size.into()));
    let elements = fields.map(elements).sum::<Option<u64>>()?;
    points.checked_mul(8)?.checked_mul(elements)?.checked_mul(3).map(|it| it / 2)
}

/// A level of the compiler with the function that runs it.
struct LevelCode<F> {
    run: F,
}

impl<F> Code for LevelCode<F>
where
    F: Fn(&mut Launch, &mut dyn Control) -> Result<(), Stop> + Send + Sync + 'static,
{
    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        Box::new(LevelCaller { level: self, progress: Arc::default() })
    }
}

/// Somebody who has a level run.
struct LevelCaller<F> {
    level: Arc<LevelCode<F>>,
    progress: Arc<Progress>,
}

impl<F> Caller for LevelCaller<F>
where
    F: Fn(&mut Launch, &mut dyn Control) -> Result<(), Stop> + Send + Sync,
{
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        match (self.level.run)(launch, &mut ProgressControl(&self.progress)) {
            Ok(()) => Ok(()),
            Err(Stop::Cancelled) => Err(Failure::Cancelled),
            Err(Stop::Trap(Trap { message, origin, cell })) => {
                Err(Failure::Trap { message, statement: origin.stmt, cell })
            }
        }
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

struct ProgressControl<'a>(&'a Progress);

impl Control for ProgressControl<'_> {
    fn progress(&mut self, done: u64, total: u64) -> bool {
        let signed = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        self.0.total.store(signed(total), Ordering::Relaxed);
        self.0.done.store(signed(done), Ordering::Relaxed);
        !cancel::is_wanted()
    }
}
