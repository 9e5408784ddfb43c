//! A program as text.

use super::nodes::Program;
use crate::diag::{Listing, ListingWriter};

/// The whole program.
#[must_use]
pub fn listing(program: &Program) -> Listing {
    let mut writer = ListingWriter::new();
    writer.line(format_args!("program {}", program.name));
    writer.finish()
}
