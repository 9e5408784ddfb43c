//! The levels of one stencil, as far as they were reached.

use crate::backend::c::Artifact;
use crate::oir::analysis::extents::Extents;
use crate::{defir, gtir, oir, schedule, sdfg, tree};

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
    pub tree: Option<tree::Tree>,
    /// After all passes.
    pub schedule: Option<schedule::Tree>,
    pub sdfg: Option<sdfg::nodes::Sdfg>,
    pub artifact: Option<Artifact>,
}
