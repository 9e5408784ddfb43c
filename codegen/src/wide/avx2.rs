//! Instructions on vectors of 256 bits (AVX2 and FMA), where a mask is a vector whose lanes are all ones or all zeros.
//!
//! A mask has the lanes of the widest values; in a body with doubles, one for singles is made narrow where it is used.
//! Elements that are missing at the end of a row are neither read nor written: memory is accessed through a mask.

use super::codes::{
    SHIFTS_OF_DOUBLEWORDS, SHIFTS_OF_QUADWORDS, VANDNPD, VANDPD, VBLENDVPD, VBLENDVPS, VBROADCASTSD_AVX2,
    VBROADCASTSS, VCMPPD, VCMPPS, VEXTRACTF128, VINSERTF128, VMASKMOVPD, VMASKMOVPD_TO, VMASKMOVPS,
    VMASKMOVPS_TO, VMOVD_TO, VMOVHPD, VMOVMSKPD, VMOVMSKPS, VMOVQ_FROM_GENERAL, VMOVQ_TO, VMOVSD, VORPD,
    VPACKSSDW, VPACKSSWB, VPBLENDW, VPBROADCASTD, VPBROADCASTQ, VPCMPEQD, VPCMPEQQ, VPCMPGTD, VPCMPGTQ,
    VPEXTRB, VPEXTRQ, VPINSRB, VPMOVZXBD, VPMOVZXBQ, VSHUFPS, VXORPD, binary_code, convert_code, load_code,
    predicate, store_code, stream_code,
};
use super::emit::{AT, Emit, MemoryLocation, slot_at, word};
use super::encode::{Condition, Gpr, MemoryOperand, Opcode, R11, RCX, Rm};
use super::nodes::{Binary, ElementAddress, Id, LaneKind, Op, Relation, Step};

/// Registers of values; the two behind them are the next two.
pub(super) const N_VECTORS: usize = 14;
/// Values of the whole loop that have one for themselves.
pub(super) const N_FIXED: usize = 3;
/// For a moment within an operation.
const SPARE: u8 = 14;
/// The lanes that have an iteration, where some have none.
const ALL: u8 = 15;

/// Every second of the singles of two vectors of 128 bits, for `VSHUFPS`.
const EVEN: Option<u8> = Some(0x88);

