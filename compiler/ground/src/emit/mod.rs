//! Common parts of all code generators: formulas, sums of indices, and pasted text in listings.

pub mod formula;
pub mod sums;

use crate::diag::ListingWriter;

/// Writes a text that is the same in every artifact, line by line.
pub fn paste(writer: &mut ListingWriter, text: &str) {
    for line in text.lines() {
        writer.line(line);
    }
}
