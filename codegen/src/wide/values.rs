//! Values of a body as instructions: each by one, or by a few, of the width at hand.

use super::avx2;
use super::codes::{
    KANDNW, KANDW, KORW, KXNORW, KXORW, SHIFTS_OF_QUADWORDS, VBLENDMPD, VBLENDMPS, VCMPPD, VCMPPS,
    VGATHERQPD, VPCMPD, VPCMPQ, VPMOVZXBD, VPMOVZXBQ, VPTESTMD, VPTESTMQ, binary_code, convert_code,
    fused_code, predicate, unary_code,
};
use super::emit::{ALL, Emit, LastOperand, MemoryLocation, SPARE_MASK};
use super::encode::{EncodingFields, MemoryOperand, Opcode, Rm};
use super::nodes::{Binary, Id, Isa, LaneKind, Op};

impl Emit<'_> {
    /// Makes a value. A load makes no code: it notes where the value lies, and the instruction that uses it
    /// reads it from there. [`Emit::settle`] loads it before memory changes.
    pub(super) fn make(&mut self, id: Id) {
        let value = self.body.values[id];
        match value.op {
            Op::Load(place) => self.values[id].memory = Some(MemoryLocation::Elements(place)),
            Op::LoadOne(place) => self.values[id].memory = Some(MemoryLocation::Element(place)),
            Op::Slot(slot) => self.values[id].memory = Some(MemoryLocation::Slot(self.slot(slot))),
            Op::Word(_) | Op::Constant(_) => unreachable!("what is the same in all iterations is not made"),
            op @ (Op::Unary(..) | Op::Binary(..) | Op::Fused { .. })
                if value.kind != LaneKind::Mask || self.body.isa == Isa::Avx2 =>
            {
                self.make_vector(id, op, value.kind);
            }
            _ if self.body.isa == Isa::Avx2 => self.make_avx2(id),
            Op::LoadBools(place) => {
                let register = self.free_vector();
                let is_double = self.body.lanes == 8;
                let from = self.elements(place, 1);
                let mask = if self.is_rest { ALL } else { 0 };
                let how = EncodingFields {
                    length: 64,
                    mask,
                    zeroes: self.is_rest,
                    unit: self.body.lanes,
                    ..EncodingFields::default()
                };
                let code = if is_double { VPMOVZXBQ } else { VPMOVZXBD };
                self.asm.evex(code, how, register, 0, Rm::Memory(from));
                let to = self.new_mask(id);
                let how = EncodingFields { length: 64, mask, ..EncodingFields::default() };
                let code = if is_double { VPTESTMQ } else { VPTESTMD };
                self.asm.evex(code, how, to, register, Rm::Register(register));
            }
            _ if value.kind == LaneKind::Mask => self.make_mask(id, value.op),
            _ => self.make_vector(id, value.op, value.kind),
        }
    }

    /// A value in a register of masks, by AVX-512. Comparisons clear the lanes that have no iteration.
    fn make_mask(&mut self, id: Id, op: Op) {
        match op {
            Op::Binary(op, a, b) => {
                let (one, other) = (self.mask(a), self.mask(b));
                self.used(&[a, b]);
                let code = match op {
                    Binary::And => KANDW,
                    Binary::AndNot => KANDNW,
                    Binary::Or => KORW,
                    Binary::Xor => KXORW,
                    _ => unreachable!("masks have no arithmetic"),
                };
                let to = self.new_mask(id);
                self.asm.vex(code, true, to, one, Rm::Register(other), None);
            }
            Op::Select(condition, then, otherwise) => {
                let (condition_at, then_at) = (self.mask(condition), self.mask(then));
                let otherwise_at = self.mask(otherwise);
                self.asm.vex(KANDW, true, SPARE_MASK, condition_at, Rm::Register(then_at), None);
                self.used(&[then]);
                let to = self.new_mask(id);
                self.asm.vex(KANDNW, true, to, condition_at, Rm::Register(otherwise_at), None);
                self.used(&[condition, otherwise]);
                self.asm.vex(KORW, true, to, to, Rm::Register(SPARE_MASK), None);
            }
            Op::Compare(relation, kind, a, b) => {
                // One operand may be read from memory, if it is the last one.
                let is_turned = self.values[a].register.is_none() && self.values[b].register.is_some();
                let (a, b) = if is_turned { (b, a) } else { (a, b) };
                let one = self.vector(a);
                let last = self.last(b, kind, true);
                self.used(&[a, b]);
                let to = self.new_mask(id);
                let mask = if self.is_rest { ALL } else { 0 };
                let how = EncodingFields {
                    length: self.length(kind),
                    mask,
                    is_same: last.is_same,
                    unit: last.unit,
                    immediate: Some(predicate(relation, kind.is_float(), is_turned)),
                    ..EncodingFields::default()
                };
                let code = match kind {
                    LaneKind::F64 => VCMPPD,
                    LaneKind::F32 => VCMPPS,
                    LaneKind::I64 => VPCMPQ,
                    _ => VPCMPD,
                };
                self.asm.evex(code, how, to, one, last.rm);
            }
            _ => unreachable!("{op:?} makes no mask"),
        }
    }

    /// A value in a register of vectors. Operands come first, then they leave their registers if that was
    /// the last use, and then the result gets one: maybe the same.
    fn make_vector(&mut self, id: Id, op: Op, kind: LaneKind) {
        let length = self.length(kind);
        match op {
            Op::Unary(op, a) => {
                let last = self.last(a, kind, true);
                self.used(&[a]);
                let to = self.new_vector(id);
                let (code, immediate) = unary_code(op, kind);
                self.unary(code, immediate, length, to, last);
            }
            Op::Convert(from, a) => {
                let narrows = (from, kind) == (LaneKind::I64, LaneKind::I32);
                let last = if narrows || !from.is_float() && !kind.is_float() {
                    let register = self.vector(a);
                    LastOperand { rm: Rm::Register(register), is_same: false, is_guarded: false, unit: 1 }
                } else {
                    self.last(a, from, true)
                };
                self.used(&[a]);
                let to = self.new_vector(id);
                let length = length.max(self.length(from));
                let code = convert_code(from, kind);
                match last.rm {
                    // Here the operand that is written is the last one.
                    Rm::Register(from) if narrows => {
                        self.asm.evex(
                            code,
                            EncodingFields { length, ..EncodingFields::default() },
                            from,
                            0,
                            Rm::Register(to),
                        );
                    }
                    _ => self.unary(code, None, length, to, last),
                }
            }
            Op::ShiftLeft(a, by) | Op::ShiftRight(a, by) => {
                let last = self.last(a, kind, true);
                self.used(&[a]);
                let to = self.new_vector(id);
                let is_left = matches!(op, Op::ShiftLeft(..));
                let how = self.how(length, last, Some(by));
                // Here the register that is written is the second one.
                self.asm.evex(SHIFTS_OF_QUADWORDS, how, if is_left { 6 } else { 2 }, to, last.rm);
            }
            Op::Binary(op, a, b) => {
                let commutes =
                    matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
                let is_turned =
                    commutes && self.values[a].register.is_none() && self.values[b].register.is_some();
                let (a, b) = if is_turned { (b, a) } else { (a, b) };
                let one = self.vector(a);
                let last = self.last(b, kind, true);
                self.used(&[a, b]);
                let to = self.new_vector(id);
                let how = self.how(length, last, None);
                let code = match self.body.isa {
                    Isa::Avx512 => binary_code(op, kind),
                    Isa::Avx2 => avx2::binary_code_of_avx2(op, kind),
                };
                self.instruction(code, how, to, one, last.rm);
            }
            Op::Select(mask, then, otherwise) => {
                let mask_at = self.mask(mask);
                let other = self.vector(otherwise);
                let last = self.last(then, kind, !self.is_rest);
                self.used(&[mask, then, otherwise]);
                let to = self.new_vector(id);
                let how = EncodingFields {
                    length,
                    mask: mask_at,
                    is_same: last.is_same,
                    unit: last.unit,
                    ..EncodingFields::default()
                };
                let code = if kind.bytes() == 8 { VBLENDMPD } else { VBLENDMPS };
                self.asm.evex(code, how, to, other, last.rm);
            }
            Op::Fused { a, b, c, subtracts } => self.fused(id, kind, [a, b, c], subtracts),
            Op::Gather(place, index) => {
                let index_at = self.vector(index);
                let to = self.new_vector(id);
                self.used(&[index]);
                let base = self.pointer(place.pointer);
                self.asm.vex(KXNORW, true, SPARE_MASK, SPARE_MASK, Rm::Register(SPARE_MASK), None);
                let plain = EncodingFields { length, ..EncodingFields::default() };
                self.asm.evex(binary_code(Binary::Xor, LaneKind::I64), plain, to, to, Rm::Register(to));
                let from = MemoryOperand { base, index: Some((index_at, 8)), offset: place.offset };
                let how = EncodingFields { length, mask: SPARE_MASK, unit: 8, ..EncodingFields::default() };
                self.asm.evex(VGATHERQPD, how, to, 0, Rm::Memory(from));
            }
            _ => unreachable!("{op:?} makes no vector"),
        }
    }

    /// An instruction of one operand, which may lie in memory.
    fn unary(&mut self, code: Opcode, immediate: Option<u8>, length: usize, to: u8, last: LastOperand) {
        let how = self.how(length, last, immediate);
        self.instruction(code, how, to, 0, last.rm);
    }

    /// An instruction that both widths of vectors have.
    fn instruction(&mut self, code: Opcode, how: EncodingFields, to: u8, other: u8, rm: Rm) {
        match self.body.isa {
            Isa::Avx512 => self.asm.evex(code, how, to, other, rm),
            Isa::Avx2 => self.asm.vex(code, how.length == 32, to, other, rm, how.immediate),
        }
    }

    /// The fields of an instruction beside its operands. Lanes beyond the row are not read from memory, and
    /// become zero.
    fn how(&self, length: usize, last: LastOperand, immediate: Option<u8>) -> EncodingFields {
        let mask = if last.is_guarded { ALL } else { 0 };
        EncodingFields {
            length,
            mask,
            zeroes: last.is_guarded,
            is_same: last.is_same,
            unit: last.unit,
            immediate,
        }
    }

    /// The product and a sum in one operation: what is written is one of the operands.
    ///
    /// The forms `231` add to the operand that is written, and the forms `213` multiply it. So a register
    /// whose value is used for the last time is taken over, whichever operand it is; if there is none, one
    /// is copied.
    fn fused(&mut self, id: Id, kind: LaneKind, [a, b, c]: [Id; 3], subtracts: bool) {
        let (first, second) = (self.vector(a), self.vector(b));
        let last = self.last(c, kind, true);
        self.used(&[a, b, c]);
        let is_over = |this: &Self, it: u8| this.vectors[usize::from(it)].is_none();
        let third = match last.rm {
            Rm::Register(it) => Some(it),
            _ => None,
        };
        let how = self.how(self.length(kind), last, None);
        if let Some(third) = third.filter(|&it| is_over(self, it)) {
            // `third = first * second + third`
            self.take_vector(id, third);
            self.instruction(fused_code(kind, true, subtracts), how, third, first, Rm::Register(second));
            return;
        }
        let (to, other) = if is_over(self, first) {
            (first, second)
        } else if is_over(self, second) {
            (second, first)
        } else {
            let to = self.new_vector(id);
            self.move_vector(to, first, kind);
            (to, second)
        };
        self.take_vector(id, to);
        // `to = other * to + third`
        self.instruction(fused_code(kind, false, subtracts), how, to, other, last.rm);
    }
}
