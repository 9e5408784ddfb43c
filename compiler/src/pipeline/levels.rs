//! The levels behind the OIR, as far as they were reached.

use crate::pass::PassOptions;
use crate::{loops, schedule, sdfg, tree};

/// All levels behind the OIR that were reached. A level is missing where an error prevented it.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    pub tree: Option<tree::Tree>,
    /// After all passes.
    pub schedule: Option<schedule::Tree>,
    /// As far as its passes ran.
    pub sdfg: Option<sdfg::nodes::Sdfg>,
    /// As far as its passes ran.
    pub loops: Option<loops::Program>,
    /// Whether all passes ran. No code is made before.
    pub is_whole: bool,
    /// The options of these levels, with their machine and the passes left out.
    pub options: PassOptions,
}
