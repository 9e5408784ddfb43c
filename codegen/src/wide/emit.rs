//! A body as machine code: the function that runs all iterations of a loop.
//!
//! Code that differs for vectors of 256 bits stands in [`super::avx2`].
//!
//! Values live in registers within a block, and in slots of the frame from block to block. When a register is
//! needed, the value whose next use is farthest gives up its own (L. A. Belady, "A study of replacement
//! algorithms for a virtual-storage computer", 1966). A value that lies in memory anyway is read where it is
//! used.

use std::collections::BTreeMap;

use isobar_compiler::loops::nodes::LINE_BYTES;

use super::avx2;
use super::codes::{
    KMOVW, KMOVW_TO, KMOVW_TO_GENERAL, VBROADCASTSD, VBROADCASTSS, VPMOVDB, VPMOVQB, store_code, stream_code,
};
use super::encode::{
    Assembler, Condition, EncodingFields, Gpr, Label, MemoryOperand, R8, R9, R10, R11, R12, R13, R14, R15,
    RAX, RBP, RBX, RCX, RDI, RDX, RSI, RSP, Rm,
};
use super::nodes::{Body, ElementAddress, End, Id, Isa, LaneKind, Op, Step};

// Registers beside these: `rcx` and `r11` hold something for a moment, `rsp` and `rbp` are the frame's.
//
// ```text
// rbp - 40   rbx, r12 … r15, as the caller had them
// rbp - 72   words, iteration, last position and lanes, while the host is called
// rbp - 88   STREAMS, FOUND
// rsp        slots of 64 bytes, at a multiple of 64
// ```

/// Where the caller's words are.
const WORDS: Gpr = RDI;
/// The iteration of the first lane, counted from the start of the loop.
pub(super) const AT: Gpr = RAX;
/// The last position at which all lanes have an iteration.
const LAST: Gpr = RSI;
/// The registers that pointers may stay in.
const POINTERS: [Gpr; 9] = [RDX, R8, R9, R10, RBX, R12, R13, R14, R15];
const SAVED: [Gpr; 5] = [RBX, R12, R13, R14, R15];
/// The masks of all lanes, and one for a moment.
pub(super) const ALL: u8 = 7;
pub(super) const SPARE_MASK: u8 = 6;
pub(super) const N_MASKS: usize = 6;
/// One vector of 512 bits, so that each slot is aligned for whatever it holds.
const SLOT_BYTES: i32 = 64;
/// Vectors that are done in a turn of several blocks.
const TIMES_OF_BLOCKS: i32 = 2;
/// The same, where functions have blocks of their own.
const TIMES_OF_CUTS: i32 = 4;
/// Steps of a body that is done more than once in a turn.
const MOST_STEPS: usize = 96;
/// Of the frame: whether rows are written past the caches.
const STREAMS: MemoryOperand = MemoryOperand { base: RBP, index: None, offset: -80 };
/// Whether a mask holds for some lane of the vectors before, in the same turn.
const FOUND: MemoryOperand = MemoryOperand { base: RBP, index: None, offset: -88 };

/// Where something stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryLocation {
    Elements(ElementAddress),
    /// One for all lanes.
    Element(ElementAddress),
    Slot(usize),
    Word(usize),
    Constant(u64),
}

