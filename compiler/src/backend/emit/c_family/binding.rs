//! How tightly the operators of C bind: what binds less tightly than its surroundings need stands in parentheses.

pub(in crate::backend) const TERNARY: u8 = 1;
pub(in crate::backend) const OR: u8 = 2;
pub(in crate::backend) const AND: u8 = 3;
pub(in crate::backend) const BITWISE: u8 = 4;
pub(in crate::backend) const EQUALITY: u8 = 5;
pub(in crate::backend) const RELATION: u8 = 6;
pub(in crate::backend) const SUM: u8 = 7;
pub(in crate::backend) const PRODUCT: u8 = 8;
pub(in crate::backend) const PREFIX: u8 = 9;
pub(in crate::backend) const ATOM: u8 = 10;
