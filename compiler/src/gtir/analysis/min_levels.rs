//! The fewest levels for which no interval is empty or reversed.

use super::super::nodes::Stencil;
use crate::space;

/// Fewer levels than this are refused at a call; 0 where any number will do.
#[must_use]
pub fn min_levels(stencil: &Stencil) -> i64 {
    space::min_levels(stencil.vertical_loops.iter().map(|it| it.interval))
}