impl MemoryLocation {
    pub(super) fn is_one(self) -> bool {
        matches!(self, MemoryLocation::Element(_) | MemoryLocation::Word(_) | MemoryLocation::Constant(_))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct ValueLocation {
    /// In the bank of its kind: vectors, or masks where these are registers of their own.
    pub(super) register: Option<u8>,
    pub(super) memory: Option<MemoryLocation>,
    /// Of the block at hand, those to come, the next one last.
    pub(super) uses: Vec<usize>,
}

/// The last operand as an instruction has it.
#[derive(Clone, Copy)]
pub(super) struct LastOperand {
    pub(super) rm: Rm,
    pub(super) is_same: bool,
    /// Whether lanes that take no part must not be read.
    pub(super) is_guarded: bool,
    pub(super) unit: usize,
}

pub(super) struct Emit<'b> {
    pub(super) body: &'b Body,
    pub(super) asm: Assembler,
    pub(super) values: Vec<ValueLocation>,
    /// The values of the block at hand.
    pub(super) seen: Vec<Id>,
    pub(super) vectors: [Option<Id>; 32],
    pub(super) masks: [Option<Id>; 8],
    /// Registers of the instruction at hand.
    pub(super) held: Vec<u8>,
    pub(super) held_masks: Vec<u8>,
    pub(super) pointers: Vec<Option<Gpr>>,
    pub(super) n_slots: usize,
    /// Vectors that are done in a turn, and which of them is at hand.
    times: i32,
    pub(super) time: i32,
    /// Whether lanes are missing.
    pub(super) is_rest: bool,
    /// Whether rows go past the caches.
    pub(super) is_streaming: bool,
    pub(super) labels: Vec<Label>,
    pub(super) done: Label,
    /// Values of the whole loop that have a register.
    pub(super) fixed: BTreeMap<Id, u8>,
    /// Registers of vectors that values may have.
    pub(super) n_vectors: usize,
    /// The slot of the mask of those lanes that have an iteration, where masks are vectors.
    pub(super) lanes_slot: usize,
}

/// The function of a body. Its argument is the address of the words; the first word is the number of
/// iterations.
pub(in super::super) fn emit(body: &Body) -> Vec<u8> {
    let mut asm = Assembler::default();
    let done = asm.label();
    let mut this = Emit {
        body,
        asm,
        values: vec![ValueLocation::default(); body.values.len()],
        seen: Vec::new(),
        vectors: [None; 32],
        masks: [None; 8],
        held: Vec::new(),
        held_masks: Vec::new(),
        pointers: Vec::new(),
        n_slots: body.n_slots * most_times(body).unsigned_abs() as usize,
        times: 1,
        time: 0,
        is_rest: false,
        is_streaming: false,
        labels: Vec::new(),
        done,
        fixed: BTreeMap::new(),
        lanes_slot: 0,
        n_vectors: match body.isa {
            Isa::Avx512 => 32,
            Isa::Avx2 => avx2::N_VECTORS,
        },
    };
    this.function();
    this.asm.finish()
}

impl Emit<'_> {
    /// All of the function. The loop is unrolled: each turn computes several vectors. For `n` iterations:
    ///
    /// ```text
    ///     at = 0, last = n - lanes
    ///     while at + (times - 1) * lanes <= last { times vectors; at += times * lanes }
    ///     while at <= last { one vector; at += lanes }
    ///     if at < n { one vector that ends with the row, or one whose mask leaves lanes out }
    /// ```
    ///
    /// Where rows may go past the caches, the loops are there twice, and one of the two runs. Alignment
    /// decides which; it is tested once, before the loops.
    fn function(&mut self) {
        let lanes = i32::try_from(self.body.lanes).expect("few lanes");
        let [plain, past_caches, others, end] = std::array::from_fn(|_| self.asm.label());
        let streamed = self.streamed();
        self.asm.push(RBP);
        self.asm.move_to(RBP, RSP);
        SAVED.iter().for_each(|&it| self.asm.push(it));
        self.asm.add_constant(RSP, -64);
        self.asm.and_constant(RSP, -64);
        let frame = self.asm.subtract_later(RSP);
        self.load_pointers();
        self.asm.load(LAST, MemoryOperand::at(WORDS, 0));
        self.asm.add_constant(LAST, -lanes);
        if self.body.isa == Isa::Avx512 {
            self.asm.constant(R11, (1 << self.body.lanes) - 1);
            self.move_mask_from(ALL, R11);
        }
        self.choose_fixed();
        self.asm.subtract(AT, AT);
        if !streamed.is_empty() {
            self.asm.store_zero(STREAMS);
            self.find_lines(&streamed, plain);
        }

        // As many as fill all lanes, as long as there are so many.
        self.asm.bind(plain);
        if !streamed.is_empty() {
            self.asm.load(R11, STREAMS);
            self.asm.test(R11);
            self.asm.jump_if(Condition::NotEqual, past_caches);
        }
        self.full_lanes(others);
        if !streamed.is_empty() {
            self.asm.bind(past_caches);
            self.is_streaming = true;
            self.full_lanes(others);
            self.is_streaming = false;
        }

        self.asm.bind(others);
        self.asm.load(RCX, MemoryOperand::at(WORDS, 0));
        self.asm.subtract(RCX, AT);
        self.asm.jump_if(Condition::LessOrEqual, end);
        if self.ends_with_whole() {
            let few = self.asm.label();
            // Where one vector was whole, the row has at least as many.
            self.asm.test(AT);
            self.asm.jump_if(Condition::Equal, few);
            self.asm.move_to(AT, LAST);
            self.blocks(end);
            self.asm.jump(end);
            self.asm.bind(few);
        }
        match self.body.isa {
            Isa::Avx512 => {
                self.asm.constant(R11, 1);
                self.asm.shift_left(R11);
                self.asm.add_constant(R11, -1);
                self.move_mask_from(ALL, R11);
            }
            Isa::Avx2 => self.note_lanes(RCX),
        }
        self.is_rest = true;
        self.blocks(end);
        self.asm.bind(end);

        self.asm.zero_upper();
        self.asm.address(RSP, MemoryOperand::at(RBP, -40));
        SAVED.iter().rev().for_each(|&it| self.asm.pop(it));
        self.asm.pop(RBP);
        self.asm.return_();
        self.asm.set_later(frame, i32::try_from(self.n_slots).expect("few slots") * SLOT_BYTES);
    }

