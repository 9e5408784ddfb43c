//! The two that run without generated code: the interpreter, and operations on whole arrays.

use std::time::{Duration, Instant};

use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::run::{Control, Stop, Trap};
use isobar_compiler::backend::{debug, numpy};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::job::EventKind;

use super::steps::{self, Sink};
use super::{Executor, Failure, Work};
use crate::compile;

/// More often than this nobody wants to hear of progress.
pub(super) const PROGRESS: Duration = Duration::from_millis(50);

pub(crate) struct Debug;

struct Watch<'a> {
    sink: Sink<'a>,
    told: Instant,
}

impl Control for Watch<'_> {
    fn progress(&mut self, done: u64, total: u64) -> bool {
        // The end is told, however short the way was.
        if self.told.elapsed() >= PROGRESS || done == total {
            self.told = Instant::now();
            (self.sink)(EventKind::Progress { done, total });
        }
        // To cancel a job is to end its process.
        true
    }
}

impl Executor for Debug {
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let (stencil, _) = compile::oir(compilation)?;
        bytes_of(stencil.fields.iter().map(|(_, it)| it.data_dims.as_slice()), domain)
    }

    fn run(&self, mut work: Work<'_>) -> Result<(), Failure> {
        let (stencil, extents) = compile::oir(work.compilation)
            .ok_or_else(|| Failure::Machine("there is no OIR to run".to_owned()))?;
        watched(&mut work, |launch, watch| debug::run(stencil, extents, launch, watch))
    }
}

pub(crate) struct Numpy;

impl Executor for Numpy {
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        _threads: u32,
        _arguments: &[Argument],
    ) -> Option<u64> {
        let stencil = compile::npir(compilation)?;
        let temporaries = stencil.fields.iter().filter(|(_, it)| it.is_temporary || it.kept_as.is_some());
        bytes_of(temporaries.map(|(_, it)| it.data_dims.as_slice()), domain)
    }

    fn run(&self, mut work: Work<'_>) -> Result<(), Failure> {
        let stencil = compile::npir(work.compilation)
            .ok_or_else(|| Failure::Machine("there is no NPIR to run".to_owned()))?;
        watched(&mut work, |launch, watch| numpy::run(stencil, launch, watch))
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

fn watched(
    work: &mut Work<'_>,
    run: impl FnOnce(&mut Launch, &mut dyn Control) -> Result<(), Stop>,
) -> Result<(), Failure> {
    let traffic = work.traffic_bytes();
    let mut watch = Watch { sink: work.sink, told: Instant::now() };
    let launch = &mut *work.launch;
    match steps::run(traffic, work.sink, || run(launch, &mut watch)) {
        Ok(()) => Ok(()),
        Err(Stop::Cancelled) => Err(Failure::Cancelled),
        Err(Stop::Trap(Trap { message, origin, cell })) => {
            Err(Failure::Trap { message, statement: origin.stmt, cell })
        }
    }
}
