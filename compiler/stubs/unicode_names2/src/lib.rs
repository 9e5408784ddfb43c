//! Stands in for the crate of the same name, whose table of all Unicode names
//! would be two thirds of the page's size.
//!
//! The Python parser asks for a name in `"\N{...}"` escapes alone, and strings
//! have no meaning in a stencil.

/// No name is known, so `"\N{...}"` is a syntax error.
#[must_use]
pub fn character(_name: &str) -> Option<char> {
    None
}