    /// Whether the last vector ends with the row, and does again what the one before it did. Masks cost more where they
    /// are vectors: what is stored through them reaches the next loop's reads late.
    fn ends_with_whole(&self) -> bool {
        self.body.isa == Isa::Avx2 && self.body.may_repeat
    }

    /// Loops over the iterations that fill all lanes: first several vectors of them in a turn, then one by one.
    fn full_lanes(&mut self, others: Label) {
        let lanes = i32::try_from(self.body.lanes).expect("few lanes");
        let times = most_times(self.body);
        if times > 1 {
            let rest = self.asm.label();
            self.asm.add_constant(LAST, -lanes * (times - 1));
            self.turns(times, rest);
            self.asm.bind(rest);
            self.asm.add_constant(LAST, lanes * (times - 1));
        }
        self.turns(1, others);
        self.asm.jump(others);
    }

    /// A loop that does so many vectors in a turn, until the first of them would come behind the last position.
    fn turns(&mut self, times: i32, end: Label) {
        let lanes = i32::try_from(self.body.lanes).expect("few lanes");
        let top = self.asm.label();
        self.asm.compare(AT, LAST);
        self.asm.jump_if(Condition::Greater, end);
        self.asm.bind(top);
        self.times = times;
        let next = self.asm.label();
        self.blocks(next);
        self.asm.bind(next);
        self.times = 1;
        self.asm.add_constant(AT, lanes * times);
        self.asm.compare(AT, LAST);
        self.asm.jump_if(Condition::LessOrEqual, top);
    }

    /// Where something is written past the caches.
    fn streamed(&self) -> Vec<(ElementAddress, usize)> {
        let mut places = Vec::new();
        for step in self.body.blocks.iter().flat_map(|it| &it.steps) {
            if let Step::Store { place, value, is_streamed: true, .. } = step {
                places.push((*place, self.body.values[*value].kind.bytes()));
            }
        }
        places
    }

    /// Notes whether all that may be written past the caches starts with a line. Where rows start in the middle of one,
    /// lines that are written in part cost more than the others bring.
    fn find_lines(&mut self, streamed: &[(ElementAddress, usize)], plain: Label) {
        if streamed.iter().any(|&(_, bytes)| self.body.lanes * bytes != self.body.isa.bytes()) {
            return;
        }
        for &(place, _) in streamed {
            let base = self.pointer(place.pointer);
            self.asm.address(R11, MemoryOperand::at(base, place.offset));
            self.asm.and_constant(R11, 63);
            self.asm.jump_if(Condition::NotEqual, plain);
        }
        self.asm.increment(STREAMS);
    }

