//! Facts about programs: parameters that are one field, elements that a call touches, locals without a value, arguments.

pub mod calls;
pub mod exchanges;
pub mod interface;
pub mod ranks;
pub mod traffic;
pub mod unwritten;