// Lanes are numbered from the lowest bits on. Most instructions of AVX2 do not let values cross from one half
// of a vector to the other. So `VEXTRACTF128` takes a half, and `VSHUFPS` works on halves.
impl Emit<'_> {
    /// Puts each word of the caller that has no register into a slot, once for each lane.
    ///
    /// That is done once, before the loop. No operation of AVX2 spreads an operand in memory over all lanes,
    /// so each use would cost one more instruction.
    pub(super) fn spread_words(&mut self) {
        for (id, value) in self.body.values.iter().enumerate() {
            let Op::Word(at) = value.op else { continue };
            if self.fixed.contains_key(&id) {
                continue;
            }
            self.fill_avx2(value.kind, MemoryLocation::Word(at), SPARE);
            let slot = self.n_slots;
            self.n_slots += 1;
            let is_long = self.length(value.kind) == 32;
            self.asm.vex(store_code(value.kind), is_long, SPARE, 0, Rm::Memory(slot_at(slot)), None);
            self.values[id].memory = Some(MemoryLocation::Slot(slot));
        }
    }

    // Lanes that are missing.

    /// Makes the mask of so many lanes, and puts it where it is found again.
    ///
    /// ```text
    /// count = 3:   lanes 0 1 2 3  <  3 3 3 3   gives   -1 -1 -1 0
    /// ```
    ///
    /// It stays in `ALL`, and in a slot, since `ALL` is lent out where one more register is needed.
    pub(super) fn note_lanes(&mut self, count: Gpr) {
        let slot = self.n_slots;
        self.n_slots += 1;
        self.lanes_slot = slot;
        let is_double = self.body.lane_bytes() == 8;
        // The numbers of the lanes, a byte each, which are then widened.
        self.asm.constant(R11, 0x0706_0504_0302_0100);
        self.asm.vex(VMOVQ_FROM_GENERAL, false, SPARE, 0, Rm::Register(R11.0), None);
        let words = if is_double { VPMOVZXBQ } else { VPMOVZXBD };
        self.asm.vex(words, true, SPARE, 0, Rm::Register(SPARE), None);
        self.asm.vex(VMOVQ_FROM_GENERAL, false, ALL, 0, Rm::Register(count.0), None);
        let spread = if is_double { VPBROADCASTQ } else { VPBROADCASTD };
        self.asm.vex(spread, true, ALL, 0, Rm::Register(ALL), None);
        self.asm.vex(greater_code(is_double), true, ALL, ALL, Rm::Register(SPARE), None);
        self.asm.vex(store_code(LaneKind::I64), true, ALL, 0, Rm::Memory(slot_at(slot)), None);
    }

    /// Reads the mask again.
    pub(super) fn recall_lanes(&mut self) {
        let from = Rm::Memory(slot_at(self.lanes_slot));
        self.asm.vex(load_code(LaneKind::I64), true, ALL, 0, from, None);
    }

    /// The lanes of a mask that have an iteration, as bits.
    ///
    /// The instruction gathers the signs of lanes, which are their masks.
    pub(super) fn lanes_of(&mut self, mask: u8, to: Gpr) {
        let mask = if self.is_rest { self.present(mask) } else { mask };
        let code = if self.body.lane_bytes() == 8 { VMOVMSKPD } else { VMOVMSKPS };
        self.asm.vex(code, true, to.0, 0, Rm::Register(mask), None);
    }

    /// A mask without the lanes that have no iteration.
    fn present(&mut self, mask: u8) -> u8 {
        self.bitwise(Binary::And, SPARE, mask, Rm::Register(ALL));
        SPARE
    }

    /// A mask for values of a kind.
    ///
    /// In a body with doubles there are four lanes, and a mask for singles is one of 128 bits: the lower
    /// halves of the four. It ends in `SPARE`, so only one of them is there at a time. If the mask is in
    /// `SPARE` already, `ALL` is lent for its upper half, and read again.
    fn mask_for(&mut self, kind: LaneKind, mask: u8) -> u8 {
        if kind.bytes() != 4 || self.body.lane_bytes() == 4 {
            return mask;
        }
        let (upper, lower) = if mask == SPARE { (ALL, SPARE) } else { (SPARE, mask) };
        self.asm.vex(VEXTRACTF128, true, mask, 0, Rm::Register(upper), Some(1));
        self.asm.vex(VSHUFPS, false, SPARE, lower, Rm::Register(upper), EVEN);
        if upper == ALL {
            self.recall_lanes();
        }
        SPARE
    }

    // Memory.

    /// Loads a register. At the end of a row, elements that are missing are not read, and are zero.
    pub(super) fn fill_avx2(&mut self, kind: LaneKind, source: MemoryLocation, register: u8) {
        let is_long = self.length(kind) == 32;
        match source {
            MemoryLocation::Elements(place) if self.is_rest => {
                let mask = self.mask_for(kind, ALL);
                let from = Rm::Memory(self.elements(place, kind.bytes()));
                let code = if kind.bytes() == 8 { VMASKMOVPD } else { VMASKMOVPS };
                self.asm.vex(code, is_long, register, mask, from, None);
            }
            MemoryLocation::Element(_) | MemoryLocation::Word(_) => {
                let from = self.memory(source, kind);
                let code = if kind.bytes() == 4 { VBROADCASTSS } else { VBROADCASTSD_AVX2 };
                self.asm.vex(code, is_long, register, 0, from, None);
            }
            MemoryLocation::Elements(_) | MemoryLocation::Slot(_) | MemoryLocation::Constant(_) => {
                let from = self.memory(source, kind);
                self.asm.vex(load_code(kind), is_long, register, 0, from, None);
            }
        }
    }

    /// Stores elements or bools, after all that still has to be read of that array is in registers.
    pub(super) fn store(&mut self, step: Step) {
        match step {
            Step::Store { place, value, mask, is_streamed } => {
                let kind = self.body.values[value].kind;
                let register = self.vector(value);
                let mask_at = mask.map(|it| self.vector(it));
                self.read_before_write(place);
                self.store_elements(place, (kind, register), mask_at, is_streamed);
                self.used(&[value]);
                self.used(mask.as_slice());
            }
            Step::StoreBools { place, value } => {
                let mask = self.vector(value);
                self.read_before_write(place);
                self.store_bools(place, mask);
                self.used(&[value]);
            }
            _ => unreachable!("it stores nothing"),
        }
    }

    /// Stores elements in one of three ways. If all lanes take part, the register is stored whole. If a mask
    /// leaves lanes out, it is blended with the old elements. At the end of a row it goes through a masked
    /// store.
    ///
    /// A masked store would do for all three. It is avoided because reads cannot be served from it before it
    /// has reached the cache. The next loop often reads the elements that this one wrote.
    fn store_elements(
        &mut self,
        place: ElementAddress,
        (kind, register): (LaneKind, u8),
        mask: Option<u8>,
        is_streamed: bool,
    ) {
        let is_long = self.length(kind) == 32;
        match mask {
            None if !self.is_rest => {
                let is_streamed = is_streamed && self.is_streaming;
                let code = if is_streamed { stream_code(kind) } else { store_code(kind) };
                let to = Rm::Memory(self.elements(place, kind.bytes()));
                self.asm.vex(code, is_long, register, 0, to, None);
            }
            // The other lanes write their old elements again. That is safe, since each of them has an
            // iteration of this loop.
            Some(mask) if !self.is_rest => {
                let old = self.free_vector();
                let at = self.mask_for(kind, mask);
                let to = Rm::Memory(self.elements(place, kind.bytes()));
                self.asm.vex(load_code(kind), is_long, old, 0, to, None);
                self.blend(kind, (old, old), Rm::Register(register), at);
                self.asm.vex(store_code(kind), is_long, old, 0, to, None);
            }
            _ => {
                let present = mask.map_or(ALL, |it| self.present(it));
                let at = self.mask_for(kind, present);
                let to = Rm::Memory(self.elements(place, kind.bytes()));
                let code = if kind.bytes() == 8 { VMASKMOVPD_TO } else { VMASKMOVPS_TO };
                self.asm.vex(code, is_long, register, at, to, None);
            }
        }
    }

    /// Stores a byte of 0 or 1 for each lane. Lanes are packed to words and then to bytes with their signs,
    /// so that -1 stays -1. Of each byte, the lowest bit is kept.
    fn store_bools(&mut self, place: ElementAddress, mask: u8) {
        let upper = Rm::Register(SPARE);
        self.asm.vex(VEXTRACTF128, true, mask, 0, upper, Some(1));
        if self.body.lane_bytes() == 8 {
            self.asm.vex(VSHUFPS, false, SPARE, mask, upper, EVEN);
            self.asm.vex(VPACKSSDW, false, SPARE, SPARE, upper, None);
        } else {
            self.asm.vex(VPACKSSDW, false, SPARE, mask, upper, None);
        }
        self.asm.vex(VPACKSSWB, false, SPARE, SPARE, upper, None);
        let ones = Rm::PoolOfLanes(0x0101_0101_0101_0101);
        self.asm.vex(binary_code(Binary::And, LaneKind::I64), false, SPARE, SPARE, ones, None);
        if self.is_rest {
            return self.each_byte(place, |this, at, lane| {
                this.asm.vex(VPEXTRB, false, SPARE, 0, at, Some(lane));
            });
        }
        let to = Rm::Memory(self.elements(place, 1));
        let code = if self.body.lanes == 8 { VMOVQ_TO } else { VMOVD_TO };
        self.asm.vex(code, false, SPARE, 0, to, None);
    }

    /// Does something for the byte of each lane that is there.
    ///
    /// Bytes have no masked access. So they are done one by one, and after each it is asked whether there
    /// is another one. The last lane is never there: where all are, the row does not end here.
    fn each_byte(&mut self, place: ElementAddress, mut each: impl FnMut(&mut Self, Rm, u8)) {
        let end = self.asm.label();
        self.asm.load(RCX, word(0));
        self.asm.subtract(RCX, AT);
        for lane in 0..self.body.lanes - 1 {
            let offset = place.offset + i32::try_from(lane).expect("few lanes");
            let at = Rm::Memory(self.elements(ElementAddress { offset, ..place }, 1));
            each(self, at, u8::try_from(lane).expect("few lanes"));
            self.asm.add_constant(RCX, -1);
            self.asm.jump_if(Condition::LessOrEqual, end);
        }
        self.asm.bind(end);
    }

    /// The mask of bytes that are not 0: each becomes a lane without sign, so that all of them are greater
    /// than zero.
    fn load_bools(&mut self, place: ElementAddress, to: u8) {
        let is_double = self.body.lane_bytes() == 8;
        let zero = |this: &mut Self| this.bitwise(Binary::Xor, SPARE, SPARE, Rm::Register(SPARE));
        let spread = if is_double { VPMOVZXBQ } else { VPMOVZXBD };
        if self.is_rest {
            zero(self);
            self.each_byte(place, |this, at, lane| {
                this.asm.vex(VPINSRB, false, SPARE, SPARE, at, Some(lane));
            });
            self.asm.vex(spread, true, to, 0, Rm::Register(SPARE), None);
        } else {
            let from = Rm::Memory(self.elements(place, 1));
            self.asm.vex(spread, true, to, 0, from, None);
        }
        zero(self);
        self.asm.vex(greater_code(is_double), true, to, to, Rm::Register(SPARE), None);
    }

    // Operations.

    /// Makes a value by other instructions than where vectors have 512 bits.
    ///
    /// The result may take a register that an operand leaves with its last use, since one instruction reads
    /// all before it writes. `gather` is several instructions, so there the result gets its register before
    /// the index leaves its own.
    pub(super) fn make_avx2(&mut self, id: Id) {
        let value = self.body.values[id];
        let kind = value.kind;
        match value.op {
            Op::LoadBools(place) => {
                let to = self.new_vector(id);
                self.load_bools(place, to);
            }
            Op::Convert(from, a) => self.convert(id, (from, kind), a),
            Op::ShiftLeft(a, by) | Op::ShiftRight(a, by) => {
                let from = self.vector(a);
                self.used(&[a]);
                let to = self.new_vector(id);
                let which = if matches!(value.op, Op::ShiftLeft(..)) { 6 } else { 2 };
                // Here the register that is written is the second one.
                self.asm.vex(SHIFTS_OF_QUADWORDS, true, which, to, Rm::Register(from), Some(by));
            }
            Op::Compare(relation, of, a, b) => self.compare(id, relation, of, [a, b]),
            Op::Select(mask, then, otherwise) => {
                let mask_at = self.vector(mask);
                let other = self.vector(otherwise);
                let last = self.last(then, kind, true);
                let mask_at = self.mask_for(kind, mask_at);
                self.used(&[mask, then, otherwise]);
                let to = self.new_vector(id);
                self.blend(kind, (to, other), last.rm, mask_at);
            }
            Op::Gather(place, index) => {
                let index_at = self.vector(index);
                let to = self.new_vector(id);
                self.used(&[index]);
                self.gather(place, index_at, to);
            }
            op => unreachable!("{op:?} is one instruction, or none"),
        }
    }

    /// On all bits of a register.
    fn bitwise(&mut self, op: Binary, to: u8, one: u8, other: Rm) {
        self.asm.vex(binary_code_of_avx2(op, LaneKind::Mask), true, to, one, other, None);
    }

    /// Entries of a table, one by one: the instruction for all of them takes longer on many of these processors.
    ///
    /// Each index goes through `rcx`. The lower half's entries become the lower half of `to`, the others
    /// are put above them.
    fn gather(&mut self, place: ElementAddress, indices: u8, to: u8) {
        let base = self.pointer(place.pointer);
        let entry = Rm::Memory(MemoryOperand { base, index: Some((RCX.0, 8)), offset: place.offset });
        let upper = self.free_vector();
        self.asm.vex(VEXTRACTF128, true, indices, 0, Rm::Register(SPARE), Some(1));
        for (indices, entries) in [(indices, to), (SPARE, upper)] {
            self.asm.vex(VMOVQ_TO, false, indices, 0, Rm::Register(RCX.0), None);
            self.asm.vex(VMOVSD, false, entries, 0, entry, None);
            self.asm.vex(VPEXTRQ, false, indices, 0, Rm::Register(RCX.0), Some(1));
            self.asm.vex(VMOVHPD, false, entries, entries, entry, None);
        }
        self.asm.vex(VINSERTF128, true, to, to, Rm::Register(upper), Some(1));
    }

    /// Takes `then` in the lanes of a mask, and the register `otherwise` in the others.
    ///
    /// It looks at the sign of each lane of the mask, which has to be as wide as the values: see
    /// [`Self::mask_for`].
    fn blend(&mut self, kind: LaneKind, (to, otherwise): (u8, u8), then: Rm, mask: u8) {
        let is_single = kind.bytes() == 4 || self.body.lane_bytes() == 4;
        let code = if is_single { VBLENDVPS } else { VBLENDVPD };
        let is_long = self.length(kind) == 32;
        self.asm.vex(code, is_long, to, otherwise, then, Some(mask << 4));
    }

    /// From integers of 64 bits there is no instruction. Narrow ones are the lower halves of the lanes; doubles are put
    /// together by [`Self::double_of_integer`].
    fn convert(&mut self, id: Id, (from, to_kind): (LaneKind, LaneKind), a: Id) {
        if from == LaneKind::I64 {
            let register = self.vector(a);
            self.used(&[a]);
            let to = self.new_vector(id);
            if to_kind == LaneKind::I32 {
                self.asm.vex(VEXTRACTF128, true, register, 0, Rm::Register(SPARE), Some(1));
                self.asm.vex(VSHUFPS, false, to, register, Rm::Register(SPARE), EVEN);
            } else {
                self.double_of_integer(to, register);
            }
            return;
        }
        let last = self.last(a, from, true);
        self.used(&[a]);
        let to = self.new_vector(id);
        let is_long = self.length(from).max(self.length(to_kind)) == 32;
        self.asm.vex(convert_code(from, to_kind), is_long, to, 0, last.rm, None);
    }

    /// The upper 16 bits and the lower 48 become the digits of large doubles, whose sum is rounded once.
    ///
    /// `below` is 2^52: with its exponent above them, the 48 lower bits `x` are the double 2^52 + x. `above` is 3 * 2^67:
    /// the upper bits `y`, with their sign, are added to its bits as an integer, which makes 3 * 2^67 + y * 2^48. Both
    /// constants are taken off, which is exact, and the lower bits are added, which rounds once.
    fn double_of_integer(&mut self, to: u8, from: u8) {
        let spare = Rm::Register(SPARE);
        let above = f64::from_bits(0x4438_0000_0000_0000);
        let below = f64::from_bits(0x4330_0000_0000_0000);
        let constant = |it: f64| Rm::PoolOfLanes(it.to_bits());
        self.asm.vex(SHIFTS_OF_DOUBLEWORDS, true, 4, SPARE, Rm::Register(from), Some(16));
        self.asm.vex(VPBLENDW, true, SPARE, SPARE, Rm::PoolOfLanes(0), Some(0x33));
        self.asm.vex(binary_code(Binary::Add, LaneKind::I64), true, SPARE, SPARE, constant(above), None);
        let both = constant(above + below);
        self.asm.vex(binary_code(Binary::Sub, LaneKind::F64), true, SPARE, SPARE, both, None);
        self.asm.vex(VPBLENDW, true, to, from, constant(below), Some(0x88));
        self.asm.vex(binary_code(Binary::Add, LaneKind::F64), true, to, to, spare, None);
    }

    /// Integers have equal and greater only. So less is greater with the operands swapped, less or equal is not greater,
    /// and unequal is not equal. The opposite is right since integers are always in order; for floats each relation has
    /// a number of its own.
    ///
    /// Lanes of 32 bits in a body with doubles give a mask of 128 bits, whose lanes are then widened with their signs.
    fn compare(&mut self, id: Id, relation: Relation, kind: LaneKind, [a, b]: [Id; 2]) {
        let is_long = self.length(kind) == 32;
        let (code, immediate, operands, is_inverse) = if kind.is_float() {
            let is_turned = self.values[a].register.is_none() && self.values[b].register.is_some();
            let code = if kind == LaneKind::F64 { VCMPPD } else { VCMPPS };
            let operands = if is_turned { [b, a] } else { [a, b] };
            (code, Some(predicate(relation, true, is_turned)), operands, false)
        } else {
            let is_wide = kind == LaneKind::I64;
            let equal = if is_wide { VPCMPEQQ } else { VPCMPEQD };
            match relation {
                Relation::Equal | Relation::NotEqual => (equal, None, [a, b], relation == Relation::NotEqual),
                Relation::Less => (greater_code(is_wide), None, [b, a], false),
                Relation::LessOrEqual => (greater_code(is_wide), None, [a, b], true),
                Relation::Unordered => unreachable!("integers are all in order"),
            }
        };
        let [a, b] = operands;
        let one = self.vector(a);
        let last = self.last(b, kind, true);
        self.used(&[a, b]);
        let to = self.new_vector(id);
        self.asm.vex(code, is_long, to, one, last.rm, immediate);
        if kind.bytes() < self.body.lane_bytes() {
            self.asm.vex(convert_code(LaneKind::I32, LaneKind::I64), true, to, 0, Rm::Register(to), None);
        }
        if is_inverse {
            self.bitwise(Binary::Xor, to, to, Rm::PoolOfLanes(u64::MAX));
        }
    }
}

/// Of masks and numbers; what is done with the bits of floating-point numbers is done where they are computed.
pub(super) fn binary_code_of_avx2(op: Binary, kind: LaneKind) -> Opcode {
    match op {
        _ if matches!(kind, LaneKind::I64 | LaneKind::I32) => binary_code(op, kind),
        Binary::And => VANDPD,
        Binary::AndNot => VANDNPD,
        Binary::Or => VORPD,
        Binary::Xor => VXORPD,
        _ => binary_code(op, kind),
    }
}

/// Whether integers are greater than others.
fn greater_code(is_wide: bool) -> Opcode {
    if is_wide { VPCMPGTQ } else { VPCMPGTD }
}
