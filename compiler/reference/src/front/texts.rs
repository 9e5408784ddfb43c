//! The texts of the levels up to the OIR, and of the back ends that start from it. Each is made when it is
//! first asked for.

use std::sync::OnceLock;

use super::{Front, Stage};
use crate::diag::Listing;
use crate::oir::analysis::caches::caches;
use crate::oir::analysis::extents::extents;
use crate::{debug, numpy};
use crate::{defir, gtir, npir, oir};

/// How the text of a stage is made of a front.
#[derive(Clone, Copy, Debug)]
pub struct FrontListing {
    pub stage: Stage,
    /// Returns `None` where the level that the text is made from was not reached.
    pub make: fn(&Front) -> Option<Listing>,
}

/// The stages that a front has, in the order of all stages.
pub const TEXTS: [FrontListing; 6] = [
    FrontListing {
        stage: Stage::DEFINITION,
        make: |it| Some(defir::print::listing(it.definition.as_ref()?)),
    },
    FrontListing { stage: Stage::GTIR, make: |it| Some(gtir::print::listing(it.gtir.as_ref()?)) },
    FrontListing { stage: Stage::OIR, make: oir_with_facts },
    FrontListing { stage: Stage::NPIR, make: |it| Some(npir::print::listing(it.npir()?)) },
    FrontListing {
        stage: Stage::PYTHON,
        make: |it| {
            let (oir, extents) = it.reference()?;
            Some(debug::source::listing(oir, extents))
        },
    },
    FrontListing { stage: Stage::NUMPY, make: |it| Some(numpy::source::listing(it.npir()?)) },
];

/// The OIR after its passes, with their facts; or as it was lowered, where there was an error.
fn oir_with_facts(front: &Front) -> Option<Listing> {
    Some(match &front.optimized {
        Some(it) => oir::print::listing_with_facts(it, &extents(it), &caches(it)),
        None => oir::print::listing_with_extents(front.oir.as_ref()?, front.extents.as_ref()?),
    })
}

impl Front {
    /// The text of a stage; `None` where its level was not reached, or is behind the OIR.
    #[must_use]
    pub fn listing(&self, stage: Stage) -> Option<&Listing> {
        self.texts.kept(stage, || listing(self, stage))
    }
}

/// The text of a stage, made now.
#[must_use]
pub fn listing(front: &Front, stage: Stage) -> Option<Listing> {
    let row = TEXTS.iter().find(|it| it.stage == stage)?;
    (row.make)(front)
}

/// Texts by their stages. The list only grows, so that references to its texts stay valid.
#[derive(Clone, Debug, Default)]
pub struct KeptTexts(OnceLock<Box<(Stage, Listing, KeptTexts)>>);

impl KeptTexts {
    /// The text of a stage, which `make` makes when it is first asked for.
    ///
    /// Making a text takes as long as making the level, and most compilations need no text.
    pub fn kept(&self, stage: Stage, make: impl FnOnce() -> Option<Listing>) -> Option<&Listing> {
        match self.find(stage) {
            Some(known) => Some(known),
            None => Some(self.keep(stage, make()?)),
        }
    }

    fn find(&self, stage: Stage) -> Option<&Listing> {
        let mut at = self;
        while let Some((of, listing, next)) = at.0.get().map(AsRef::as_ref) {
            if *of == stage {
                return Some(listing);
            }
            at = next;
        }
        None
    }

    /// Appends a text. A text that was added meanwhile for the same stage stays.
    fn keep(&self, stage: Stage, listing: Listing) -> &Listing {
        let mut new = Some(listing);
        let mut at = self;
        loop {
            let entry = |listing| Box::new((stage, listing, KeptTexts::default()));
            let (of, listing, next) = &**at.0.get_or_init(|| entry(new.take().unwrap_or_default()));
            if *of == stage {
                return listing;
            }
            at = next;
        }
    }
}
