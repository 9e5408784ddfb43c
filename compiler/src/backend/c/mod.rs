//! C with OpenMP.

pub mod math;
