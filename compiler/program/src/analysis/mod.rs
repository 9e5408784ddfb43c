//! Facts about programs: parameters that are one field, elements that a call touches, locals without a value, arguments.

pub mod calls;
pub mod exchanges;
pub mod halo_validity;
pub mod interface;
pub mod lifetimes;
pub mod ranks;
pub mod traffic;
pub mod element_boxes;
pub mod unwritten;
