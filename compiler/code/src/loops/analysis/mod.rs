//! Facts about programs.

pub mod bounds;
pub mod operations;
pub mod repeat;
pub mod uses;
