//! How tightly the operators of C bind: what binds less tightly than its surroundings need stands in parentheses.

pub(crate) const TERNARY: u8 = 1;
pub(crate) const OR: u8 = 2;
pub(crate) const AND: u8 = 3;
pub(crate) const BITWISE: u8 = 4;
pub(crate) const EQUALITY: u8 = 5;
pub(crate) const RELATION: u8 = 6;
pub(crate) const SUM: u8 = 7;
pub(crate) const PRODUCT: u8 = 8;
pub(crate) const PREFIX: u8 = 9;
pub(crate) const ATOM: u8 = 10;
