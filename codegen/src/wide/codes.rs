//! Which instruction does what, by the kind of its lanes.
//!
//! Read `NAME = prefix map is_wide opcode` against the manual's line of an instruction. Its `EVEX.66.0F38.W0 39` is
//! prefix 1 (66), map 2 (0F38), not wide (W0), opcode 0x39. Doubles and integers of 64 bits are mostly wide, singles and
//! those of 32 bits are not. All opcodes stand here, and a test decodes each.

use super::encode::Opcode;
use super::nodes::{Binary, LaneKind, Relation, Unary};

/// Gives each instruction its manual's name, up to the first `_`; behind that stands which of its forms it is.
macro_rules! codes {
    ($($name:ident = $prefix:literal $map:literal $is_wide:literal $opcode:literal;)*) => {
        $(pub(super) const $name: Opcode = Opcode::new($prefix, $map, $is_wide, $opcode);)*

        #[cfg(test)]
        pub(super) const ALL: &[(&str, Opcode)] = &[$((stringify!($name), $name)),*];
    };
}

codes! {
    // Moves. Integers are moved as floats of their size: bits are bits.
    VMOVUPS = 0 1 false 0x10;
    VMOVUPD = 1 1 true 0x10;
    VMOVUPS_TO = 0 1 false 0x11;
    VMOVUPD_TO = 1 1 true 0x11;
    VMOVNTPS_TO = 0 1 false 0x2b;
    VMOVNTPD_TO = 1 1 true 0x2b;
    VMOVSD = 3 1 false 0x10;
    VMOVHPD = 1 1 false 0x16;
    VMOVQ_FROM_GENERAL = 1 1 true 0x6e;
    VMOVQ_TO = 1 1 true 0x7e;
    VMOVD_TO = 1 1 false 0x7e;
    VMOVMSKPS = 0 1 false 0x50;
    VMOVMSKPD = 1 1 false 0x50;
    VMASKMOVPS = 1 2 false 0x2c;
    VMASKMOVPD = 1 2 false 0x2d;
    VMASKMOVPS_TO = 1 2 false 0x2e;
    VMASKMOVPD_TO = 1 2 false 0x2f;
    VBROADCASTSS = 1 2 false 0x18;
    VBROADCASTSD = 1 2 true 0x19;
    // With VEX it is not wide.
    VBROADCASTSD_AVX2 = 1 2 false 0x19;
    VPBROADCASTD = 1 2 false 0x58;
    VPBROADCASTQ = 1 2 false 0x59;
    VGATHERQPD = 1 2 true 0x93;

    // Parts of vectors.
    VEXTRACTF128 = 1 3 false 0x19;
    VINSERTF128 = 1 3 false 0x18;
    VSHUFPS = 0 1 false 0xc6;
    VPBLENDW = 1 3 false 0x0e;
    VBLENDVPS = 1 3 false 0x4a;
    VBLENDVPD = 1 3 false 0x4b;
    VBLENDMPS = 1 2 false 0x65;
    VBLENDMPD = 1 2 true 0x65;
    VPEXTRB = 1 3 false 0x14;
    VPEXTRQ = 1 3 true 0x16;
    VPINSRB = 1 3 false 0x20;
    VPACKSSDW = 1 1 false 0x6b;
    VPACKSSWB = 1 1 false 0x63;
    VPMOVZXBD = 1 2 false 0x31;
    VPMOVZXBQ = 1 2 false 0x32;
    VPMOVDB = 2 2 false 0x31;
    VPMOVQB = 2 2 false 0x32;

    // Arithmetic. Products, minima and maxima of integers of 64 bits have an instruction for 512 bits only: see
    // `Isa::has`.
    VADDPS = 0 1 false 0x58;
    VADDPD = 1 1 true 0x58;
    VMULPS = 0 1 false 0x59;
    VMULPD = 1 1 true 0x59;
    VSUBPS = 0 1 false 0x5c;
    VSUBPD = 1 1 true 0x5c;
    VMINPS = 0 1 false 0x5d;
    VMINPD = 1 1 true 0x5d;
    VDIVPS = 0 1 false 0x5e;
    VDIVPD = 1 1 true 0x5e;
    VMAXPS = 0 1 false 0x5f;
    VMAXPD = 1 1 true 0x5f;
    VSQRTPS = 0 1 false 0x51;
    VSQRTPD = 1 1 true 0x51;
    VPADDD = 1 1 false 0xfe;
    VPADDQ = 1 1 true 0xd4;
    VPSUBD = 1 1 false 0xfa;
    VPSUBQ = 1 1 true 0xfb;
    VPMULLD = 1 2 false 0x40;
    VPMULLQ = 1 2 true 0x40;
    VPMINSD = 1 2 false 0x39;
    VPMINSQ = 1 2 true 0x39;
    VPMAXSD = 1 2 false 0x3d;
    VPMAXSQ = 1 2 true 0x3d;
    VPABSD = 1 2 false 0x1e;
    VPABSQ = 1 2 true 0x1f;
    VRNDSCALEPS = 1 3 false 0x08;
    VRNDSCALEPD = 1 3 true 0x09;
    VFMADD213PS = 1 2 false 0xa8;
    VFMADD213PD = 1 2 true 0xa8;
    VFMSUB213PS = 1 2 false 0xaa;
    VFMSUB213PD = 1 2 true 0xaa;
    VFMADD231PS = 1 2 false 0xb8;
    VFMADD231PD = 1 2 true 0xb8;
    VFMSUB231PS = 1 2 false 0xba;
    VFMSUB231PD = 1 2 true 0xba;

    // Bits. Of shifts by a constant, the register says which it is: 2 for `VPSRLQ`, 6 for `VPSLLQ`, 4 for `VPSRAD`.
    VPANDD = 1 1 false 0xdb;
    VPANDQ = 1 1 true 0xdb;
    VPANDND = 1 1 false 0xdf;
    VPANDNQ = 1 1 true 0xdf;
    VPORD = 1 1 false 0xeb;
    VPORQ = 1 1 true 0xeb;
    VPXORD = 1 1 false 0xef;
    VPXORQ = 1 1 true 0xef;
    VANDPD = 1 1 false 0x54;
    VANDNPD = 1 1 false 0x55;
    VORPD = 1 1 false 0x56;
    VXORPD = 1 1 false 0x57;
    SHIFTS_OF_QUADWORDS = 1 1 true 0x73;
    SHIFTS_OF_DOUBLEWORDS = 1 1 false 0x72;

    // Conversions.
    VCVTPS2PD = 0 1 false 0x5a;
    VCVTPD2PS = 1 1 true 0x5a;
    VCVTQQ2PD = 2 1 true 0xe6;
    VCVTDQ2PD = 2 1 false 0xe6;
    VCVTQQ2PS = 0 1 true 0x5b;
    VCVTDQ2PS = 0 1 false 0x5b;
    VCVTTPD2QQ = 1 1 true 0x7a;
    VCVTTPS2QQ = 1 1 false 0x7a;
    VPMOVSXDQ = 1 2 false 0x25;
    VPMOVQD = 2 2 false 0x35;

    // Comparisons.
    VCMPPS = 0 1 false 0xc2;
    VCMPPD = 1 1 true 0xc2;
    VPCMPD = 1 3 false 0x1f;
    VPCMPQ = 1 3 true 0x1f;
    VPCMPEQD = 1 1 false 0x76;
    VPCMPEQQ = 1 2 false 0x29;
    VPCMPGTD = 1 1 false 0x66;
    VPCMPGTQ = 1 2 false 0x37;
    VPTESTMD = 1 2 false 0x27;
    VPTESTMQ = 1 2 true 0x27;

    // Masks.
    KMOVW = 0 1 false 0x90;
    KMOVW_TO = 0 1 false 0x91;
    KMOVW_FROM_GENERAL = 0 1 false 0x92;
    KMOVW_TO_GENERAL = 0 1 false 0x93;
    KANDW = 0 1 false 0x41;
    KANDNW = 0 1 false 0x42;
    KORW = 0 1 false 0x45;
    KXNORW = 0 1 false 0x46;
    KXORW = 0 1 false 0x47;
}

