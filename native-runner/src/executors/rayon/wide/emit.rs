//! A body as machine code with vectors of 512 bits: the function that runs all iterations of a loop.
//!
//! Values live in registers within a block, and in slots of the frame from block to block. Of those that are in the
//! way, the one goes whose next use is farthest (L. A. Belady, "A study of replacement algorithms for a
//! virtual-storage computer", 1966). What lies in memory anyway is read where it is used.

use std::collections::BTreeMap;

use super::encode::{
    Assembler, Code, Condition, Gpr, How, Label, Memory, R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP, RBX,
    RCX, RDI, RDX, RSI, RSP, Rm,
};
use super::nodes::{Binary, Body, End, Id, Kind, Op, Place, Relation, Step, Unary};

/// Where the caller's words are.
const WORDS: Gpr = RDI;
/// The iteration of the first lane, counted from the start of the loop.
const AT: Gpr = RAX;
/// The last position at which all lanes have an iteration.
const LAST: Gpr = RSI;
/// What pointers may stay in.
const POINTERS: [Gpr; 9] = [RDX, R8, R9, R10, RBX, R12, R13, R14, R15];
const SAVED: [Gpr; 5] = [RBX, R12, R13, R14, R15];
/// The masks of all lanes, and one for a moment.
const ALL: u8 = 7;
const SPARE_MASK: u8 = 6;
const N_MASKS: usize = 6;
/// Registers that values of the whole loop may have for themselves.
const N_FIXED: usize = 12;
const SLOT_BYTES: i32 = 64;
/// Of the frame: whether rows are written past the caches.
const STREAMS: Memory = Memory { base: RBP, index: None, offset: -80 };

/// Where something stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Elements(Place),
    /// One for all lanes.
    Element(Place),
    Slot(usize),
    Word(usize),
    Constant(u64),
}

impl Source {
    fn is_one(self) -> bool {
        matches!(self, Source::Element(_) | Source::Word(_) | Source::Constant(_))
    }
}

#[derive(Clone, Debug, Default)]
struct Where {
    register: Option<u8>,
    memory: Option<Source>,
    /// Of the block at hand, those to come, the next one last.
    uses: Vec<usize>,
}

/// The last operand as an instruction has it.
#[derive(Clone, Copy)]
struct Last {
    rm: Rm,
    is_same: bool,
    /// Whether lanes that take no part must not be read.
    is_guarded: bool,
    unit: usize,
}

struct Emit<'b> {
    body: &'b Body,
    asm: Assembler,
    values: Vec<Where>,
    vectors: [Option<Id>; 32],
    masks: [Option<Id>; 8],
    /// Registers of the instruction at hand.
    held: Vec<u8>,
    held_masks: Vec<u8>,
    pointers: Vec<Option<Gpr>>,
    n_slots: usize,
    /// Whether lanes are missing.
    is_rest: bool,
    /// Whether rows go past the caches.
    is_streaming: bool,
    labels: Vec<Label>,
    done: Label,
    /// Values of the whole loop that have a register.
    fixed: BTreeMap<Id, u8>,
}

/// The function of a body: its argument is the address of the words, the first of which is the number of iterations.
pub(in super::super) fn emit(body: &Body) -> Vec<u8> {
    let mut asm = Assembler::default();
    let done = asm.label();
    let mut this = Emit {
        body,
        asm,
        values: vec![Where::default(); body.values.len()],
        vectors: [None; 32],
        masks: [None; 8],
        held: Vec::new(),
        held_masks: Vec::new(),
        pointers: Vec::new(),
        n_slots: body.n_slots,
        is_rest: false,
        is_streaming: false,
        labels: Vec::new(),
        done,
        fixed: BTreeMap::new(),
    };
    this.function();
    this.asm.finish()
}

