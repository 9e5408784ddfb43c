//! Facts about graphs.

pub mod accesses;

pub use accesses::Accesses;
