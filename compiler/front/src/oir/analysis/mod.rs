//! Facts about OIR.

pub mod access;
pub mod definite_assignment;
pub mod extents;
pub mod element_boxes;
pub mod touches;
pub mod caches;
pub mod program_order;
pub mod versions;
pub mod weight;

pub use access::{AccessKind, access_kinds};
pub use extents::{Extents, extents};
pub use program_order::program_order;
pub use touches::{TouchedPositions, touched, touches, touches_of_params};

#[cfg(test)]
mod tests;
