//! The Definition IR: *what was written*.
//!
//! Names are resolved, functions inlined, externals folded, compile-time branches
//! decided. It does not know the types of temporaries, which conversions happen,
//! nor what is legal: that is GTIR's.

pub mod nodes;

pub mod from_syntax;
pub mod print;
pub mod validate;
pub mod visit;
