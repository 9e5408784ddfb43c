//! The interpreter.

use std::time::{Duration, Instant};

use isobar_compiler::backend::debug::{self, Control, Stop, Trap};
use isobar_compiler::backend::launch::Argument;
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
        let points = u64::try_from(domain.points()).ok()?;
        // Every temporary has all levels, and as many rows as the extents ask for: half as much again is plenty.
        let elements = |sizes: &[u32]| sizes.iter().try_fold(1, |n: u64, &size| n.checked_mul(size.into()));
        let fields = stencil.fields.iter().map(|(_, it)| elements(&it.data_dims));
        let temporaries = fields.sum::<Option<u64>>()?;
        points.checked_mul(8)?.checked_mul(temporaries)?.checked_mul(3).map(|it| it / 2)
    }

    fn run(&self, work: Work<'_>) -> Result<(), Failure> {
        let (stencil, extents) = compile::oir(work.compilation)
            .ok_or_else(|| Failure::Machine("there is no OIR to run".to_owned()))?;
        let mut watch = Watch { sink: work.sink, told: Instant::now() };
        let ran = steps::run(work.traffic_bytes(), work.sink, || {
            debug::run(stencil, extents, work.launch, &mut watch)
        });
        match ran {
            Ok(()) => Ok(()),
            Err(Stop::Cancelled) => Err(Failure::Cancelled),
            Err(Stop::Trap(Trap { message, origin, cell })) => {
                Err(Failure::Trap { message, statement: origin.stmt, cell })
            }
        }
    }
}
