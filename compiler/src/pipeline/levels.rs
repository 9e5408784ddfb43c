//! The levels of one stencil, as far as they were reached.

use std::sync::OnceLock;

use super::Stage;
use crate::backend::{c, debug, numpy};
use crate::diag::Listing;
use crate::oir::analysis::caches::caches;
use crate::oir::analysis::extents::{Extents, extents};
use crate::{defir, gtir, loops, npir, oir, schedule, sdfg, tree};

/// Every level that was reached; a level is missing where an error stood in the way.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    pub definition: Option<defir::nodes::Stencil>,
    pub gtir: Option<gtir::nodes::Stencil>,
    /// As lowered, before any pass: what the reference interpreter runs.
    pub oir: Option<oir::nodes::Stencil>,
    /// Of [`oir`](Self::oir).
    pub extents: Option<Extents>,
    /// After all passes.
    pub optimized: Option<oir::nodes::Stencil>,
    /// From when it was first asked for: only one back end and those who look at it need it.
    npir: OnceLock<npir::Stencil>,
    pub tree: Option<tree::Tree>,
    /// After all passes.
    pub schedule: Option<schedule::Tree>,
    /// As far as its passes ran.
    pub sdfg: Option<sdfg::nodes::Sdfg>,
    /// For C, as far as its passes ran.
    pub loops: Option<loops::Program>,
    /// Whether all passes ran: no code is made of a program before.
    pub is_whole: bool,
    /// From when it was first asked for.
    c: OnceLock<c::Artifact>,
    /// The text of each, from when it was first asked for.
    listings: [OnceLock<Listing>; Stage::ALL.len()],
}

impl Levels {
    /// The same as far as the passes of OIR.
    #[must_use]
    pub fn up_to_oir(&self) -> Self {
        Self {
            definition: self.definition.clone(),
            gtir: self.gtir.clone(),
            oir: self.oir.clone(),
            extents: self.extents.clone(),
            optimized: self.optimized.clone(),
            ..Self::default()
        }
    }

    /// The stencil as operations on whole arrays, after the passes of OIR; `None` where these were not reached.
    #[must_use]
    pub fn npir(&self) -> Option<&npir::Stencil> {
        if let Some(known) = self.npir.get() {
            return Some(known);
        }
        let optimized = self.optimized.as_ref()?;
        let lowered = npir::from_oir::lower(optimized, &extents(optimized));
        super::route::check("npir", || npir::validate::validate(&lowered), || npir::print::listing(&lowered));
        Some(self.npir.get_or_init(|| lowered))
    }

    /// C for the machine of the compilation; `None` where not all passes ran.
    #[must_use]
    pub fn c(&self) -> Option<&c::Artifact> {
        let program = self.loops.as_ref().filter(|_| self.is_whole)?;
        Some(self.c.get_or_init(|| c::generate(program, &c::COptions::default())))
    }

    /// A level as text, after its passes; `None` where it was not reached.
    ///
    /// The text is made when it is first asked for: it takes as long as making the level does, and of most
    /// compilations none is read.
    #[must_use]
    pub fn listing(&self, stage: Stage) -> Option<&Listing> {
        let kept = &self.listings[stage as usize];
        if let Some(known) = kept.get() {
            return Some(known);
        }
        let made = match stage {
            Stage::Definition => defir::print::listing(self.definition.as_ref()?),
            Stage::Gtir => gtir::print::listing(self.gtir.as_ref()?),
            Stage::Oir => match &self.optimized {
                Some(optimized) => {
                    oir::print::listing_with_facts(optimized, &extents(optimized), &caches(optimized))
                }
                None => oir::print::listing_with_extents(self.oir.as_ref()?, self.extents.as_ref()?),
            },
            Stage::Npir => npir::print::listing(self.npir()?),
            Stage::Tree => tree::print::listing(self.tree.as_ref()?),
            Stage::Schedule => schedule::print::listing(self.schedule.as_ref()?),
            Stage::Sdfg => sdfg::print::listing(self.sdfg.as_ref()?),
            Stage::Loops => loops::print::listing(self.loops.as_ref()?),
            Stage::Python => debug::source::listing(self.oir.as_ref()?, self.extents.as_ref()?),
            Stage::Numpy => numpy::source::listing(self.npir()?),
            Stage::C => return self.c().map(|it| &it.listing),
        };
        Some(kept.get_or_init(|| made))
    }
}
