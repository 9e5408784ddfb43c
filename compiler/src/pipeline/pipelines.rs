//! The passes from the OIR to each kind of code.

use crate::loops::{self, Program};
use crate::pass::{PassOptions, Pipeline};
use crate::schedule::{self, Tree};
use crate::sdfg::{self, nodes::Sdfg};
use crate::target::Target;

/// The passes of the levels behind the OIR, and the machine and the target that they decide for.
#[derive(Clone, Debug)]
pub struct Pipelines {
    pub schedule: Pipeline<Tree>,
    pub sdfg: Pipeline<Sdfg>,
    pub loops: Pipeline<Program>,
    /// The machine, as schedules know it.
    pub machine: schedule::passes::Target,
    /// The target of code generation.
    pub code: Target,
}

impl Pipelines {
    /// The pipelines that the options of a compilation ask for.
    #[must_use]
    pub fn of(options: &PassOptions) -> Self {
        let machine = schedule::passes::Target::of(options);
        let machine = if options.turned { machine.turned() } else { machine };
        Self::for_target(machine, Target::of(options))
    }

    /// All passes, for code on such a machine.
    #[must_use]
    pub fn for_target(machine: schedule::passes::Target, code: Target) -> Self {
        let loops = match code.grid.value {
            Some(_) => loops::passes::KERNELS,
            None => loops::passes::PIPELINE,
        };
        Self { schedule: schedule::passes::PIPELINE, sdfg: sdfg::passes::PIPELINE, loops, machine, code }
    }
}
