//! The registry: one row for each stage with how its text is made, and one for each back end.
//!
//! Code that lists, names or chooses stages and back ends reads these rows; nothing matches on them. The rows
//! here are those of the compiler itself. A program that runs back ends has its own table, with the code that
//! runs each of them. Its table may have further back ends.

use super::{Levels, Stage, behind};
use crate::diag::Listing;
use crate::oir::analysis::caches::caches;
use crate::oir::analysis::extents::extents;
use crate::{debug, numpy};
use crate::{defir, gtir, npir, oir};

/// How the text of a stage is made.
#[derive(Clone, Copy, Debug)]
pub struct StageListing {
    pub stage: Stage,
    /// Called when the text is asked for. Returns `None` where the level that the text is made from was not
    /// reached.
    pub make: fn(&Levels) -> Option<Listing>,
}

/// A back end, with the facts that are known without running it.
#[derive(Debug)]
pub struct Backend {
    pub name: &'static str,
    /// The device that it runs on, as the API spells it.
    pub device: &'static str,
    /// The level that it starts from.
    pub from: Stage,
    /// The texts that it adds to the stages.
    pub texts: &'static [StageListing],
}

/// The levels, in the order of compilation.
pub const LEVELS: &[StageListing] = &[
    StageListing {
        stage: Stage::DEFINITION,
        make: |it| Some(defir::print::listing(it.definition.as_ref()?)),
    },
    StageListing { stage: Stage::GTIR, make: |it| Some(gtir::print::listing(it.gtir.as_ref()?)) },
    StageListing { stage: Stage::OIR, make: oir_with_facts },
    StageListing { stage: Stage::NPIR, make: |it| Some(npir::print::listing(it.npir()?)) },
    StageListing { stage: Stage::TREE, make: |it| behind::text(it, Stage::TREE) },
    StageListing { stage: Stage::SCHEDULE, make: |it| behind::text(it, Stage::SCHEDULE) },
    StageListing { stage: Stage::SDFG, make: |it| behind::text(it, Stage::SDFG) },
    StageListing { stage: Stage::LOOPS, make: |it| behind::text(it, Stage::LOOPS) },
    StageListing { stage: Stage::KERNELS, make: |it| behind::text(it, Stage::KERNELS) },
];

/// The interpreter that defines the meaning.
pub const DEBUG: Backend = Backend {
    name: "debug",
    device: "cpu",
    from: Stage::OIR,
    texts: &[StageListing {
        stage: Stage::PYTHON,
        make: |it| Some(debug::source::listing(it.oir.as_ref()?, it.extents.as_ref()?)),
    }],
};

/// Operations on whole arrays.
pub const NUMPY: Backend = Backend {
    name: "numpy",
    device: "cpu",
    from: Stage::NPIR,
    texts: &[StageListing { stage: Stage::NUMPY, make: |it| Some(numpy::source::listing(it.npir()?)) }],
};

/// Machine code made in process. Its text exists only for the arrays of a call, and is made with the code.
pub const RAYON: Backend = Backend { name: "rayon", device: "cpu", from: Stage::LOOPS, texts: &[] };

/// C with OpenMP.
pub const OPENMP: Backend = Backend {
    name: "openmp",
    device: "cpu",
    from: Stage::LOOPS,
    texts: &[StageListing { stage: Stage::C, make: |it| behind::text(it, Stage::C) }],
};

/// CUDA C++, for GPUs of NVIDIA.
pub const CUDA: Backend = Backend {
    name: "cuda",
    device: "gpu",
    from: Stage::KERNELS,
    texts: &[StageListing { stage: Stage::CUDA, make: |it| behind::text(it, Stage::CUDA) }],
};

/// WGSL, for GPUs through wgpu. Runs choose a text for their device; this text is for devices that have
/// doubles.
pub const WGPU: Backend = Backend {
    name: "wgpu",
    device: "gpu",
    from: Stage::KERNELS,
    texts: &[StageListing { stage: Stage::WGSL, make: |it| behind::text(it, Stage::WGSL) }],
};