/// Reads a register from memory at any address, or from another register.
pub(super) fn load_code(kind: LaneKind) -> Opcode {
    by_size(kind, VMOVUPS, VMOVUPD)
}

/// The same to memory.
pub(super) fn store_code(kind: LaneKind) -> Opcode {
    by_size(kind, VMOVUPS_TO, VMOVUPD_TO)
}

/// The same past the caches, where the address is aligned.
pub(super) fn stream_code(kind: LaneKind) -> Opcode {
    by_size(kind, VMOVNTPS_TO, VMOVNTPD_TO)
}

/// One element in all lanes.
pub(super) fn broadcast_code(kind: LaneKind) -> Opcode {
    by_size(kind, VBROADCASTSS, VBROADCASTSD)
}

/// One of two instructions: for lanes of four or of eight bytes.
fn by_size(kind: LaneKind, single: Opcode, double: Opcode) -> Opcode {
    if kind.bytes() == 8 { double } else { single }
}

/// The operation of two registers; which bits are set in masks is the same for all kinds of lanes.
pub(super) fn binary_code(op: Binary, kind: LaneKind) -> Opcode {
    let (single, double) = match (op, kind.is_float()) {
        (Binary::Add, true) => (VADDPS, VADDPD),
        (Binary::Mul, true) => (VMULPS, VMULPD),
        (Binary::Sub, true) => (VSUBPS, VSUBPD),
        (Binary::Min, true) => (VMINPS, VMINPD),
        (Binary::Div, _) => (VDIVPS, VDIVPD),
        (Binary::Max, true) => (VMAXPS, VMAXPD),
        (Binary::Add, false) => (VPADDD, VPADDQ),
        (Binary::Sub, false) => (VPSUBD, VPSUBQ),
        (Binary::Mul, false) => (VPMULLD, VPMULLQ),
        (Binary::Min, false) => (VPMINSD, VPMINSQ),
        (Binary::Max, false) => (VPMAXSD, VPMAXSQ),
        (Binary::And, _) => (VPANDD, VPANDQ),
        (Binary::AndNot, _) => (VPANDND, VPANDNQ),
        (Binary::Or, _) => (VPORD, VPORQ),
        (Binary::Xor, _) => (VPXORD, VPXORQ),
    };
    by_size(kind, single, double)
}

