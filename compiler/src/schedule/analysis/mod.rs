//! Facts about schedule trees.

pub mod dependence;