    /// Gives the pointers that are used most a register each. The others are loaded into `r11` at each use.
    fn load_pointers(&mut self) {
        self.pointers = vec![None; self.body.pointers.len()];
        let mut counts = vec![0_usize; self.body.pointers.len()];
        let mut count = |it: ElementAddress| counts[it.pointer] += 1;
        for step in self.body.blocks.iter().flat_map(|it| &it.steps) {
            match step {
                Step::Make(id) => match self.body.values[*id].op {
                    Op::Load(it) | Op::LoadOne(it) | Op::LoadBools(it) | Op::Gather(it, _) => count(it),
                    _ => {}
                },
                Step::Store { place, .. } | Step::StoreBools { place, .. } | Step::Fetch { place } => {
                    count(*place)
                }
                _ => {}
            }
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&it| std::cmp::Reverse(counts[it]));
        for (&pointer, register) in order.iter().zip(POINTERS) {
            self.pointers[pointer] = Some(register);
        }
        self.reload_pointers();
    }

    /// Loads them from the caller's words: at the start, and after the host was called.
    fn reload_pointers(&mut self) {
        for (at, register) in self.pointers.clone().into_iter().enumerate() {
            if let Some(register) = register {
                self.asm.load(register, word(self.body.pointers[at].word));
            }
        }
    }

    /// Gives the values of the whole loop that are used most a register each.
    fn choose_fixed(&mut self) {
        let mut counts: BTreeMap<Id, usize> = BTreeMap::new();
        for step in self.body.blocks.iter().flat_map(|it| &it.steps) {
            step.operands(self.body, |it| {
                let value = &self.body.values[it];
                if value.op.is_fixed() && value.kind != LaneKind::Mask {
                    *counts.entry(it).or_default() += 1;
                }
            });
        }
        for (id, value) in self.body.values.iter().enumerate() {
            self.values[id].memory = match value.op {
                Op::Word(at) => Some(MemoryLocation::Word(at)),
                Op::Constant(bits) => Some(MemoryLocation::Constant(bits)),
                _ => None,
            };
        }
        let mut order: Vec<Id> = counts.keys().copied().collect();
        order.sort_by_key(|it| std::cmp::Reverse(counts[it]));
        let n_fixed = match self.body.isa {
            Isa::Avx512 => 12,
            Isa::Avx2 => avx2::N_FIXED,
        };
        for (at, id) in order.into_iter().take(n_fixed).enumerate() {
            let register = u8::try_from(self.n_vectors - 1 - at).expect("few registers");
            self.fixed.insert(id, register);
        }
        if self.body.isa == Isa::Avx2 {
            self.spread_words();
        }
        self.load_fixed();
    }

    /// Loads them, and marks their registers as taken.
    fn load_fixed(&mut self) {
        for (id, register) in self.fixed.clone() {
            self.fill(id, register);
            self.values[id].register = Some(register);
            self.vectors[usize::from(register)] = Some(id);
        }
    }

    /// The code of all blocks, for as many vectors as a turn has. A block is done for each of them before
    /// the next block begins, so that what one waits for is hidden by the others.
    fn blocks(&mut self, done: Label) {
        self.labels = self.body.blocks.iter().map(|_| self.asm.label()).collect();
        self.done = done;
        for at in 0..self.body.blocks.len() {
            self.asm.bind(self.labels[at]);
            for time in 0..self.times {
                self.time = time;
                self.block(at);
            }
            self.time = 0;
            self.leave(at);
        }
    }

    /// Of a turn, those before the vector at hand.
    pub(super) fn iterations_before(&self) -> i32 {
        self.time * i32::try_from(self.body.lanes).expect("few lanes")
    }

    /// A slot of the body. Each vector of a turn has its own.
    pub(super) fn slot(&self, slot: usize) -> usize {
        slot + usize::try_from(self.time).expect("few vectors") * self.body.n_slots
    }

