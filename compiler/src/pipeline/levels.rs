//! The levels of one stencil, as far as they were reached.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::{Stage, behind};
use crate::diag::Listing;
use crate::inputs::KeepDirective;
use crate::kernel::Kernels;
use crate::oir::analysis::extents::{Extents, extents};
use crate::pass::{CodeGenerator, Device, PassOptions};
use crate::{c, cuda};
use crate::{defir, gtir, loops, npir, oir, schedule, sdfg, tree};

/// All levels that were reached. A level is missing where an error prevented it.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    pub definition: Option<defir::nodes::Stencil>,
    pub gtir: Option<gtir::nodes::Stencil>,
    /// The OIR as it was lowered, before any pass. The reference interpreter runs it.
    pub oir: Option<oir::nodes::Stencil>,
    /// The extents of [`oir`](Self::oir).
    pub extents: Option<Extents>,
    /// The OIR after all passes.
    pub optimized: Option<oir::nodes::Stencil>,
    /// Made when it is first asked for, since only one back end and users who look at it need it.
    npir: OnceLock<npir::Stencil>,
    pub tree: Option<tree::Tree>,
    /// After all passes.
    pub schedule: Option<schedule::Tree>,
    /// As far as its passes ran.
    pub sdfg: Option<sdfg::nodes::Sdfg>,
    /// As far as its passes ran.
    pub loops: Option<loops::Program>,
    /// Whether all passes ran. No code is made before.
    pub is_whole: bool,
    /// The options of the levels behind the OIR, with their machine and the passes left out.
    pub passes: PassOptions,
    /// The lines `# @keep` of the text, which keep choices as they are.
    pub keeps: Vec<KeepDirective>,
    /// Made when it is first asked for.
    c: OnceLock<c::CArtifact>,
    /// Made when they are first asked for. In a compilation for a CPU, they are compiled separately from the
    /// OIR on.
    kernels: OnceLock<Option<Kernels>>,
    /// Made when it is first asked for.
    cuda: OnceLock<cuda::CudaArtifact>,
    texts: Texts,
}

impl Levels {
    /// A copy up to the passes of OIR.
    #[must_use]
    pub fn up_to_oir(&self) -> Self {
        Self {
            definition: self.definition.clone(),
            gtir: self.gtir.clone(),
            oir: self.oir.clone(),
            extents: self.extents.clone(),
            optimized: self.optimized.clone(),
            passes: self.passes.clone(),
            ..Self::default()
        }
    }

    /// The stencil as operations on whole arrays, after the passes of OIR; `None` where these were not
    /// reached.
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

    /// Kernels for a GPU, whichever device the levels are made for; `None` where not all passes ran.
    #[must_use]
    pub fn kernels(&self) -> Option<&Kernels> {
        self.kernels.get_or_init(|| (behind::found()?.kernels)(self)).as_ref()
    }

    /// CUDA C++ of the kernels; `None` where there are none.
    #[must_use]
    pub fn cuda(&self) -> Option<&cuda::CudaArtifact> {
        let kernels = self.kernels()?;
        let behind = behind::found()?;
        Some(self.cuda.get_or_init(|| (behind.cuda)(kernels)))
    }

    /// C for the machine of the compilation; `None` where not all passes ran, or for a GPU.
    #[must_use]
    pub fn c(&self) -> Option<&c::CArtifact> {
        let program = self.program_of_c()?;
        let behind = behind::found()?;
        Some(self.c.get_or_init(|| (behind.c)(program, &c::COptions::default())))
    }

    /// The same C for calls with one thread; made at each call.
    #[must_use]
    pub fn c_of_one_thread(&self) -> Option<c::CArtifact> {
        let options = c::COptions { has_threads: false, ..c::COptions::default() };
        Some((behind::found()?.c)(self.program_of_c()?, &options))
    }

    fn program_of_c(&self) -> Option<&loops::Program> {
        let is_for_c = self.passes.device == Device::Cpu && self.passes.code == CodeGenerator::C;
        self.loops.as_ref().filter(|_| self.is_whole && is_for_c)
    }

    /// The program of loops for such code; `None` where not all passes ran, or for a GPU.
    #[must_use]
    pub fn loops_for(&self, code: CodeGenerator) -> Option<Cow<'_, loops::Program>> {
        if self.passes.code == code && self.passes.device == Device::Cpu {
            return self.loops.as_ref().filter(|_| self.is_whole).map(Cow::Borrowed);
        }
        (behind::found()?.loops_for)(self, code).map(Cow::Owned)
    }

    /// The text of a stage, which `make` makes when it is first asked for; `None` where its level was not
    /// reached.
    ///
    /// Making a text takes as long as making the level, and most compilations need no text.
    #[must_use]
    pub fn text(&self, stage: Stage, make: fn(&Self) -> Option<Listing>) -> Option<&Listing> {
        match self.texts.find(stage) {
            Some(known) => Some(known),
            None => Some(self.texts.keep(stage, make(self)?)),
        }
    }
}

/// Texts by their stages. The list only grows, so that references to its texts stay valid.
#[derive(Clone, Debug, Default)]
struct Texts(OnceLock<Box<(Stage, Listing, Texts)>>);

impl Texts {
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
            let entry = |listing| Box::new((stage, listing, Texts::default()));
            let (of, listing, next) = &**at.0.get_or_init(|| entry(new.take().unwrap_or_default()));
            if *of == stage {
                return listing;
            }
            at = next;
        }
    }
}
