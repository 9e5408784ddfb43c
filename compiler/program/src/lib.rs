//! Whole programs: a model step as one program of stencil calls.

// Scalar expressions, as Python has them.
pub mod scalar;

// The document, as a person or a tool writes it.
pub mod document;

// The Program IR.
pub mod size;
pub mod nodes;
pub mod plan;

// Ranks that cut its domain.
pub mod decomposition;

// Facts about it.
pub mod analysis;

// Its stencils, and the way to it from a document.
pub mod stencils;
pub mod from_document;
// The way to a document from live objects, and to these from a text.
pub mod from_objects;
pub mod from_class;

// Its text and its rules.
pub mod print;
pub mod parse;
pub mod validate;

// Passes: fields that are no results become locals, calls become groups, and ranks compute while messages are on their way.
pub mod localize;
pub mod group;
pub mod overlap;

// All of it together.
pub mod compile;

// Its meaning.
pub mod interpret;

#[cfg(test)]
mod tests;
