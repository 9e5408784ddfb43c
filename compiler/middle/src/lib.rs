//! All scheduling choices: the schedule tree before and after its passes, and the SDFG.

use isobar_front::oir;
use isobar_ground::{diag, entity, expr, pass, space, types};

pub mod tree;
pub mod schedule;
pub mod sdfg;

// Trees for the tests of this crate and of the code generators.
pub mod samples;
