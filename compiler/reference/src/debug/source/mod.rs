//! OIR as plain Python: the loops of the interpreter written out, with the same bits.
//!
//! The text needs nothing but Python: fields may be arrays or lists of lists.

mod expression;
mod helpers;
mod print;

use crate::diag::Listing;
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes::Stencil;

/// The text; its lines know their statements. `extents` are those of `stencil`.
#[must_use]
pub fn listing(stencil: &Stencil, extents: &Extents) -> Listing {
    print::listing(stencil, extents)
}
