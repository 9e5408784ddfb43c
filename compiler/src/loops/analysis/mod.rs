//! Facts about programs.

pub mod operations;
pub mod repeat;
pub mod uses;
