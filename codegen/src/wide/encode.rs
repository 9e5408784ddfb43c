//! Instructions of x86-64 as bytes: those on vectors of 128 to 512 bits, on masks, and what a loop needs beside them.
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapters 2.3 (VEX) and 2.7 (EVEX).

/// A general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gpr(pub(super) u8);

pub(super) const RAX: Gpr = Gpr(0);
pub(super) const RCX: Gpr = Gpr(1);
pub(super) const RDX: Gpr = Gpr(2);
pub(super) const RBX: Gpr = Gpr(3);
pub(super) const RSP: Gpr = Gpr(4);
pub(super) const RBP: Gpr = Gpr(5);
pub(super) const RSI: Gpr = Gpr(6);
pub(super) const RDI: Gpr = Gpr(7);
pub(super) const R8: Gpr = Gpr(8);
pub(super) const R9: Gpr = Gpr(9);
pub(super) const R10: Gpr = Gpr(10);
pub(super) const R11: Gpr = Gpr(11);
pub(super) const R12: Gpr = Gpr(12);
pub(super) const R13: Gpr = Gpr(13);
pub(super) const R14: Gpr = Gpr(14);
pub(super) const R15: Gpr = Gpr(15);

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rm {
    /// A register of vectors or masks, or a general one, as the instruction has it.
    Register(u8),
    Memory(MemoryOperand),
    /// Eight bytes, or a part of them, behind the code.
    Pool(u64),
    /// The same eight bytes four times, behind the code.
    PoolOfLanes(u64),
}

/// `base + index * scale + offset`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryOperand {
    pub(super) base: Gpr,
    /// A general register or, where an instruction gathers, one of vectors, and what it counts.
    pub(super) index: Option<(u8, u8)>,
    pub(super) offset: i32,
}

impl MemoryOperand {
    pub(super) fn at(base: Gpr, offset: i32) -> Self {
        Self { base, index: None, offset }
    }
}

/// How an instruction is told from others.
///
/// The tables of the manual write it as `EVEX.512.66.0F38.W1 65`: the prefix, the map, whether it is wide,
/// the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    /// 0 for none, 1 for 66, 2 for F3, 3 for F2.
    pub(super) prefix: u8,
    /// 1 for 0F, 2 for 0F38, 3 for 0F3A.
    pub(super) map: u8,
    pub(super) is_wide: bool,
    pub(super) opcode: u8,
}

impl Opcode {
    pub(super) const fn new(prefix: u8, map: u8, is_wide: bool, opcode: u8) -> Self {
        Self { prefix, map, is_wide, opcode }
    }
}

/// The fields of an instruction on vectors beside its operands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EncodingFields {
    /// 16, 32 or 64.
    pub(super) length: usize,
    /// The mask of the lanes that take part; 0 for all.
    pub(super) mask: u8,
    /// Whether other lanes become zero; else they stay as they are.
    pub(super) zeroes: bool,
    /// Whether the last operand is one element in memory for all lanes.
    pub(super) is_same: bool,
    /// Bytes of the last operand in memory, whose multiples are short as offsets.
    pub(super) unit: usize,
    pub(super) immediate: Option<u8>,
}

/// A place in the code to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label(usize);

/// A constant of the code that is set when it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingConstant(usize);

#[cfg(test)]
thread_local! {
    /// The last operand of each instruction that was written, with a place inside of it.
    pub(super) static LAST_OPERANDS: std::cell::RefCell<Vec<(usize, Rm)>> = std::cell::RefCell::default();
}

/// Bytes of code so far. Jumps and constants have four bytes of 0 where their distance belongs, until all
/// is written.
#[derive(Default)]
pub(super) struct Assembler {
    bytes: Vec<u8>,
    labels: Vec<Option<usize>>,
    /// Where four bytes hold the distance to a label.
    jumps: Vec<(usize, Label)>,
    /// Where four bytes hold the distance to a constant, how many bytes of the instruction follow, and how often the
    /// constant stands there.
    constants: Vec<(usize, usize, u64, usize)>,
}

