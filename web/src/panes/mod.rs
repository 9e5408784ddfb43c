//! The views of the page: each reads signals of `state`, and calls its actions.

pub mod bar;
pub mod benchmark;
pub mod compare;
pub mod decisions;
pub mod editor;
pub mod field;
pub mod help;
pub mod highlight;
pub mod inputs;
pub mod notices;
pub mod problems;
pub mod result;
pub mod share;
pub mod stages;
pub mod strip;
pub mod timings;
