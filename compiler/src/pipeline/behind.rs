//! What lies behind the OIR, behind one door.
//!
//! A program that travels in two parts has it in its second one: the first part reads a text, compiles it up to the
//! OIR, runs it and shows these levels, and asks here whether the second has come. With the feature `in-two-parts`, whoever
//! has loaded it calls [`open`]; without, it is there from the start.

use super::registry::Text;
use super::route::{self, Trip};
use super::{Levels, Stage};
use crate::backend::kernel::{self, Kernels};
use crate::backend::{c, cuda, wgsl};
use crate::config::Config;
use crate::diag::Listing;
use crate::pass::Code;
use crate::project::Project;
use crate::{loops, schedule, sdfg, tree};

/// Entries to all that is behind the OIR: nothing else of the first part leads there.
pub(super) struct Behind {
    pub(super) levels: fn(&mut Trip<'_>, &Project, &Config) -> Option<()>,
    pub(super) loops_for: fn(&Levels, Code) -> Option<loops::Program>,
    pub(super) kernels: fn(&Levels) -> Option<Kernels>,
    pub(super) c: fn(&loops::Program, &c::COptions) -> c::Artifact,
    pub(super) cuda: fn(&Kernels) -> cuda::Artifact,
    texts: &'static [Text],
}

static BEHIND: Behind = Behind {
    levels: |it, project, config| it.levels_behind_oir(project, config),
    loops_for: route::loops_for,
    kernels: route::kernels,
    c: c::generate,
    cuda: cuda::generate,
    texts: &[
        Text { stage: Stage::TREE, make: |it| Some(tree::print::listing(it.tree.as_ref()?)) },
        Text { stage: Stage::SCHEDULE, make: |it| Some(schedule::print::listing(it.schedule.as_ref()?)) },
        Text { stage: Stage::SDFG, make: |it| Some(sdfg::print::listing(it.sdfg.as_ref()?)) },
        Text { stage: Stage::LOOPS, make: |it| Some(loops::print::listing(it.loops.as_ref()?)) },
        Text { stage: Stage::KERNELS, make: |it| Some(kernel::print::listing(it.kernels()?)) },
        Text { stage: Stage::C, make: |it| it.c().map(|it| it.listing.clone()) },
        Text { stage: Stage::CUDA, make: |it| it.cuda().map(|it| it.listing.clone()) },
        Text {
            stage: Stage::WGSL,
            make: |it| Some(wgsl::generate(it.kernels()?, &wgsl::WgslOptions::default()).listing),
        },
    ],
};

#[cfg(feature = "in-two-parts")]
mod door {
    use super::{BEHIND, Behind};
    use std::sync::OnceLock;

    static HERE: OnceLock<&'static Behind> = OnceLock::new();

    pub(super) fn found() -> Option<&'static Behind> {
        HERE.get().copied()
    }

    /// Tells that the second part has come; only what is in that part may call this.
    pub fn open() {
        HERE.get_or_init(|| &BEHIND);
    }
}

#[cfg(not(feature = "in-two-parts"))]
mod door {
    use super::{BEHIND, Behind};

    #[expect(clippy::unnecessary_wraps, reason = "a program in two parts has none at first")]
    pub(super) fn found() -> Option<&'static Behind> {
        Some(&BEHIND)
    }

    /// Nothing: it is open.
    pub fn open() {}
}

pub use door::open;

/// What is behind the OIR, where it has come.
pub(super) fn found() -> Option<&'static Behind> {
    door::found()
}

/// Whether it has come.
#[must_use]
pub fn is_open() -> bool {
    found().is_some()
}

/// The text of a stage behind the OIR.
pub(super) fn text(levels: &Levels, stage: Stage) -> Option<Listing> {
    let row = found()?.texts.iter().find(|it| it.stage == stage)?;
    (row.make)(levels)
}