    /// The code of a block for one vector.
    ///
    /// Uses are collected from the last step to the first. So the next use is at the end of each list, and a
    /// use costs no more than popping it. When a list is empty, the value leaves its register.
    ///
    /// The vectors of a turn are tested together for lanes that go on. The bits of their masks are added up
    /// in memory, and the sum is 0 only if all of them are.
    fn block(&mut self, at: usize) {
        let block = &self.body.blocks[at];
        let is_fixed = |it: Id| self.body.values[it].op.is_fixed();
        // Of the block before; the others are as they were made.
        for id in std::mem::take(&mut self.seen) {
            let value = &mut self.values[id];
            value.uses.clear();
            if !self.fixed.contains_key(&id) {
                value.register = None;
                if !is_fixed(id) {
                    value.memory = None;
                }
            }
        }
        if let End::IfAny(mask, ..) = block.end {
            self.values[mask].uses.push(block.steps.len());
            self.seen.push(mask);
        }
        for (position, step) in block.steps.iter().enumerate().rev() {
            let (values, seen) = (&mut self.values, &mut self.seen);
            seen.extend(if let Step::Make(id) = step { Some(*id) } else { None });
            step.operands(self.body, |it| {
                values[it].uses.push(position);
                seen.push(it);
            });
        }
        self.seen.sort_unstable();
        self.seen.dedup();
        self.vectors = [None; 32];
        self.masks = [None; 8];
        for (&id, &register) in &self.fixed {
            self.vectors[usize::from(register)] = Some(id);
        }
        for (position, step) in block.steps.iter().enumerate() {
            step.operands(self.body, |it| {
                debug_assert_eq!(self.values[it].uses.last(), Some(&position));
            });
            self.held.clear();
            self.held_masks.clear();
            self.step(*step);
        }
        if let End::IfAny(mask, ..) = block.end {
            self.held.clear();
            self.held_masks.clear();
            let mask = self.mask(mask);
            match self.body.isa {
                Isa::Avx512 => {
                    self.asm.vex(KMOVW_TO_GENERAL, false, RCX.0, 0, Rm::Register(mask), None);
                }
                Isa::Avx2 => self.lanes_of(mask, RCX),
            }
            if self.time > 0 {
                self.asm.add(RCX, FOUND);
            }
            if self.time + 1 < self.times {
                self.asm.store(FOUND, RCX);
            } else {
                self.asm.test(RCX);
            }
        }
    }

    /// Goes where a block ends; of several places the flags tell.
    fn leave(&mut self, at: usize) {
        let follows = at + 1;
        match self.body.blocks[at].end {
            End::Done if follows == self.body.blocks.len() => {}
            End::Done => self.asm.jump(self.done),
            End::Go(to) if to == follows => {}
            End::Go(to) => self.asm.jump(self.labels[to]),
            End::IfAny(_, yes, no) => {
                if yes == follows {
                    self.asm.jump_if(Condition::Equal, self.labels[no]);
                } else {
                    self.asm.jump_if(Condition::NotEqual, self.labels[yes]);
                    if no != follows {
                        self.asm.jump(self.labels[no]);
                    }
                }
            }
        }
    }

