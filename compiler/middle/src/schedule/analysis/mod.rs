//! Facts about schedule trees.

pub mod accesses;
pub mod cost;
pub mod launch;
pub mod gpu;
pub mod dependence;
pub mod summary;
