//! The entry points to the levels behind the OIR, in one table.
//!
//! A program may be loaded in two parts. The first part reads a text, compiles it up to the OIR, runs the OIR
//! and shows these levels. The levels behind the OIR are in the second part, and the first part asks here
//! whether it is loaded. With the feature `in-two-parts`, the loader of the second part calls [`open`].
//! Without the feature, the table is there from the start.

use super::registry::StageListing;
use super::route::{self, Trip};
use super::{Levels, Stage};
use crate::config::Config;
use crate::diag::Listing;
use crate::kernel::{self, Kernels};
use crate::pass::CodeGenerator;
use crate::project::Project;
use crate::{c, cuda, wgsl};
use crate::{loops, schedule, sdfg, tree};

/// Entry points to all code behind the OIR. The first part has no other reference to it.
pub(super) struct LaterStages {
    pub(super) levels: fn(&mut Trip<'_>, &Project, &Config) -> Option<()>,
    pub(super) loops_for: fn(&Levels, CodeGenerator) -> Option<loops::Program>,
    pub(super) kernels: fn(&Levels) -> Option<Kernels>,
    pub(super) c: fn(&loops::Program, &c::COptions) -> c::CArtifact,
    pub(super) cuda: fn(&Kernels) -> cuda::CudaArtifact,
    texts: &'static [StageListing],
}

static BEHIND: LaterStages = LaterStages {
    levels: |it, project, config| it.levels_behind_oir(project, config),
    loops_for: route::loops_for,
    kernels: route::kernels,
    c: c::generate,
    cuda: cuda::generate,
    texts: &[
        StageListing { stage: Stage::TREE, make: |it| Some(tree::print::listing(it.tree.as_ref()?)) },
        StageListing {
            stage: Stage::SCHEDULE,
            make: |it| Some(schedule::print::listing(it.schedule.as_ref()?)),
        },
        StageListing { stage: Stage::SDFG, make: |it| Some(sdfg::print::listing(it.sdfg.as_ref()?)) },
        StageListing { stage: Stage::LOOPS, make: |it| Some(loops::print::listing(it.loops.as_ref()?)) },
        StageListing { stage: Stage::KERNELS, make: |it| Some(kernel::print::listing(it.kernels()?)) },
        StageListing { stage: Stage::C, make: |it| it.c().map(|it| it.listing.clone()) },
        StageListing { stage: Stage::CUDA, make: |it| it.cuda().map(|it| it.listing.clone()) },
        StageListing {
            stage: Stage::WGSL,
            make: |it| Some(wgsl::generate(it.kernels()?, &wgsl::WgslOptions::default()).listing),
        },
    ],
};

#[cfg(feature = "in-two-parts")]
mod door {
    use super::{BEHIND, LaterStages};
    use std::sync::OnceLock;

    static HERE: OnceLock<&'static LaterStages> = OnceLock::new();

    pub(super) fn found() -> Option<&'static LaterStages> {
        HERE.get().copied()
    }

    /// Reports that the second part is loaded. Only code of that part may call this.
    pub fn open() {
        HERE.get_or_init(|| &BEHIND);
    }
}

#[cfg(not(feature = "in-two-parts"))]
mod door {
    use super::{BEHIND, LaterStages};

    #[expect(clippy::unnecessary_wraps, reason = "a program in two parts has none at first")]
    pub(super) fn found() -> Option<&'static LaterStages> {
        Some(&BEHIND)
    }

    /// Does nothing: the second part is always there.
    pub fn open() {}
}

pub use door::open;

/// The entry points behind the OIR; `None` until the second part is loaded.
pub(super) fn found() -> Option<&'static LaterStages> {
    door::found()
}

/// Whether the second part is loaded.
#[must_use]
pub fn is_open() -> bool {
    found().is_some()
}

/// The text of a stage behind the OIR.
pub(super) fn text(levels: &Levels, stage: Stage) -> Option<Listing> {
    let row = found()?.texts.iter().find(|it| it.stage == stage)?;
    (row.make)(levels)
}
