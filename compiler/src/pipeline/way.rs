//! What the levels behind the OIR are made for, and by which passes.

use crate::loops::{self, Program};
use crate::pass::{PassOptions, Pipeline};
use crate::schedule::{self, Tree};
use crate::sdfg::{self, nodes::Sdfg};
use crate::target::Target;

/// The way from the OIR to one kind of code: the passes of each level, and what they work for.
#[derive(Clone, Debug)]
pub struct Way {
    pub schedule: Pipeline<Tree>,
    pub sdfg: Pipeline<Sdfg>,
    pub loops: Pipeline<Program>,
    /// The machine, as schedules know it.
    pub machine: schedule::passes::Target,
    /// What code is generated for.
    pub code: Target,
}

impl Way {
    /// What the options of a compilation ask for.
    #[must_use]
    pub fn of(options: &PassOptions) -> Self {
        let machine = schedule::passes::Target::of(options);
        let machine = if options.turned { machine.turned() } else { machine };
        Self::to(machine, Target::of(options))
    }

    /// The way to code for such a machine.
    #[must_use]
    pub fn to(machine: schedule::passes::Target, code: Target) -> Self {
        let loops = match code.grid.value {
            Some(_) => loops::passes::KERNELS,
            None => loops::passes::PIPELINE,
        };
        Self { schedule: schedule::passes::PIPELINE, sdfg: sdfg::passes::PIPELINE, loops, machine, code }
    }
}
