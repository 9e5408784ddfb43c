//! The registry: one row for each stage with how its text is made, and one for each back end.
//!
//! Code that lists, names or chooses stages and back ends reads these rows; nothing matches on them. The rows
//! here are those of the compiler itself. A program that runs back ends has its own table, with the code that
//! runs each of them. Its table may have further back ends.

use super::{Compilation, Stage};
use crate::diag::Listing;
use crate::front::texts;
use crate::{kernel, loops, schedule, sdfg, tree, wgsl};

/// How the text of a stage is made.
#[derive(Clone, Copy, Debug)]
pub struct StageListing {
    pub stage: Stage,
    /// Called when the text is asked for. Returns `None` where the level that the text is made from was not
    /// reached.
    pub make: fn(&Compilation) -> Option<Listing>,
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
    // A stencil is none: `pipeline/group` makes the levels of a program.
    StageListing { stage: Stage::PROGRAM, make: |_| None },
    StageListing { stage: Stage::DEFINITION, make: |it| texts::listing(&it.front, Stage::DEFINITION) },
    StageListing { stage: Stage::GTIR, make: |it| texts::listing(&it.front, Stage::GTIR) },
    StageListing { stage: Stage::OIR, make: |it| texts::listing(&it.front, Stage::OIR) },
    StageListing { stage: Stage::NPIR, make: |it| texts::listing(&it.front, Stage::NPIR) },
    StageListing { stage: Stage::TREE, make: |it| Some(tree::print::listing(it.levels.tree.as_ref()?)) },
    StageListing {
        stage: Stage::SCHEDULE,
        make: |it| Some(schedule::print::listing(it.levels.schedule.as_ref()?)),
    },
    StageListing { stage: Stage::SDFG, make: |it| Some(sdfg::print::listing(it.levels.sdfg.as_ref()?)) },
    StageListing { stage: Stage::LOOPS, make: |it| Some(loops::print::listing(it.levels.loops.as_ref()?)) },
    StageListing { stage: Stage::KERNELS, make: |it| Some(kernel::print::listing(it.kernels()?)) },
];

/// The interpreter that defines the meaning.
pub const DEBUG: Backend = Backend {
    name: "debug",
    device: "cpu",
    from: Stage::OIR,
    texts: &[StageListing { stage: Stage::PYTHON, make: |it| texts::listing(&it.front, Stage::PYTHON) }],
};

/// Operations on whole arrays.
pub const NUMPY: Backend = Backend {
    name: "numpy",
    device: "cpu",
    from: Stage::NPIR,
    texts: &[StageListing { stage: Stage::NUMPY, make: |it| texts::listing(&it.front, Stage::NUMPY) }],
};

/// Machine code made in process. Its text exists only for the arrays of a call, and is made with the code.
pub const RAYON: Backend = Backend { name: "rayon", device: "cpu", from: Stage::LOOPS, texts: &[] };

/// C with OpenMP.
pub const OPENMP: Backend = Backend {
    name: "openmp",
    device: "cpu",
    from: Stage::LOOPS,
    texts: &[StageListing { stage: Stage::C, make: |it| it.c().map(|it| it.listing.clone()) }],
};

/// CUDA C++, for GPUs of NVIDIA.
pub const CUDA: Backend = Backend {
    name: "cuda",
    device: "gpu",
    from: Stage::KERNELS,
    texts: &[StageListing { stage: Stage::CUDA, make: |it| it.cuda().map(|it| it.listing.clone()) }],
};

/// WGSL, for GPUs through wgpu. Runs choose a text for their device; this text is for devices that have
/// doubles.
pub const WGPU: Backend = Backend {
    name: "wgpu",
    device: "gpu",
    from: Stage::KERNELS,
    texts: &[StageListing {
        stage: Stage::WGSL,
        make: |it| Some(wgsl::generate(it.kernels()?, &wgsl::WgslOptions::default()).listing),
    }],
};

/// The compiler's own back ends.
pub const BACKENDS: &[Backend] = &[DEBUG, NUMPY, RAYON, OPENMP, CUDA, WGPU];

/// All texts of the levels and of the compiler's own back ends.
pub fn texts() -> impl Iterator<Item = &'static StageListing> {
    LEVELS.iter().chain(BACKENDS.iter().flat_map(|it| it.texts))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::config::Config;
    use crate::front::stage::{StageInfo, StageOrigin};
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
    fn the_list_of_stages_is_that_of_the_rows() {
        assert_eq!(Stage::ALL.to_vec(), texts().map(|it| it.stage).collect::<Vec<_>>());
    }

    #[test]
    fn every_stage_is_made_from_one_before_it() {
        for (at, stage) in Stage::ALL.into_iter().enumerate() {
            match stage.from() {
                StageOrigin::Text => assert!([Stage::PROGRAM, Stage::DEFINITION].contains(&stage), "{stage}"),
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
        assert_eq!(compilation.listings().count(), Stage::OF_STENCIL.len());
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