impl Assembler {
    /// A label that stands nowhere yet; each has to be bound before the code is finished.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts it here, before the next instruction.
    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.bytes.len());
    }

    /// The code, its constants behind it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels[label.0].expect("each label stands somewhere");
            self.patch(at, target, 0);
        }
        let mut constants = std::mem::take(&mut self.constants);
        // The largest first, so that each is aligned if the first one is. Equal constants stand there once.
        constants.sort_by_key(|&(_, _, _, times)| std::cmp::Reverse(times));
        let alignment = 8 * constants.first().map_or(1, |&(_, _, _, times)| times);
        while !self.bytes.len().is_multiple_of(alignment) {
            self.bytes.push(0xcc);
        }
        let mut known = std::collections::BTreeMap::new();
        for (at, behind, bits, times) in constants {
            let target = *known.entry((bits, times)).or_insert_with(|| {
                self.bytes.extend(bits.to_le_bytes().repeat(times));
                self.bytes.len() - 8 * times
            });
            self.patch(at, target, behind);
        }
        self.bytes
    }

    /// Writes a distance. The processor counts it from the end of the instruction, which is four bytes
    /// behind the distance, and `behind` more if there is an immediate.
    fn patch(&mut self, at: usize, target: usize, behind: usize) {
        let distance = target as i64 - (at + 4 + behind) as i64;
        let distance = i32::try_from(distance).expect("a loop's code is short");
        self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    // Instructions on vectors and masks.

    /// An instruction with an EVEX prefix.
    ///
    /// `register` is the one that is written, as a rule, `other` the first operand, `rm` the last one. The
    /// number of a register has five bits; the prefix holds the upper ones, inverted. The number of a mask
    /// has three.
    pub(super) fn evex(&mut self, code: Opcode, how: EncodingFields, register: u8, other: u8, rm: Rm) {
        let (base, index) = match rm {
            Rm::Register(it) => (it & 15, (it >> 4) << 3),
            Rm::Memory(it) => (it.base.0, it.index.map_or(0, |(index, _)| index)),
            Rm::Pool(_) | Rm::PoolOfLanes(_) => (0, 0),
        };
        // Of a gathered index, the fifth bit stands where that of the second operand does.
        let fifth = match rm {
            Rm::Memory(MemoryOperand { index: Some((index, _)), .. }) if index > 15 => 1,
            _ => other >> 4,
        };
        let length = match how.length {
            64 => 2,
            32 => 1,
            _ => 0,
        };
        let not = |bit: u8, at: u8| ((bit & 1) ^ 1) << at;
        self.bytes.extend([
            0x62,
            not(register >> 3, 7) | not(index >> 3, 6) | not(base >> 3, 5) | not(register >> 4, 4) | code.map,
            u8::from(code.is_wide) << 7 | (!other & 15) << 3 | 4 | code.prefix,
            u8::from(how.zeroes) << 7 | length << 5 | u8::from(how.is_same) << 4 | not(fifth, 3) | how.mask,
            code.opcode,
        ]);
        self.operands(register, rm, how.unit, how.immediate);
    }

    /// An instruction with a VEX prefix; `is_long` for 256 bits.
    ///
    /// Always the long form of three bytes, also where two would do: code is short anyway, and there is one
    /// way to test.
    pub(super) fn vex(
        &mut self,
        code: Opcode,
        is_long: bool,
        register: u8,
        other: u8,
        rm: Rm,
        immediate: Option<u8>,
    ) {
        let (base, index) = match rm {
            Rm::Register(it) => (it, 0),
            Rm::Memory(it) => (it.base.0, it.index.map_or(0, |(index, _)| index)),
            Rm::Pool(_) | Rm::PoolOfLanes(_) => (0, 0),
        };
        let not = |bit: u8, at: u8| ((bit & 1) ^ 1) << at;
        self.bytes.extend([
            0xc4,
            not(register >> 3, 7) | not(index >> 3, 6) | not(base >> 3, 5) | code.map,
            u8::from(code.is_wide) << 7 | (!other & 15) << 3 | u8::from(is_long) << 2 | code.prefix,
            code.opcode,
        ]);
        self.operands(register, rm, 1, immediate);
    }

    /// The operands behind the opcode; offsets that are multiples of `unit` may be short.
    fn operands(&mut self, register: u8, rm: Rm, unit: usize, immediate: Option<u8>) {
        #[cfg(test)]
        LAST_OPERANDS.with_borrow_mut(|it| it.push((self.bytes.len(), rm)));
        let register = (register & 7) << 3;
        match rm {
            Rm::Register(it) => self.bytes.push(0xc0 | register | it & 7),
            Rm::Memory(it) => self.memory(register, it, unit),
            Rm::Pool(bits) | Rm::PoolOfLanes(bits) => {
                let times = if matches!(rm, Rm::Pool(_)) { 1 } else { 4 };
                self.bytes.push(register | 5);
                self.constants.push((self.bytes.len(), usize::from(immediate.is_some()), bits, times));
                self.bytes.extend([0; 4]);
            }
        }
        self.bytes.extend(immediate);
    }

    /// The bytes ModRM, SIB where needed, and the offset: none, one byte or four. With EVEX, one byte
    /// counts in units of what the instruction reads, so it reaches farther.
    fn memory(&mut self, register: u8, MemoryOperand { base, index, offset }: MemoryOperand, unit: usize) {
        let unit = i32::try_from(unit.max(1)).unwrap_or(1);
        let short = if offset % unit == 0 { i8::try_from(offset / unit).ok() } else { None };
        // Without an offset, the codes of these registers have another meaning.
        let is_bare = offset == 0 && base.0 & 7 != RBP.0;
        let mode = match short {
            _ if is_bare => 0,
            Some(_) => 0x40,
            None => 0x80,
        };
        let needs_sib = index.is_some() || base.0 & 7 == RSP.0;
        self.bytes.push(mode | register | if needs_sib { 4 } else { base.0 & 7 });
        if needs_sib {
            let (index, scale) = index.unwrap_or((4, 1));
            let scale = u8::try_from(scale.trailing_zeros()).unwrap_or(0);
            self.bytes.push(scale << 6 | (index & 7) << 3 | base.0 & 7);
        }
        match short {
            _ if is_bare => {}
            Some(short) => self.bytes.push(short.to_le_bytes()[0]),
            None => self.bytes.extend(offset.to_le_bytes()),
        }
    }

    // Instructions on general registers, of 64 bits.

    /// An instruction with REX.W. Where an opcode has a digit in the manual (`81 /5`), that is the
    /// register.
    fn legacy(&mut self, opcode: &[u8], register: u8, rm: Rm) {
        let (base, index) = match rm {
            Rm::Register(it) => (it, 0),
            Rm::Memory(it) => (it.base.0, it.index.map_or(0, |(index, _)| index)),
            Rm::Pool(_) | Rm::PoolOfLanes(_) => (0, 0),
        };
        self.bytes.push(0x48 | (register >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | base >> 3 & 1);
        self.bytes.extend_from_slice(opcode);
        self.operands(register, rm, 1, None);
    }

    /// `push`, with a prefix that says nothing for the lower eight registers.
    pub(super) fn push(&mut self, Gpr(it): Gpr) {
        self.bytes.extend([0x40 | it >> 3, 0x50 | it & 7]);
    }

    pub(super) fn pop(&mut self, Gpr(it): Gpr) {
        self.bytes.extend([0x40 | it >> 3, 0x58 | it & 7]);
    }

    pub(super) fn move_to(&mut self, to: Gpr, from: Gpr) {
        self.legacy(&[0x8b], to.0, Rm::Register(from.0));
    }

    pub(super) fn load(&mut self, to: Gpr, from: MemoryOperand) {
        self.legacy(&[0x8b], to.0, Rm::Memory(from));
    }

    pub(super) fn store(&mut self, to: MemoryOperand, from: Gpr) {
        self.legacy(&[0x89], from.0, Rm::Memory(to));
    }

    /// `lea`: the address itself, nothing is read.
    pub(super) fn address(&mut self, to: Gpr, of: MemoryOperand) {
        self.legacy(&[0x8d], to.0, Rm::Memory(of));
    }

    pub(super) fn constant(&mut self, to: Gpr, bits: u64) {
        self.bytes.extend([0x48 | to.0 >> 3, 0xb8 | to.0 & 7]);
        self.bytes.extend(bits.to_le_bytes());
    }

    pub(super) fn store_zero(&mut self, to: MemoryOperand) {
        self.legacy(&[0xc7], 0, Rm::Memory(to));
        self.bytes.extend([0; 4]);
    }

    pub(super) fn add_constant(&mut self, to: Gpr, value: i32) {
        self.legacy(&[0x81], 0, Rm::Register(to.0));
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn and_constant(&mut self, to: Gpr, value: i32) {
        self.legacy(&[0x81], 4, Rm::Register(to.0));
        self.bytes.extend(value.to_le_bytes());
    }

    /// Compares with 0.
    pub(super) fn test(&mut self, it: Gpr) {
        self.legacy(&[0x85], it.0, Rm::Register(it.0));
    }

    /// Less another register; the flags tell how the result compares with 0.
    pub(super) fn subtract(&mut self, to: Gpr, value: Gpr) {
        self.legacy(&[0x2b], to.0, Rm::Register(value.0));
    }

    pub(super) fn add(&mut self, to: Gpr, value: MemoryOperand) {
        self.legacy(&[0x03], to.0, Rm::Memory(value));
    }

    /// For a jump that asks how `one` compares with `other`.
    pub(super) fn compare(&mut self, one: Gpr, other: Gpr) {
        self.legacy(&[0x3b], one.0, Rm::Register(other.0));
    }

    pub(super) fn increment(&mut self, what: MemoryOperand) {
        self.legacy(&[0xff], 0, Rm::Memory(what));
    }

    /// Less a constant that is set when it is known.
    pub(super) fn subtract_later(&mut self, from: Gpr) -> PendingConstant {
        self.legacy(&[0x81], 5, Rm::Register(from.0));
        self.bytes.extend([0; 4]);
        PendingConstant(self.bytes.len() - 4)
    }

    pub(super) fn set_later(&mut self, PendingConstant(at): PendingConstant, value: i32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// To the left by as much as `rcx` says.
    pub(super) fn shift_left(&mut self, it: Gpr) {
        self.legacy(&[0xd3], 4, Rm::Register(it.0));
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.bytes.push(0xe9);
        self.jumps.push((self.bytes.len(), to));
        self.bytes.extend([0; 4]);
    }

    /// Jumps if the last comparison came out so.
    pub(super) fn jump_if(&mut self, condition: Condition, to: Label) {
        self.bytes.extend([0x0f, 0x80 | condition as u8]);
        self.jumps.push((self.bytes.len(), to));
        self.bytes.extend([0; 4]);
    }

    pub(super) fn call(&mut self, Gpr(it): Gpr) {
        self.bytes.extend([0x40 | it >> 3, 0xff, 0xd0 | it & 7]);
    }

    /// `prefetcht0`. It never traps, also for an address where there is no memory.
    pub(super) fn fetch(&mut self, what: MemoryOperand) {
        self.legacy(&[0x0f, 0x18], 1, Rm::Memory(what));
    }

    /// `vzeroupper`, before code that may use the older instructions of 128 bits: these are slow as long as
    /// the upper halves of registers hold something.
    pub(super) fn zero_upper(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    pub(super) fn return_(&mut self) {
        self.bytes.push(0xc3);
    }
}

/// How a comparison came out, by the number that the processor has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Equal = 4,
    NotEqual = 5,
    LessOrEqual = 14,
    Greater = 15,
}