/// The operation of one register, and the byte behind it, where it has one.
pub(super) fn unary_code(op: Unary, kind: LaneKind) -> (Opcode, Option<u8>) {
    // Rounding tells how, and not that it was inexact.
    let rounding = |how: u8| (by_size(kind, VRNDSCALEPS, VRNDSCALEPD), Some(8 | how));
    match op {
        Unary::Sqrt => (by_size(kind, VSQRTPS, VSQRTPD), None),
        Unary::Abs => (by_size(kind, VPABSD, VPABSQ), None),
        Unary::Nearest => rounding(0),
        Unary::Floor => rounding(1),
        Unary::Ceil => rounding(2),
        Unary::Trunc => rounding(3),
    }
}

/// The product plus the third operand, or minus it. With `adds_to_written`, the register that is written
/// holds this third operand, otherwise a factor.
pub(super) fn fused_code(kind: LaneKind, adds_to_written: bool, subtracts: bool) -> Opcode {
    match (adds_to_written, subtracts) {
        (true, false) => by_size(kind, VFMADD231PS, VFMADD231PD),
        (true, true) => by_size(kind, VFMSUB231PS, VFMSUB231PD),
        (false, false) => by_size(kind, VFMADD213PS, VFMADD213PD),
        (false, true) => by_size(kind, VFMSUB213PS, VFMSUB213PD),
    }
}

/// The conversion, rounded to nearest; from a float to an integer it cuts toward zero. Vectors of 256 bits have those
/// between floats, and those from integers of 32 bits.
pub(super) fn convert_code(from: LaneKind, to: LaneKind) -> Opcode {
    match (from, to) {
        (LaneKind::F32, LaneKind::F64) => VCVTPS2PD,
        (LaneKind::F64, LaneKind::F32) => VCVTPD2PS,
        (LaneKind::I64, LaneKind::F64) => VCVTQQ2PD,
        (LaneKind::I32, LaneKind::F64) => VCVTDQ2PD,
        (LaneKind::I64, LaneKind::F32) => VCVTQQ2PS,
        (LaneKind::I32, LaneKind::F32) => VCVTDQ2PS,
        (LaneKind::F64, LaneKind::I64) => VCVTTPD2QQ,
        (LaneKind::F32, LaneKind::I64) => VCVTTPS2QQ,
        (LaneKind::I32, LaneKind::I64) => VPMOVSXDQ,
        (LaneKind::I64, LaneKind::I32) => VPMOVQD,
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
