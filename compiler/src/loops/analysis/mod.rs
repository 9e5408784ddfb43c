//! Facts about programs.

pub mod repeat;
pub mod uses;
