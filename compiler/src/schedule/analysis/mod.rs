//! Facts about schedule trees.

pub mod cost;
pub mod dependence;
pub mod summary;
pub mod uses;