impl Emit<'_> {
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
        self.asm.load(LAST, Memory::at(WORDS, 0));
        self.asm.add_constant(LAST, -lanes);
        self.asm.constant(R11, (1 << self.body.lanes) - 1);
        self.move_mask_from(ALL, R11);
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
        self.asm.load(RCX, Memory::at(WORDS, 0));
        self.asm.subtract(RCX, AT);
        self.asm.jump_if(Condition::LessOrEqual, end);
        self.asm.constant(R11, 1);
        self.asm.shift_left(R11);
        self.asm.add_constant(R11, -1);
        self.move_mask_from(ALL, R11);
        self.is_rest = true;
        self.blocks(end);
        self.asm.bind(end);

        self.asm.zero_upper();
        self.asm.address(RSP, Memory::at(RBP, -40));
        SAVED.iter().rev().for_each(|&it| self.asm.pop(it));
        self.asm.pop(RBP);
        self.asm.return_();
        self.asm.set_later(frame, i32::try_from(self.n_slots).expect("few slots") * SLOT_BYTES);
    }

    /// A loop over the iterations that fill all lanes.
    fn full_lanes(&mut self, others: Label) {
        let lanes = i32::try_from(self.body.lanes).expect("few lanes");
        let (top, next) = (self.asm.label(), self.asm.label());
        self.asm.compare(AT, LAST);
        self.asm.jump_if(Condition::Greater, others);
        self.asm.bind(top);
        self.blocks(next);
        self.asm.bind(next);
        self.asm.add_constant(AT, lanes);
        self.asm.compare(AT, LAST);
        self.asm.jump_if(Condition::LessOrEqual, top);
        self.asm.jump(others);
    }

    /// Where something is written past the caches.
    fn streamed(&self) -> Vec<(Place, usize)> {
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
    fn find_lines(&mut self, streamed: &[(Place, usize)], plain: Label) {
        if streamed.iter().any(|&(_, bytes)| self.body.lanes * bytes != 64) {
            return;
        }
        for &(place, _) in streamed {
            let base = self.pointer(place.pointer);
            self.asm.address(R11, Memory::at(base, place.offset));
            self.asm.and_constant(R11, 63);
            self.asm.jump_if(Condition::NotEqual, plain);
        }
        self.asm.increment(STREAMS);
    }

    fn load_pointers(&mut self) {
        self.pointers = vec![None; self.body.pointers.len()];
        let mut counts = vec![0_usize; self.body.pointers.len()];
        let mut count = |it: Place| counts[it.pointer] += 1;
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
                if value.op.is_fixed() && value.kind != Kind::Mask {
                    *counts.entry(it).or_default() += 1;
                }
            });
        }
        for (id, value) in self.body.values.iter().enumerate() {
            self.values[id].memory = match value.op {
                Op::Word(at) => Some(Source::Word(at)),
                Op::Constant(bits) => Some(Source::Constant(bits)),
                _ => None,
            };
        }
        let mut order: Vec<Id> = counts.keys().copied().collect();
        order.sort_by_key(|it| std::cmp::Reverse(counts[it]));
        for (at, id) in order.into_iter().take(N_FIXED).enumerate() {
            let register = u8::try_from(31 - at).expect("few registers");
            self.fixed.insert(id, register);
        }
        self.load_fixed();
    }

    fn load_fixed(&mut self) {
        for (id, register) in self.fixed.clone() {
            self.fill(id, register);
            self.values[id].register = Some(register);
            self.vectors[usize::from(register)] = Some(id);
        }
    }

    fn blocks(&mut self, done: Label) {
        self.labels = self.body.blocks.iter().map(|_| self.asm.label()).collect();
        self.done = done;
        for at in 0..self.body.blocks.len() {
            self.asm.bind(self.labels[at]);
            self.block(at);
        }
    }

    fn block(&mut self, at: usize) {
        let block = &self.body.blocks[at];
        let is_fixed = |it: Id| self.body.values[it].op.is_fixed();
        self.values.iter_mut().for_each(|it| it.uses.clear());
        if let End::IfAny(mask, ..) = block.end {
            self.values[mask].uses.push(block.steps.len());
        }
        for (position, step) in block.steps.iter().enumerate().rev() {
            let values = &mut self.values;
            step.operands(self.body, |it| values[it].uses.push(position));
        }
        for (id, value) in self.values.iter_mut().enumerate() {
            if !self.fixed.contains_key(&id) {
                value.register = None;
                if !is_fixed(id) {
                    value.memory = None;
                }
            }
        }
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
        let follows = at + 1;
        match block.end {
            End::Done if follows == self.body.blocks.len() => {}
            End::Done => self.asm.jump(self.done),
            End::Go(to) if to == follows => {}
            End::Go(to) => self.asm.jump(self.labels[to]),
            End::IfAny(mask, yes, no) => {
                self.held_masks.clear();
                let mask = self.mask(mask);
                self.asm.vex(Code::new(0, 1, false, 0x98), false, mask, 0, Rm::Register(mask), None);
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

    fn step(&mut self, step: Step) {
        match step {
            Step::Make(id) => self.make(id),
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
                let how = How { length, mask, unit: length, ..How::default() };
                let to = self.elements(place, kind.bytes());
                let code = store_code(kind);
                let code =
                    if is_streamed && self.is_streaming { Code { opcode: 0x2b, ..code } } else { code };
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
                let how = How { length: 64, mask, zeroes: true, unit: 8, ..How::default() };
                self.asm.evex(
                    Code::new(1, 2, is_double, if is_double { 0x19 } else { 0x18 }),
                    How { unit: if is_double { 8 } else { 4 }, ..how },
                    register,
                    0,
                    Rm::Pool(1),
                );
                let how = How {
                    length: 64,
                    mask: if self.is_rest { ALL } else { 0 },
                    unit: self.body.lanes,
                    ..How::default()
                };
                let to = self.elements(place, 1);
                self.asm.evex(
                    Code::new(2, 2, false, if is_double { 0x32 } else { 0x31 }),
                    how,
                    register,
                    0,
                    Rm::Memory(to),
                );
            }
            Step::Keep { slot, value } => {
                self.settle(|it| it == Source::Slot(slot));
                self.keep(slot, value);
                self.used(&[value]);
            }
            Step::Fetch { place } => {
                let bytes = self.body.pointers[place.pointer].bytes;
                let what = self.elements(place, bytes);
                self.asm.fetch(what);
            }
            Step::Start { slot } => self.asm.store_zero(slot_at(slot)),
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
            self.asm.store(Memory::at(RBP, offset), register);
        }
        self.asm.vex(Code::new(0, 1, false, 0x91), false, ALL, 0, Rm::Memory(Memory::at(RBP, -72)), None);
        self.asm.vex(Code::new(0, 1, false, 0x93), false, RDX.0, 0, Rm::Register(mask), None);
        self.asm.load(R11, word(words));
        self.asm.address(RDI, word(words + 1));
        self.asm.move_to(RSI, AT);
        self.asm.zero_upper();
        self.asm.call(R11);
        for (register, offset) in saved {
            self.asm.load(register, Memory::at(RBP, offset));
        }
        self.asm.vex(Code::new(0, 1, false, 0x90), false, ALL, 0, Rm::Memory(Memory::at(RBP, -72)), None);
        self.reload_pointers();
        self.load_fixed();
    }

    fn make(&mut self, id: Id) {
        let value = self.body.values[id];
        match value.op {
            Op::Load(place) => self.values[id].memory = Some(Source::Elements(place)),
            Op::LoadOne(place) => self.values[id].memory = Some(Source::Element(place)),
            Op::Slot(slot) => self.values[id].memory = Some(Source::Slot(slot)),
            Op::Word(_) | Op::Constant(_) => unreachable!("what is the same in all iterations is not made"),
            Op::LoadBools(place) => {
                let register = self.free_vector();
                let is_double = self.body.lanes == 8;
                let from = self.elements(place, 1);
                let mask = if self.is_rest { ALL } else { 0 };
                let how =
                    How { length: 64, mask, zeroes: self.is_rest, unit: self.body.lanes, ..How::default() };
                let code = Code::new(1, 2, false, if is_double { 0x32 } else { 0x31 });
                self.asm.evex(code, how, register, 0, Rm::Memory(from));
                let to = self.new_mask(id);
                let how = How { length: 64, mask, ..How::default() };
                self.asm.evex(Code::new(1, 2, is_double, 0x27), how, to, register, Rm::Register(register));
            }
            _ if value.kind == Kind::Mask => self.make_mask(id, value.op),
            _ => self.make_vector(id, value.op, value.kind),
        }
    }

    fn make_mask(&mut self, id: Id, op: Op) {
        match op {
            Op::Binary(op, a, b) => {
                let (one, other) = (self.mask(a), self.mask(b));
                self.used(&[a, b]);
                let opcode = match op {
                    Binary::And => 0x41,
                    Binary::AndNot => 0x42,
                    Binary::Or => 0x45,
                    Binary::Xor => 0x47,
                    _ => unreachable!("masks have no arithmetic"),
                };
                let to = self.new_mask(id);
                self.asm.vex(Code::new(0, 1, false, opcode), true, to, one, Rm::Register(other), None);
            }
            Op::Select(condition, then, otherwise) => {
                let (condition_at, then_at) = (self.mask(condition), self.mask(then));
                let otherwise_at = self.mask(otherwise);
                let code = |opcode| Code::new(0, 1, false, opcode);
                self.asm.vex(code(0x41), true, SPARE_MASK, condition_at, Rm::Register(then_at), None);
                self.used(&[then]);
                let to = self.new_mask(id);
                self.asm.vex(code(0x42), true, to, condition_at, Rm::Register(otherwise_at), None);
                self.used(&[condition, otherwise]);
                self.asm.vex(code(0x45), true, to, to, Rm::Register(SPARE_MASK), None);
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
                let how = How {
                    length: self.length(kind),
                    mask,
                    is_same: last.is_same,
                    unit: last.unit,
                    immediate: Some(predicate(relation, kind.is_float(), is_turned)),
                    ..How::default()
                };
                let code = match kind {
                    Kind::F64 => Code::new(1, 1, true, 0xc2),
                    Kind::F32 => Code::new(0, 1, false, 0xc2),
                    Kind::I64 => Code::new(1, 3, true, 0x1f),
                    _ => Code::new(1, 3, false, 0x1f),
                };
                self.asm.evex(code, how, to, one, last.rm);
            }
            _ => unreachable!("{op:?} makes no mask"),
        }
    }

    fn make_vector(&mut self, id: Id, op: Op, kind: Kind) {
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
                let narrows = (from, kind) == (Kind::I64, Kind::I32);
                let last = if narrows || !from.is_float() && !kind.is_float() {
                    let register = self.vector(a);
                    Last { rm: Rm::Register(register), is_same: false, is_guarded: false, unit: 1 }
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
                        self.asm.evex(code, How { length, ..How::default() }, from, 0, Rm::Register(to));
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
                self.asm.evex(Code::new(1, 1, true, 0x73), how, if is_left { 6 } else { 2 }, to, last.rm);
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
                self.asm.evex(binary_code(op, kind), how, to, one, last.rm);
            }
            Op::Select(mask, then, otherwise) => {
                let mask_at = self.mask(mask);
                let other = self.vector(otherwise);
                let last = self.last(then, kind, !self.is_rest);
                self.used(&[mask, then, otherwise]);
                let to = self.new_vector(id);
                let how =
                    How { length, mask: mask_at, is_same: last.is_same, unit: last.unit, ..How::default() };
                let code = Code::new(1, 2, kind.bytes() == 8, 0x65);
                self.asm.evex(code, how, to, other, last.rm);
            }
            Op::Fused { a, b, c, subtracts } => self.fused(id, kind, [a, b, c], subtracts),
            Op::Gather(place, index) => {
                let index_at = self.vector(index);
                let to = self.new_vector(id);
                self.used(&[index]);
                let base = self.pointer(place.pointer);
                let code = Code::new(0, 1, false, 0x46);
                self.asm.vex(code, true, SPARE_MASK, SPARE_MASK, Rm::Register(SPARE_MASK), None);
                let plain = How { length, ..How::default() };
                self.asm.evex(binary_code(Binary::Xor, Kind::I64), plain, to, to, Rm::Register(to));
                let from = Memory { base, index: Some((index_at, 8)), offset: place.offset };
                let how = How { length, mask: SPARE_MASK, unit: 8, ..How::default() };
                self.asm.evex(Code::new(1, 2, true, 0x93), how, to, 0, Rm::Memory(from));
            }
            _ => unreachable!("{op:?} makes no vector"),
        }
    }

    fn unary(&mut self, code: Code, immediate: Option<u8>, length: usize, to: u8, last: Last) {
        let how = self.how(length, last, immediate);
        self.asm.evex(code, how, to, 0, last.rm);
    }

    fn how(&self, length: usize, last: Last, immediate: Option<u8>) -> How {
        let mask = if last.is_guarded { ALL } else { 0 };
        How { length, mask, zeroes: last.is_guarded, is_same: last.is_same, unit: last.unit, immediate }
    }

    /// The product and a sum in one operation: what is written is one of the operands.
    fn fused(&mut self, id: Id, kind: Kind, [a, b, c]: [Id; 3], subtracts: bool) {
        let (first, second) = (self.vector(a), self.vector(b));
        let last = self.last(c, kind, true);
        self.used(&[a, b, c]);
        let is_over = |this: &Self, it: u8| this.vectors[usize::from(it)].is_none();
        let is_wide = kind.bytes() == 8;
        let third = match last.rm {
            Rm::Register(it) => Some(it),
            _ => None,
        };
        let how = self.how(self.length(kind), last, None);
        if let Some(third) = third.filter(|&it| is_over(self, it)) {
            // `third = first * second + third`
            self.take_vector(id, third);
            let opcode = if subtracts { 0xba } else { 0xb8 };
            self.asm.evex(Code::new(1, 2, is_wide, opcode), how, third, first, Rm::Register(second));
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
        let opcode = if subtracts { 0xaa } else { 0xa8 };
        self.asm.evex(Code::new(1, 2, is_wide, opcode), how, to, other, last.rm);
    }

    // Where values are.

    fn length(&self, kind: Kind) -> usize {
        self.body.lanes * kind.bytes()
    }

    fn pointer(&mut self, pointer: usize) -> Gpr {
        self.pointers[pointer].unwrap_or_else(|| {
            self.asm.load(R11, word(self.body.pointers[pointer].word));
            R11
        })
    }

    /// Elements side by side, each of so many bytes.
    fn elements(&mut self, place: Place, bytes: usize) -> Memory {
        let base = self.pointer(place.pointer);
        let scale = u8::try_from(bytes).expect("elements are small");
        Memory { base, index: Some((AT.0, scale)), offset: place.offset }
    }

    /// The operand that may lie in memory.
    fn last(&mut self, id: Id, kind: Kind, may_guard: bool) -> Last {
        let length = self.length(kind);
        let register = |it: u8| Last { rm: Rm::Register(it), is_same: false, is_guarded: false, unit: 1 };
        if let Some(it) = self.values[id].register {
            self.held.push(it);
            return register(it);
        }
        let source = self.values[id].memory.expect("what is used is somewhere");
        let is_last_use = self.values[id].uses.len() <= 1;
        let folds = match source {
            Source::Elements(_) => is_last_use && may_guard,
            Source::Element(_) => is_last_use,
            Source::Slot(_) | Source::Word(_) | Source::Constant(_) => {
                is_last_use || !self.vectors.iter().any(Option::is_none)
            }
        };
        if !folds {
            return register(self.vector(id));
        }
        let is_guarded = self.is_rest && matches!(source, Source::Elements(_));
        let is_same = source.is_one();
        let unit = if is_same { kind.bytes() } else { length };
        let rm = self.memory(source, kind);
        Last { rm, is_same, is_guarded, unit }
    }

    fn memory(&mut self, source: Source, kind: Kind) -> Rm {
        match source {
            Source::Elements(place) => Rm::Memory(self.elements(place, kind.bytes())),
            Source::Element(place) => Rm::Memory(Memory::at(self.pointer(place.pointer), place.offset)),
            Source::Slot(slot) => Rm::Memory(slot_at(slot)),
            Source::Word(at) => Rm::Memory(word(at)),
            Source::Constant(bits) => Rm::Pool(bits),
        }
    }

    /// The value in a register, for the instruction at hand.
    fn vector(&mut self, id: Id) -> u8 {
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
    fn fill(&mut self, id: Id, register: u8) {
        let kind = self.body.values[id].kind;
        let source = self.values[id].memory.expect("what is used is somewhere");
        let length = self.length(kind);
        let is_double = kind.bytes() == 8;
        let rm = self.memory(source, kind);
        if source.is_one() {
            let code = Code::new(1, 2, is_double, if is_double { 0x19 } else { 0x18 });
            self.asm.evex(code, How { length, unit: kind.bytes(), ..How::default() }, register, 0, rm);
        } else {
            let is_guarded = self.is_rest && matches!(source, Source::Elements(_));
            let mask = if is_guarded { ALL } else { 0 };
            let how = How { length, mask, zeroes: is_guarded, unit: length, ..How::default() };
            self.asm.evex(load_code(kind), how, register, 0, rm);
        }
    }

    fn take_vector(&mut self, id: Id, register: u8) {
        self.vectors[usize::from(register)] = Some(id);
        self.values[id].register = Some(register);
        self.held.push(register);
    }

    /// A register for a value that is made now; it may be one that an operand has left.
    fn new_vector(&mut self, id: Id) -> u8 {
        let register = self.free_vector();
        self.take_vector(id, register);
        register
    }

    fn free_vector(&mut self) -> u8 {
        if let Some(free) = self.vectors.iter().position(Option::is_none) {
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
            self.values[id].memory = Some(Source::Slot(slot));
        }
        self.values[id].register = None;
        self.vectors[usize::from(register)] = None;
        register
    }

    fn keep(&mut self, slot: usize, id: Id) {
        let kind = self.body.values[id].kind;
        if kind == Kind::Mask {
            let register = self.mask(id);
            let to = Rm::Memory(slot_at(slot));
            self.asm.vex(Code::new(0, 1, false, 0x91), false, register, 0, to, None);
            return;
        }
        let register = self.vector(id);
        let length = self.length(kind);
        let how = How { length, unit: length, ..How::default() };
        self.asm.evex(store_code(kind), how, register, 0, Rm::Memory(slot_at(slot)));
    }

    /// The operands have been used once more; those that are not any more leave their registers.
    fn used(&mut self, operands: &[Id]) {
        for &id in operands {
            self.values[id].uses.pop();
            if !self.values[id].uses.is_empty() || self.fixed.contains_key(&id) {
                continue;
            }
            if let Some(register) = self.values[id].register.take() {
                let bank: &mut [Option<Id>] =
                    if self.body.values[id].kind == Kind::Mask { &mut self.masks } else { &mut self.vectors };
                bank[usize::from(register)] = None;
            }
        }
    }

    /// Loads what would be read too late where memory changes.
    fn settle(&mut self, changes: impl Fn(Source) -> bool) {
        for id in 0..self.values.len() {
            let value = &self.values[id];
            if !value.memory.is_some_and(&changes) {
                continue;
            }
            if !value.uses.is_empty() && value.register.is_none() {
                let (held, held_masks) = (self.held.len(), self.held_masks.len());
                if self.body.values[id].kind == Kind::Mask {
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

    fn read_before_write(&mut self, place: Place) {
        let array = self.body.pointers[place.pointer].array;
        let pointers = &self.body.pointers;
        self.settle(|source| match source {
            Source::Elements(it) | Source::Element(it) => pointers[it.pointer].array == array,
            _ => false,
        });
    }

    fn mask(&mut self, id: Id) -> u8 {
        if let Some(it) = self.values[id].register {
            self.held_masks.push(it);
            return it;
        }
        let source = self.values[id].memory.expect("what is used is somewhere");
        if source == Source::Constant(u64::MAX) {
            return ALL;
        }
        let register = self.new_mask(id);
        match source {
            Source::Constant(_) => {
                let code = Code::new(0, 1, false, 0x47);
                self.asm.vex(code, true, register, register, Rm::Register(register), None);
            }
            Source::Word(at) => {
                self.asm.vex(Code::new(0, 1, false, 0x90), false, register, 0, Rm::Memory(word(at)), None);
                self.asm.vex(Code::new(0, 1, false, 0x41), true, register, register, Rm::Register(ALL), None);
            }
            Source::Slot(slot) => {
                let from = Rm::Memory(slot_at(slot));
                self.asm.vex(Code::new(0, 1, false, 0x90), false, register, 0, from, None);
            }
            Source::Elements(_) | Source::Element(_) => unreachable!("masks are loaded where they are made"),
        }
        register
    }

    fn new_mask(&mut self, id: Id) -> u8 {
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
                self.values[old].memory = Some(Source::Slot(slot));
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

    fn move_vector(&mut self, to: u8, from: u8, kind: Kind) {
        let how = How { length: self.length(kind), ..How::default() };
        self.asm.evex(load_code(kind), how, to, 0, Rm::Register(from));
    }

    fn move_mask_from(&mut self, to: u8, from: Gpr) {
        self.asm.vex(Code::new(0, 1, false, 0x92), false, to, 0, Rm::Register(from.0), None);
    }
}

fn mask_of(step: Step) -> Option<Id> {
    match step {
        Step::Store { mask, .. } => mask,
        _ => None,
    }
}

fn word(at: usize) -> Memory {
    Memory::at(WORDS, i32::try_from(at * 8).expect("few words"))
}

fn slot_at(slot: usize) -> Memory {
    Memory::at(RSP, i32::try_from(slot).expect("few slots") * SLOT_BYTES)
}

fn load_code(kind: Kind) -> Code {
    let is_wide = kind.bytes() == 8;
    Code::new(u8::from(is_wide), 1, is_wide, 0x10)
}

fn store_code(kind: Kind) -> Code {
    Code { opcode: 0x11, ..load_code(kind) }
}

fn binary_code(op: Binary, kind: Kind) -> Code {
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

fn unary_code(op: Unary, kind: Kind) -> (Code, Option<u8>) {
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

fn convert_code(from: Kind, to: Kind) -> Code {
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
fn predicate(relation: Relation, is_float: bool, is_turned: bool) -> u8 {
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
