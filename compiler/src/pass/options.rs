//! What is chosen about the passes of a compilation.

use std::collections::BTreeSet;

use super::machine::MachineModel;
use crate::space::Axis;

/// Which passes run, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// Passes that do not run, by name: `oir/merge-horizontal-executions`.
    pub skip: BTreeSet<String>,
    /// The last pass; the compilation ends with it.
    pub stop_after: Option<String>,
    /// How many changes a pass may make, where a fault is narrowed down.
    pub limit: Option<Limit>,
    /// The file of the project that says how loops are to run, instead of the passes.
    pub schedule: Option<String>,
    /// What the schedule is made for.
    pub device: Device,
    /// The machine that it is made for, where it is known.
    pub machine: Option<MachineModel>,
    /// Along which axis neighbours lie side by side in memory.
    pub contiguous: Axis,
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

/// At most so many decisions of one pass are carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
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
            machine: None,
            contiguous: Axis::I,
            steps: false,
            trace: false,
        }
    }
}

impl PassOptions {
    /// What of these decides the levels that some passes make: the first ones, as far as that of OIR.
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