/// The compiler's own back ends.
pub const BACKENDS: &[Backend] = &[DEBUG, NUMPY, RAYON, OPENMP, CUDA, WGPU];

/// All texts of the levels and of the compiler's own back ends.
pub fn texts() -> impl Iterator<Item = &'static StageListing> {
    LEVELS.iter().chain(BACKENDS.iter().flat_map(|it| it.texts))
}

impl Stage {
    /// The levels, in the order of compilation, then the texts of the compiler's own back ends.
    pub const ALL: [Stage; N_STAGES] = {
        let mut all = [Stage::DEFINITION; N_STAGES];
        let (mut n, mut at) = (0, 0);
        while at < LEVELS.len() {
            all[n] = LEVELS[at].stage;
            (n, at) = (n + 1, at + 1);
        }
        let mut of = 0;
        while of < BACKENDS.len() {
            at = 0;
            while at < BACKENDS[of].texts.len() {
                all[n] = BACKENDS[of].texts[at].stage;
                (n, at) = (n + 1, at + 1);
            }
            of += 1;
        }
        all
    };

    /// The stage of [`ALL`](Self::ALL) with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The number of stages.
const N_STAGES: usize = {
    let (mut n, mut at) = (LEVELS.len(), 0);
    while at < BACKENDS.len() {
        (n, at) = (n + BACKENDS[at].texts.len(), at + 1);
    }
    n
};

/// The OIR after its passes, with their facts; or as it was lowered, where there was an error.
fn oir_with_facts(levels: &Levels) -> Option<Listing> {
    Some(match &levels.optimized {
        Some(it) => oir::print::listing_with_facts(it, &extents(it), &caches(it)),
        None => oir::print::listing_with_extents(levels.oir.as_ref()?, levels.extents.as_ref()?),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::config::Config;
    use crate::pipeline::stage::{StageInfo, StageOrigin};
    use crate::pipeline::{NoHook, route};
    use crate::project::Project;

    #[test]
    fn no_two_stages_and_no_two_back_ends_have_one_name() {
        let names: BTreeSet<&str> = Stage::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), Stage::ALL.len());
        let names: BTreeSet<&str> = BACKENDS.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), BACKENDS.len());
    }

    #[test]
    fn every_stage_is_made_from_one_before_it() {
        for (at, stage) in Stage::ALL.into_iter().enumerate() {
            match stage.from() {
                StageOrigin::Text => assert_eq!(at, 0, "{stage}"),
                StageOrigin::Lowered(from) | StageOrigin::Passed(from) => {
                    assert!(Stage::ALL[..at].contains(&from), "{stage} from {from}");
                }
            }
        }
    }

    #[test]
    fn a_text_is_made_when_it_is_asked_for_and_once() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        const ROW: StageInfo = StageInfo {
            name: "own",
            title: "Own",
            about: "",
            from: StageOrigin::Passed(Stage::C),
            has_passes: false,
        };
        let own = StageListing {
            stage: Stage::of(&ROW),
            make: |_| {
                MADE.fetch_add(1, Ordering::Relaxed);
                Some(Listing { text: "own\n".to_owned(), ..Listing::default() })
            },
        };
        let project = Project::of_one(
            "main.py",
            "def s(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = 1.0\n",
        );
        let compilation = route::compile(&project, &Config::default(), &mut NoHook);
        assert_eq!(compilation.listings().count(), Stage::ALL.len());
        assert_eq!(MADE.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert_eq!(compilation.text(&own).unwrap().text, "own\n");
        }
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_levels_that_say_so_have_passes() {
        for stage in Stage::ALL {
            assert_eq!(stage.has_passes(), route::passes().any(|it| it.0 == stage), "{stage}");
        }
    }
}
