//! NPIR as NumPy source: a module that gives the interpreter's bits under Python.

mod expression;
mod helpers;
mod locals;
mod print;

use crate::diag::Listing;
use crate::npir::nodes::Stencil;

/// The text; its lines know their statements.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    print::listing(stencil)
}
