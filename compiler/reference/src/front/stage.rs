//! The levels and generated texts that can be shown, each as a row of data.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A level, or a text generated from one; two with the same name are the same.
///
/// The list is open: a program that makes another text of a level defines a [`StageInfo`] for it.
#[derive(Clone, Copy)]
pub struct Stage(&'static StageInfo);

/// The facts about a stage that are known before compilation.
#[derive(Debug)]
pub struct StageInfo {
    /// Its name in the command line, the API and the page.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// A short description, for people who see its name for the first time.
    pub about: &'static str,
    pub from: StageOrigin,
    /// Whether it is a level that passes change.
    pub has_passes: bool,
}

/// The origin of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageOrigin {
    /// The text of the stencil.
    Text,
    /// A level as it was lowered: its passes have no effect here.
    Lowered(Stage),
    /// A level after its passes.
    Passed(Stage),
}

const fn level(name: &'static str, title: &'static str, about: &'static str, from: StageOrigin) -> StageInfo {
    StageInfo { name, title, about, from, has_passes: false }
}

const fn with_passes(row: StageInfo) -> StageInfo {
    StageInfo { has_passes: true, ..row }
}

impl Stage {
    pub const PROGRAM: Stage = Stage(&level(
        "program",
        "Program",
        "the calls of several stencils in their order, which a class or a document has",
        StageOrigin::Text,
    ));
    pub const DEFINITION: Stage = Stage(&level(
        "definition",
        "Definition",
        "what was written: names resolved, functions inlined",
        StageOrigin::Text,
    ));
    pub const GTIR: Stage = Stage(&level(
        "gtir",
        "GTIR",
        "what it means: typed, not yet ordered",
        StageOrigin::Passed(Self::DEFINITION),
    ));
    pub const OIR: Stage =
        Stage(&with_passes(level("oir", "OIR", "when each statement runs", StageOrigin::Passed(Self::GTIR))));
    pub const NPIR: Stage = Stage(&level(
        "npir",
        "NPIR",
        "operations on whole arrays, conditions as masks",
        StageOrigin::Passed(Self::OIR),
    ));
    pub const TREE: Stage =
        Stage(&level("tree", "Tree", "loops and scopes made explicit", StageOrigin::Passed(Self::OIR)));
    pub const SCHEDULE: Stage = Stage(&with_passes(level(
        "schedule",
        "Schedule",
        "order, merging and placement chosen",
        StageOrigin::Passed(Self::TREE),
    )));
    pub const SDFG: Stage = Stage(&with_passes(level(
        "sdfg",
        "SDFG",
        "states, maps, tasklets and what moves between them",
        StageOrigin::Passed(Self::SCHEDULE),
    )));
    pub const LOOPS: Stage = Stage(&with_passes(level(
        "loops",
        "Loops",
        "loops and statements over elements, as all code generators read them",
        StageOrigin::Passed(Self::SDFG),
    )));
    pub const KERNELS: Stage = Stage(&level(
        "kernels",
        "Kernels",
        "what the blocks and threads of a GPU do, and what the host launches",
        StageOrigin::Passed(Self::LOOPS),
    ));
    pub const PYTHON: Stage = Stage(&level(
        "python",
        "Python",
        "the loops in plain Python, which runs",
        StageOrigin::Lowered(Self::OIR),
    ));
    pub const NUMPY: Stage = Stage(&level(
        "numpy",
        "NumPy",
        "operations on whole arrays in NumPy, which runs",
        StageOrigin::Passed(Self::NPIR),
    ));
    pub const C: Stage = Stage(&level("c", "C", "generated C with OpenMP", StageOrigin::Passed(Self::LOOPS)));
    pub const CUDA: Stage =
        Stage(&level("cuda", "CUDA", "generated CUDA C++", StageOrigin::Passed(Self::KERNELS)));

    pub const WGSL: Stage = Stage(&level(
        "wgsl",
        "WGSL",
        "generated WGSL, as WebGPU and wgpu take it",
        StageOrigin::Passed(Self::KERNELS),
    ));

    /// The stages that a single stencil has: all but the program.
    pub const OF_STENCIL: &'static [Stage] = match Self::ALL.split_first() {
        Some((_, behind_the_program)) => behind_the_program,
        None => &[],
    };

    /// The levels, in the order of compilation, then the texts of the compiler's own back ends.
    pub const ALL: [Stage; 15] = [
        Self::PROGRAM,
        Self::DEFINITION,
        Self::GTIR,
        Self::OIR,
        Self::NPIR,
        Self::TREE,
        Self::SCHEDULE,
        Self::SDFG,
        Self::LOOPS,
        Self::KERNELS,
        Self::PYTHON,
        Self::NUMPY,
        Self::C,
        Self::CUDA,
        Self::WGSL,
    ];

    /// The stage of [`ALL`](Self::ALL) with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The stage of a row.
    #[must_use]
    pub const fn of(row: &'static StageInfo) -> Self {
        Self(row)
    }

    /// Its name in the command line, the API and the page.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Its title for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// A short description, for people who see its name for the first time.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.0.about
    }

    /// The text or level that it is made from.
    #[must_use]
    pub const fn from(self) -> StageOrigin {
        self.0.from
    }

    /// Whether it is a level that passes change.
    #[must_use]
    pub const fn has_passes(self) -> bool {
        self.0.has_passes
    }

    /// Whether this stage shows the effect of the passes of a level: it is that level, or is made from it
    /// after them.
    #[must_use]
    pub fn shows_passes_of(self, level: Stage) -> bool {
        let mut at = self;
        loop {
            if at == level {
                return true;
            }
            match at.from() {
                StageOrigin::Passed(above) => at = above,
                StageOrigin::Lowered(_) | StageOrigin::Text => return false,
            }
        }
    }
}

impl PartialEq for Stage {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Stage {}

impl Hash for Stage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_shows_the_passes_on_its_way_and_no_others() {
        assert!(Stage::C.shows_passes_of(Stage::OIR));
        assert!(Stage::SDFG.shows_passes_of(Stage::SDFG));
        assert!(!Stage::NUMPY.shows_passes_of(Stage::SCHEDULE));
        assert!(!Stage::GTIR.shows_passes_of(Stage::OIR));
        assert!(!Stage::PYTHON.shows_passes_of(Stage::OIR), "it is made from the OIR as lowered");
    }
}