    /// The code of a step. Iterations of a `while` are counted for the first vector only: all vectors of a
    /// turn go round together.
    fn step(&mut self, step: Step) {
        match step {
            Step::Make(id) => self.make(id),
            Step::Store { .. } | Step::StoreBools { .. } if self.body.isa == Isa::Avx2 => self.store(step),
            Step::Store { place, value, mask, is_streamed } => {
                let kind = self.body.values[value].kind;
                let register = self.vector(value);
                let mask = match mask {
                    Some(mask) => self.mask(mask),
                    None if self.is_rest => ALL,
                    None => 0,
                };
                self.read_before_write(place);
                let length = self.length(kind);
                let how = EncodingFields { length, mask, unit: length, ..EncodingFields::default() };
                let to = self.elements(place, kind.bytes());
                let is_streamed = is_streamed && self.is_streaming;
                let code = if is_streamed { stream_code(kind) } else { store_code(kind) };
                self.asm.evex(code, how, register, 0, Rm::Memory(to));
                self.used(&[value]);
                self.used(mask_of(step).as_slice());
            }
            Step::StoreBools { place, value } => {
                let mask = self.mask(value);
                self.read_before_write(place);
                self.used(&[value]);
                let register = self.free_vector();
                let is_double = self.body.lanes == 8;
                let how =
                    EncodingFields { length: 64, mask, zeroes: true, unit: 8, ..EncodingFields::default() };
                self.asm.evex(
                    if is_double { VBROADCASTSD } else { VBROADCASTSS },
                    EncodingFields { unit: if is_double { 8 } else { 4 }, ..how },
                    register,
                    0,
                    Rm::Pool(1),
                );
                let how = EncodingFields {
                    length: 64,
                    mask: if self.is_rest { ALL } else { 0 },
                    unit: self.body.lanes,
                    ..EncodingFields::default()
                };
                let to = self.elements(place, 1);
                self.asm.evex(if is_double { VPMOVQB } else { VPMOVDB }, how, register, 0, Rm::Memory(to));
            }
            Step::Keep { slot, value } => {
                let slot = self.slot(slot);
                self.settle(|it| it == MemoryLocation::Slot(slot));
                self.keep(slot, value);
                self.used(&[value]);
            }
            Step::Start { .. } | Step::Count { .. } if self.time > 0 => {}
            Step::Fetch { place } => {
                let bytes = self.body.pointers[place.pointer].bytes;
                let before = bytes * usize::try_from(self.iterations_before()).expect("few vectors");
                if !(before as u64).is_multiple_of(LINE_BYTES) {
                    // Its line was asked for.
                    return;
                }
                let what = self.elements(place, bytes);
                self.asm.fetch(what);
            }
            Step::Start { slot, word: done } => {
                self.asm.load(R11, word(done));
                self.asm.store(slot_at(slot), R11);
            }
            Step::Count { slot, limit, beyond } => {
                self.asm.load(RCX, slot_at(slot));
                self.asm.constant(R11, limit);
                self.asm.compare(RCX, R11);
                self.asm.jump_if(Condition::Equal, self.labels[beyond]);
                self.asm.increment(slot_at(slot));
            }
            Step::Raise { words, mask } => {
                let register = self.mask(mask);
                self.used(&[mask]);
                self.raise(words, register);
            }
        }
    }

    /// Calls the host; nothing but what is in slots is kept.
    fn raise(&mut self, words: usize, mask: u8) {
        let saved = [(WORDS, -48), (AT, -56), (LAST, -64)];
        for (register, offset) in saved {
            self.asm.store(MemoryOperand::at(RBP, offset), register);
        }
        let all = Rm::Memory(MemoryOperand::at(RBP, -72));
        match self.body.isa {
            Isa::Avx512 => {
                self.asm.vex(KMOVW_TO, false, ALL, 0, all, None);
                self.asm.vex(KMOVW_TO_GENERAL, false, RDX.0, 0, Rm::Register(mask), None);
            }
            Isa::Avx2 => self.lanes_of(mask, RDX),
        }
        self.asm.load(R11, word(words));
        self.asm.address(RDI, word(words + 1));
        self.asm.address(RSI, MemoryOperand::at(AT, self.iterations_before()));
        self.asm.zero_upper();
        self.asm.call(R11);
        for (register, offset) in saved {
            self.asm.load(register, MemoryOperand::at(RBP, offset));
        }
        match self.body.isa {
            Isa::Avx512 => self.asm.vex(KMOVW, false, ALL, 0, all, None),
            Isa::Avx2 if self.is_rest => self.recall_lanes(),
            Isa::Avx2 => {}
        }
        self.reload_pointers();
        self.load_fixed();
    }
}

/// The number of vectors in a turn: as many as fill a cache line, so that each line is prefetched once. Where
/// blocks wait for each other, as in a `while`, one vector computes while another one waits.
fn most_times(body: &Body) -> i32 {
    let of_line = i32::try_from(LINE_BYTES / body.isa.bytes() as u64).expect("few vectors");
    match body.blocks.as_slice() {
        [only] if only.steps.len() <= MOST_STEPS => of_line,
        [_] => 1,
        _ if body.is_cut => TIMES_OF_CUTS,
        _ => TIMES_OF_BLOCKS,
    }
}

fn mask_of(step: Step) -> Option<Id> {
    match step {
        Step::Store { mask, .. } => mask,
        _ => None,
    }
}

/// A word of the caller.
pub(super) fn word(at: usize) -> MemoryOperand {
    MemoryOperand::at(WORDS, i32::try_from(at * 8).expect("few words"))
}

/// A slot of the frame.
pub(super) fn slot_at(slot: usize) -> MemoryOperand {
    MemoryOperand::at(RSP, i32::try_from(slot).expect("few slots") * SLOT_BYTES)
}
