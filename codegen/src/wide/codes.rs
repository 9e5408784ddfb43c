//! Which instruction does what, by the kind of its lanes.
//!
//! Read `Code::new(prefix, map, is_wide, opcode)` against the manual's line of an instruction. Its `EVEX.66.0F38.W0 39`
//! is prefix 1 (66), map 2 (0F38), not wide (W0), opcode 0x39. Doubles and integers of 64 bits are mostly wide, singles
//! and those of 32 bits are not.

use super::encode::Code;
use super::nodes::{Binary, Kind, Relation, Unary};

/// Reads a register from memory at any address, or from another register: `vmovups`, `vmovupd`. Integers
/// are moved as floats of their size: bits are bits.
pub(super) fn load_code(kind: Kind) -> Code {
    let is_wide = kind.bytes() == 8;
    Code::new(u8::from(is_wide), 1, is_wide, 0x10)
}

/// The same to memory.
pub(super) fn store_code(kind: Kind) -> Code {
    Code { opcode: 0x11, ..load_code(kind) }
}

/// The operation of two registers; which bits are set in masks is the same for all kinds of lanes.
///
/// Products, minima and maxima of integers of 64 bits have an instruction for 512 bits only: see
/// `Isa::has`.
pub(super) fn binary_code(op: Binary, kind: Kind) -> Code {
    let is_wide = kind.bytes() == 8;
    let float = |opcode| Code::new(u8::from(is_wide), 1, is_wide, opcode);
    let integer = |opcode| Code::new(1, 1, is_wide, opcode);
    match (op, kind.is_float()) {
        (Binary::Add, true) => float(0x58),
        (Binary::Mul, true) => float(0x59),
        (Binary::Sub, true) => float(0x5c),
        (Binary::Min, true) => float(0x5d),
        (Binary::Div, _) => float(0x5e),
        (Binary::Max, true) => float(0x5f),
        (Binary::Add, false) => integer(if is_wide { 0xd4 } else { 0xfe }),
        (Binary::Sub, false) => integer(if is_wide { 0xfb } else { 0xfa }),
        (Binary::Mul, false) => Code::new(1, 2, is_wide, 0x40),
        (Binary::Min, false) => Code::new(1, 2, is_wide, 0x39),
        (Binary::Max, false) => Code::new(1, 2, is_wide, 0x3d),
        (Binary::And, _) => integer(0xdb),
        (Binary::AndNot, _) => integer(0xdf),
        (Binary::Or, _) => integer(0xeb),
        (Binary::Xor, _) => integer(0xef),
    }
}

/// The operation of one register, and the byte behind it, where it has one.
pub(super) fn unary_code(op: Unary, kind: Kind) -> (Code, Option<u8>) {
    let is_wide = kind.bytes() == 8;
    // Rounding tells how, and not that it was inexact.
    let rounding = |how: u8| (Code::new(1, 3, is_wide, if is_wide { 0x09 } else { 0x08 }), Some(8 | how));
    match op {
        Unary::Sqrt => (Code::new(u8::from(is_wide), 1, is_wide, 0x51), None),
        Unary::Abs => (Code::new(1, 2, is_wide, if is_wide { 0x1f } else { 0x1e }), None),
        Unary::Nearest => rounding(0),
        Unary::Floor => rounding(1),
        Unary::Ceil => rounding(2),
        Unary::Trunc => rounding(3),
    }
}

/// The conversion, rounded to nearest; from a float to an integer it cuts toward zero. Vectors of 256 bits have those
/// between floats, and those from integers of 32 bits.
pub(super) fn convert_code(from: Kind, to: Kind) -> Code {
    match (from, to) {
        (Kind::F32, Kind::F64) => Code::new(0, 1, false, 0x5a),
        (Kind::F64, Kind::F32) => Code::new(1, 1, true, 0x5a),
        (Kind::I64, Kind::F64) => Code::new(2, 1, true, 0xe6),
        (Kind::I32, Kind::F64) => Code::new(2, 1, false, 0xe6),
        (Kind::I64, Kind::F32) => Code::new(0, 1, true, 0x5b),
        (Kind::I32, Kind::F32) => Code::new(0, 1, false, 0x5b),
        (Kind::F64, Kind::I64) => Code::new(1, 1, true, 0x7a),
        (Kind::F32, Kind::I64) => Code::new(1, 1, false, 0x7a),
        (Kind::I32, Kind::I64) => Code::new(1, 2, false, 0x25),
        (Kind::I64, Kind::I32) => Code::new(2, 2, false, 0x35),
        _ => unreachable!("{from:?} is not converted to {to:?}"),
    }
}

/// The number that the processor has for a relation; turned, where the operands changed places.
///
/// Those of floats raise no flag for a quiet NaN. With one they do not hold, but for `NotEqual` and `Unordered`. So
/// `a < b` with its operands swapped is `b > a`, and not the opposite of `b <= a`, which would hold for NaN.
pub(super) fn predicate(relation: Relation, is_float: bool, is_turned: bool) -> u8 {
    match (relation, is_float, is_turned) {
        (Relation::Equal, ..) => 0,
        (Relation::NotEqual, ..) => 4,
        (Relation::Unordered, ..) => 3,
        (Relation::Less, true, false) => 0x11,
        (Relation::Less, true, true) => 0x1e,
        (Relation::LessOrEqual, true, false) => 0x12,
        (Relation::LessOrEqual, true, true) => 0x1d,
        (Relation::Less, false, false) => 1,
        (Relation::Less, false, true) => 6,
        (Relation::LessOrEqual, false, false) => 2,
        (Relation::LessOrEqual, false, true) => 5,
    }
}
