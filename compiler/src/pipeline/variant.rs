//! The key of a plan: the wanted program of a stencil, and the calls and the machine that it is for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::pass::{CodeGenerator, MachineModel, PassOptions};

/// The level that a back end runs, or generates code from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ProgramKind {
    /// The OIR as it was lowered, which defines the meaning.
    Reference,
    /// Operations on whole arrays.
    Arrays,
    /// Loops for a processor.
    Loops(CodeGenerator),
    /// Kernels for a GPU.
    Kernels,
}

/// The axis along which neighbours lie side by side in the arrays of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ArrayOrder {
    /// Along I: the axes are those of the text.
    #[default]
    AlongI,
    /// Along K: the axes I and K are exchanged, in the program and in its signature.
    AlongK,
}

/// Identifies one compiled form of a stencil. It holds all that decides the form, except the text and the
/// configuration of its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Variant {
    pub program: ProgramKind,
    pub order: ArrayOrder,
    /// Pairs of parameters, by position, that are one array. It is passed as the first parameter of each
    /// pair.
    pub aliases: Vec<[usize; 2]>,
    /// The file of the project with the schedule. A schedule applies to the stencil as it is written:
    /// variants with aliases or in another order have none.
    pub schedule: Option<String>,
    /// Passes that do not run, by name.
    pub skip: BTreeSet<String>,
    pub machine: Option<MachineModel>,
}

impl Variant {
    /// The stencil as it is written, under the options of its compilation.
    #[must_use]
    pub fn of(options: &PassOptions, program: ProgramKind) -> Self {
        Self {
            program,
            order: ArrayOrder::default(),
            aliases: Vec::new(),
            schedule: options.schedule.clone(),
            skip: options.skip.clone(),
            machine: options.machine.clone(),
        }
    }

    /// The same for arrays whose neighbours along K lie side by side.
    #[must_use]
    pub fn along_k(&self) -> Self {
        Self { order: ArrayOrder::AlongK, schedule: None, ..self.clone() }
    }

    /// The same for calls in which these pairs of parameters are one array.
    #[must_use]
    pub fn with_aliases(&self, aliases: &[[usize; 2]]) -> Self {
        Self { aliases: aliases.to_vec(), schedule: None, ..self.clone() }
    }
}
