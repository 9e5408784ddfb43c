//! Facts about schedule trees.

pub mod accesses;
pub mod cost;
pub mod dependence;
pub mod summary;
