//! The levels and generated texts that can be shown.

use std::fmt;

/// A level, or a text generated from one; in the order of the journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    Definition,
    Gtir,
    Oir,
    Npir,
    Tree,
    Schedule,
    Sdfg,
    Loops,
    /// Plain Python with all loops, generated from the OIR as lowered.
    Python,
    /// NumPy source, generated from NPIR.
    Numpy,
    /// C with OpenMP, generated from the SDFG.
    C,
}

impl Stage {
    pub const ALL: [Stage; 11] = [
        Stage::Definition,
        Stage::Gtir,
        Stage::Oir,
        Stage::Npir,
        Stage::Tree,
        Stage::Schedule,
        Stage::Sdfg,
        Stage::Loops,
        Stage::Python,
        Stage::Numpy,
        Stage::C,
    ];

    /// As the command line, the API and the page spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::Definition => "definition",
            Stage::Gtir => "gtir",
            Stage::Oir => "oir",
            Stage::Npir => "npir",
            Stage::Tree => "tree",
            Stage::Schedule => "schedule",
            Stage::Sdfg => "sdfg",
            Stage::Loops => "loops",
            Stage::Python => "python",
            Stage::Numpy => "numpy",
            Stage::C => "c",
        }
    }

    /// The stage of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
