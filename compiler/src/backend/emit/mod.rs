//! Common parts of code generators: names that no text can break out of, indices of elements, blocks in
//! braces, and pasted text in listings.

pub mod braces;
pub mod c_family;
pub mod elements;
pub mod formula;
pub mod python;
pub mod sums;

use crate::diag::ListingWriter;

/// Writes a text that is the same in every artifact, line by line.
pub fn paste(writer: &mut ListingWriter, text: &str) {
    for line in text.lines() {
        writer.line(line);
    }
}
