//! Options of the passes of a compilation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::machine::{GpuModel, MachineModel};
use crate::space::Axis;

/// Which passes run, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// Passes that do not run, by name: `oir/merge-horizontal-executions`.
    pub skip: BTreeSet<String>,
    /// The last pass; the compilation ends with it.
    pub stop_after: Option<String>,
    /// How many changes a pass may make, where a fault is narrowed down.
    pub limit: Option<DecisionLimit>,
    /// The file of the project that says how loops are to run, instead of the passes.
    pub schedule: Option<String>,
    /// The kind of machine that the schedule is made for.
    pub device: Device,
    /// The maker of code for a processor, where the device is one: the loops are for it.
    pub code: CodeGenerator,
    /// The machine that it is made for, where it is known.
    pub machine: Option<MachineModel>,
    /// The GPU that it is made for, where the device is one; without it, [`GpuModel::H100`].
    pub gpu: Option<GpuModel>,
    /// How launches of a GPU are formed, where nothing forbids it; without it, whatever is expected to be fastest.
    pub gpu_form: Option<GpuForm>,
    /// Along which axis neighbours lie side by side in memory.
    pub contiguous: Axis,
    /// Whether the axes I and K are exchanged from the schedule on, for callers that exchange them in arrays
    /// too.
    pub turned: bool,
    /// Whether the steps are kept that led to the schedule.
    pub steps: bool,
    /// Whether every level is kept as it is before and after each pass.
    pub trace: bool,
}

/// A kind of machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    #[default]
    Cpu,
    Gpu,
}

/// A maker of code for loops on a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CodeGenerator {
    /// A C compiler, for the vectors of the machine.
    #[default]
    C,
    /// This process, with vectors of so many bits.
    Native { vector_bits: u32 },
}

/// How the statements of a launch share their work among the threads of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuForm {
    /// A thread for each point; each loop nest is a launch of its own.
    Points,
    /// A thread for each point, which computes again what it needs of its neighbours.
    Recomputed,
    /// Blocks for tiles of points, whose threads hand on what they compute in shared memory.
    Tiles,
    /// Blocks that go along rows, and keep a few of each array.
    Rolled,
    /// A thread for each column, which runs through all its levels.
    Columns,
    /// Tiles of columns, which run through their levels together.
    Sweeps,
    /// A launch for each level.
    Levels,
}

impl GpuForm {
    pub const ALL: [Self; 7] = [
        Self::Points,
        Self::Recomputed,
        Self::Tiles,
        Self::Rolled,
        Self::Columns,
        Self::Sweeps,
        Self::Levels,
    ];

    /// As options call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Recomputed => "P",
            Self::Tiles => "T",
            Self::Rolled => "R",
            Self::Columns => "C",
            Self::Sweeps => "S",
            Self::Levels => "L",
        }
    }
}

/// At most so many decisions of one pass are carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionLimit {
    pub pass: String,
    pub decisions: usize,
}

impl Default for PassOptions {
    fn default() -> Self {
        Self {
            skip: BTreeSet::new(),
            stop_after: None,
            limit: None,
            schedule: None,
            device: Device::default(),
            code: CodeGenerator::default(),
            machine: None,
            gpu: None,
            gpu_form: None,
            contiguous: Axis::I,
            turned: false,
            steps: false,
            trace: false,
        }
    }
}

impl PassOptions {
    /// The options that decide the levels of some passes: of the first ones, as far as those of OIR.
    #[must_use]
    pub fn for_passes(&self, is_one: impl Fn(&str) -> bool) -> Self {
        Self {
            skip: self.skip.iter().filter(|it| is_one(it)).cloned().collect(),
            stop_after: self.stop_after.clone().filter(|it| is_one(it)),
            limit: self.limit.clone().filter(|it| is_one(&it.pass)),
            trace: self.trace,
            ..Self::default()
        }
    }

    /// How many changes `pass` may make; `None` where nobody counts.
    #[must_use]
    pub fn limit_of(&self, pass: &str) -> Option<usize> {
        self.limit.as_ref().filter(|it| it.pass == pass).map(|it| it.decisions)
    }
}
