//! Facts about OIR.

pub mod access;
pub mod definite_assignment;
pub mod extents;
pub mod caches;
pub mod program_order;
pub mod versions;
pub mod weight;

pub use access::{AccessKind, access_kinds};
pub use extents::{Extents, extents};
pub use program_order::program_order;

#[cfg(test)]
mod tests;
