//! Where values are while a block runs: registers, slots of the frame, memory that is read where it is used.

use super::codes::{
    KANDW, KMOVW, KMOVW_FROM_GENERAL, KMOVW_TO, KXORW, broadcast_code, load_code, store_code,
};
use super::emit::{ALL, AT, Emit, LastOperand, MemoryLocation, N_MASKS, slot_at, word};
use super::encode::{EncodingFields, Gpr, MemoryOperand, R11, Rm};
use super::nodes::{ElementAddress, Id, Isa, LaneKind};

// A value is in a register, or in memory, or in both. A source in memory is never wrong, since `settle`
// removes it before the memory changes. Registers of the current instruction are `held`: the emitter
// reuses none of them before it has written the instruction.
impl Emit<'_> {
    /// Bytes of a value's vector.
    pub(super) fn length(&self, kind: LaneKind) -> usize {
        match (self.body.isa, kind) {
            (Isa::Avx2, LaneKind::Mask) => self.body.isa.bytes(),
            _ => self.body.lanes * kind.bytes(),
        }
    }

    /// A pointer in a register; `r11` holds it up to the next pointer only.
    pub(super) fn pointer(&mut self, pointer: usize) -> Gpr {
        self.pointers[pointer].unwrap_or_else(|| {
            self.asm.load(R11, word(self.body.pointers[pointer].word));
            R11
        })
    }

    /// Elements side by side, each of so many bytes.
    ///
    /// The iteration is the index of the address, so no pointer moves; vectors of a turn behind the first
    /// have it in the offset.
    pub(super) fn elements(&mut self, place: ElementAddress, bytes: usize) -> MemoryOperand {
        let base = self.pointer(place.pointer);
        let scale = u8::try_from(bytes).expect("elements are small");
        let offset = place.offset + self.iterations_before() * i32::from(scale);
        MemoryOperand { base, index: Some((AT.0, scale)), offset }
    }

    /// The operand of an instruction that may be read from memory.
    ///
    /// A value is read from memory at its last use: then no register is spent on it. A slot or a constant is
    /// also read from memory where no register is free. `may_guard` tells whether the instruction can leave
    /// out lanes that do not exist, as is necessary for elements at the end of a row.
    pub(super) fn last(&mut self, id: Id, kind: LaneKind, may_guard: bool) -> LastOperand {
        let length = self.length(kind);
        let register =
            |it: u8| LastOperand { rm: Rm::Register(it), is_same: false, is_guarded: false, unit: 1 };
        if let Some(it) = self.values[id].register {
            self.held.push(it);
            return register(it);
        }
        let source = self.values[id].memory.expect("what is used is somewhere");
        let is_last_use = self.values[id].uses.len() <= 1;
        let folds = match source {
            MemoryLocation::Elements(_) if self.body.isa == Isa::Avx2 => is_last_use && !self.is_rest,
            MemoryLocation::Elements(_) => is_last_use && may_guard,
            // These processors take no operand from memory for all lanes.
            MemoryLocation::Element(_) | MemoryLocation::Word(_) if self.body.isa == Isa::Avx2 => false,
            MemoryLocation::Element(_) => is_last_use,
            MemoryLocation::Slot(_) | MemoryLocation::Word(_) | MemoryLocation::Constant(_) => {
                is_last_use || !self.vectors[..self.n_vectors].iter().any(Option::is_none)
            }
        };
        if !folds {
            return register(self.vector(id));
        }
        let is_guarded = self.is_rest && matches!(source, MemoryLocation::Elements(_));
        let is_same = source.is_one();
        let unit = if is_same { kind.bytes() } else { length };
        let rm = self.memory(source, kind);
        LastOperand { rm, is_same, is_guarded, unit }
    }

    /// A source as an operand. Constants lie behind the code: once with AVX-512, which spreads them, and
    /// once for each lane with AVX2.
    pub(super) fn memory(&mut self, source: MemoryLocation, kind: LaneKind) -> Rm {
        match source {
            MemoryLocation::Elements(place) => Rm::Memory(self.elements(place, kind.bytes())),
            MemoryLocation::Element(place) => {
                Rm::Memory(MemoryOperand::at(self.pointer(place.pointer), place.offset))
            }
            MemoryLocation::Slot(slot) => Rm::Memory(slot_at(slot)),
            MemoryLocation::Word(at) => Rm::Memory(word(at)),
            MemoryLocation::Constant(bits) if self.body.isa == Isa::Avx2 => {
                Rm::PoolOfLanes(if kind.bytes() == 4 { bits << 32 | bits } else { bits })
            }
            MemoryLocation::Constant(bits) => Rm::Pool(bits),
        }
    }

    /// The value in a register, for the instruction at hand.
    pub(super) fn vector(&mut self, id: Id) -> u8 {
        if let Some(it) = self.values[id].register {
            self.held.push(it);
            return it;
        }
        let register = self.free_vector();
        self.fill(id, register);
        self.take_vector(id, register);
        register
    }

    /// Loads a value that is in memory.
    pub(super) fn fill(&mut self, id: Id, register: u8) {
        let kind = self.body.values[id].kind;
        let source = self.values[id].memory.expect("what is used is somewhere");
        if self.body.isa == Isa::Avx2 {
            return self.fill_avx2(kind, source, register);
        }
        let length = self.length(kind);
        let rm = self.memory(source, kind);
        if source.is_one() {
            self.asm.evex(
                broadcast_code(kind),
                EncodingFields { length, unit: kind.bytes(), ..EncodingFields::default() },
                register,
                0,
                rm,
            );
        } else {
            let is_guarded = self.is_rest && matches!(source, MemoryLocation::Elements(_));
            let mask = if is_guarded { ALL } else { 0 };
            let how = EncodingFields {
                length,
                mask,
                zeroes: is_guarded,
                unit: length,
                ..EncodingFields::default()
            };
            self.asm.evex(load_code(kind), how, register, 0, rm);
        }
    }

    /// Notes that a register has a value now.
    pub(super) fn take_vector(&mut self, id: Id, register: u8) {
        self.vectors[usize::from(register)] = Some(id);
        self.values[id].register = Some(register);
        self.held.push(register);
    }

    /// A register for a value that is made now; it may be one that an operand has left.
    pub(super) fn new_vector(&mut self, id: Id) -> u8 {
        let register = self.free_vector();
        self.take_vector(id, register);
        register
    }

    /// A register that is free, or is freed: the one whose value is used last of all. That value is written
    /// to a slot, unless it lies in memory or nothing uses it any more.
    pub(super) fn free_vector(&mut self) -> u8 {
        if let Some(free) = self.vectors[..self.n_vectors].iter().position(Option::is_none) {
            return u8::try_from(free).expect("few registers");
        }
        let next_use = |it: &Id| self.values[*it].uses.last().copied().unwrap_or(usize::MAX);
        let farthest = self
            .vectors
            .iter()
            .enumerate()
            .filter_map(|(at, id)| Some((u8::try_from(at).ok()?, (*id)?)))
            .filter(|(at, id)| !self.held.contains(at) && !self.fixed.contains_key(id))
            .max_by_key(|(at, id)| (next_use(id), std::cmp::Reverse(*at)));
        let (register, id) = farthest.expect("an instruction has few operands");
        if self.values[id].memory.is_none() && !self.values[id].uses.is_empty() {
            let slot = self.n_slots;
            self.n_slots += 1;
            self.keep(slot, id);
            self.values[id].memory = Some(MemoryLocation::Slot(slot));
        }
        self.values[id].register = None;
        self.vectors[usize::from(register)] = None;
        register
    }

    /// Writes a value to a slot, in its own length.
    pub(super) fn keep(&mut self, slot: usize, id: Id) {
        let kind = self.body.values[id].kind;
        if kind == LaneKind::Mask && self.body.isa == Isa::Avx512 {
            let register = self.mask(id);
            let to = Rm::Memory(slot_at(slot));
            self.asm.vex(KMOVW_TO, false, register, 0, to, None);
            return;
        }
        let register = self.vector(id);
        let length = self.length(kind);
        let to = Rm::Memory(slot_at(slot));
        match self.body.isa {
            Isa::Avx512 => {
                let how = EncodingFields { length, unit: length, ..EncodingFields::default() };
                self.asm.evex(store_code(kind), how, register, 0, to);
            }
            Isa::Avx2 => self.asm.vex(store_code(kind), length == 32, register, 0, to, None),
        }
    }

    /// Notes one more use of the operands. Those that have no further use leave their registers.
    pub(super) fn used(&mut self, operands: &[Id]) {
        for &id in operands {
            self.values[id].uses.pop();
            if !self.values[id].uses.is_empty() || self.fixed.contains_key(&id) {
                continue;
            }
            if let Some(register) = self.values[id].register.take() {
                let has_masks = self.body.isa == Isa::Avx512;
                let bank: &mut [Option<Id>] = if has_masks && self.body.values[id].kind == LaneKind::Mask {
                    &mut self.masks
                } else {
                    &mut self.vectors
                };
                bank[usize::from(register)] = None;
            }
        }
    }

    /// Loads values that would be read too late where memory changes.
    ///
    /// Values that lie in the changed memory and are still used go into registers. None is read from there
    /// again.
    pub(super) fn settle(&mut self, changes: impl Fn(MemoryLocation) -> bool) {
        for at in 0..self.seen.len() {
            let id = self.seen[at];
            let value = &self.values[id];
            if !value.memory.is_some_and(&changes) {
                continue;
            }
            if !value.uses.is_empty() && value.register.is_none() {
                let (held, held_masks) = (self.held.len(), self.held_masks.len());
                if self.body.values[id].kind == LaneKind::Mask {
                    self.mask(id);
                } else {
                    self.vector(id);
                }
                self.held.truncate(held);
                self.held_masks.truncate(held_masks);
            }
            self.values[id].memory = None;
        }
    }

    /// Loads what is still to be read of the array that a store writes. Other arrays do not overlap it.
    pub(super) fn read_before_write(&mut self, place: ElementAddress) {
        let array = self.body.pointers[place.pointer].array;
        let pointers = &self.body.pointers;
        self.settle(|source| match source {
            MemoryLocation::Elements(it) | MemoryLocation::Element(it) => pointers[it.pointer].array == array,
            _ => false,
        });
    }

    /// The mask in a register, for the instruction at hand; with AVX2 that is one of vectors.
    ///
    /// With AVX-512, a mask that always holds is that of all lanes which have an iteration, and one from the caller is
    /// cut to these.
    pub(super) fn mask(&mut self, id: Id) -> u8 {
        if self.body.isa == Isa::Avx2 {
            return self.vector(id);
        }
        if let Some(it) = self.values[id].register {
            self.held_masks.push(it);
            return it;
        }
        let source = self.values[id].memory.expect("what is used is somewhere");
        if source == MemoryLocation::Constant(u64::MAX) {
            return ALL;
        }
        let register = self.new_mask(id);
        match source {
            // Any other constant holds for no lane: a register differs from itself nowhere.
            MemoryLocation::Constant(_) => {
                self.asm.vex(KXORW, true, register, register, Rm::Register(register), None);
            }
            MemoryLocation::Word(at) => {
                self.asm.vex(KMOVW, false, register, 0, Rm::Memory(word(at)), None);
                self.asm.vex(KANDW, true, register, register, Rm::Register(ALL), None);
            }
            MemoryLocation::Slot(slot) => {
                let from = Rm::Memory(slot_at(slot));
                self.asm.vex(KMOVW, false, register, 0, from, None);
            }
            MemoryLocation::Elements(_) | MemoryLocation::Element(_) => {
                unreachable!("masks are loaded where they are made")
            }
        }
        register
    }

    /// A register of masks for a value; if none is free, chosen as [`Self::free_vector`] does.
    pub(super) fn new_mask(&mut self, id: Id) -> u8 {
        // 0 means all lanes where an instruction names a mask.
        let free = (1..N_MASKS).find(|&it| self.masks[it].is_none());
        let register = free.unwrap_or_else(|| {
            let next_use = |it: Id| self.values[it].uses.last().copied().unwrap_or(usize::MAX);
            let farthest = (1..N_MASKS)
                .filter_map(|at| Some((at, self.masks[at]?)))
                .filter(|(at, _)| !self.held_masks.iter().any(|it| usize::from(*it) == *at))
                .max_by_key(|(_, id)| next_use(*id));
            let (at, old) = farthest.expect("an instruction has few operands");
            if self.values[old].memory.is_none() && !self.values[old].uses.is_empty() {
                let slot = self.n_slots;
                self.n_slots += 1;
                self.keep(slot, old);
                self.values[old].memory = Some(MemoryLocation::Slot(slot));
            }
            self.values[old].register = None;
            at
        });
        self.masks[register] = Some(id);
        let register = u8::try_from(register).expect("few registers");
        self.values[id].register = Some(register);
        self.held_masks.push(register);
        register
    }

    /// Copies a register.
    pub(super) fn move_vector(&mut self, to: u8, from: u8, kind: LaneKind) {
        let length = self.length(kind);
        match self.body.isa {
            Isa::Avx512 => {
                let how = EncodingFields { length, ..EncodingFields::default() };
                self.asm.evex(load_code(kind), how, to, 0, Rm::Register(from));
            }
            Isa::Avx2 => self.asm.vex(load_code(kind), length == 32, to, 0, Rm::Register(from), None),
        }
    }

    /// Bits of a general register become a mask.
    pub(super) fn move_mask_from(&mut self, to: u8, from: Gpr) {
        self.asm.vex(KMOVW_FROM_GENERAL, false, to, 0, Rm::Register(from.0), None);
    }
}
