//! How tightly the operators of C bind: what binds less tightly than its surroundings need stands in parentheses.

pub(super) const TERNARY: u8 = 1;
pub(super) const OR: u8 = 2;
pub(super) const AND: u8 = 3;
pub(super) const BITWISE: u8 = 4;
pub(super) const EQUALITY: u8 = 5;
pub(super) const RELATION: u8 = 6;
pub(super) const SUM: u8 = 7;
pub(super) const PRODUCT: u8 = 8;
pub(super) const PREFIX: u8 = 9;
pub(super) const ATOM: u8 = 10;
