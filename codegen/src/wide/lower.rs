//! The body of a vector loop as operations on vectors, with the meaning that [`super::super::expression`] gives it.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value as Clif};
use isobar_compiler::entity::Handle;
use isobar_compiler::expr::Expr;
use isobar_compiler::loops::analysis::operations::definitions;
use isobar_compiler::loops::nodes::{
    Array, Assign, Declare, DimensionIndex, Element, For, If, Item, Local as LoopLocal, Read, Target, Trap,
    While,
};
use isobar_compiler::loops::visit::walk;
use isobar_compiler::space::{Affine, Ring, Symbol};
use isobar_compiler::types::{DType, Value as Number};

use super::super::host::{Import, TrapSite};
use super::super::translate::Translation;
use super::nodes::{
    Binary, Block, Body, ElementAddress, End, Id, Isa, LaneKind, Op, Pointer, Relation, Step, Unary, Value,
};

impl Translation<'_, '_> {
    /// Runs all iterations by wide code. Does nothing where the body holds something that wide code does not
    /// know.
    pub(in super::super) fn wide_loop(&mut self, it: &For) -> bool {
        let Some(isa) = self.links.wide_vectors() else { return false };
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = it.positions.variable.clone();
        let before = self.positions.insert(symbol.clone(), start);
        self.lane_symbol = Some(symbol.clone());
        let made = Lowering::new(self, it, isa).and_then(Lowering::finish);
        self.lane_symbol = None;
        match before {
            Some(before) => self.positions.insert(symbol, before),
            None => self.positions.remove(&symbol),
        };
        let Some((body, mut words)) = made else { return false };
        words[0] = self.emit.builder.ins().isub(end, start);
        let size = u32::try_from(words.len() * 8).expect("few words");
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = self.emit.builder.create_sized_stack_slot(slot);
        for (at, word) in words.into_iter().enumerate() {
            let offset = i32::try_from(at * 8).expect("few words");
            self.emit.builder.ins().stack_store(I64, word, slot, offset);
        }
        let function = self.links.wide(self.emit.builder.func, &body);
        let address = self.emit.builder.ins().stack_addr(I64, slot, 0);
        self.emit.builder.ins().call(function, &[address]);
        true
    }
}

/// Where a word of the function around points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointerTarget {
    /// At elements of an array, without what is constant in their index.
    Elements(Handle<Array>, Vec<DimensionIndex>),
    /// At the table of this name.
    Table(&'static str),
}

/// The place of a local of the body at the moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Local {
    Value(Id),
    /// In a slot of the frame, since it changes in some turns or lanes only.
    Slot(usize),
}

/// A body that is being made. Functions answer none where it holds something that vectors do not do. Then the
/// code made so far is dropped, and the whole loop is made without them.
pub(super) struct Lowering<'w, 't, 'p> {
    pub(super) around: &'w mut Translation<'t, 'p>,
    pub(super) body: Body,
    /// The words that the function around passes: the number of iterations, then addresses and values in the
    /// order of their first use.
    pub(super) words: Vec<Clif>,
    /// Values that the current block computes, and fixed values.
    pub(super) known: BTreeMap<(Op, LaneKind), Id>,
    pub(super) fixed: BTreeMap<(Op, LaneKind), Id>,
    /// Expressions that are the same for all lanes, and their words.
    pub(super) same: Vec<(Expr<Read>, usize)>,
    pub(super) pointers: BTreeMap<PointerTarget, usize>,
    pub(super) locals: BTreeMap<Handle<LoopLocal>, Local>,
    /// Locals that the body declares, and arrays that it writes. An expression that reads none of them, no memory
    /// beside scalars and not the loop's variable is the same for all lanes.
    pub(super) own_locals: BTreeSet<Handle<LoopLocal>>,
    pub(super) written: BTreeSet<Handle<Array>>,
    pub(super) mask: Option<Id>,
    pub(super) symbol: Symbol,
}

/// The lanes' kind of a type; none where no vector holds it.
pub(super) fn kind_of(dtype: DType) -> Option<LaneKind> {
    match dtype {
        DType::Bool => Some(LaneKind::Mask),
        DType::Int32 => Some(LaneKind::I32),
        DType::Int64 => Some(LaneKind::I64),
        DType::Float32 => Some(LaneKind::F32),
        DType::Float64 => Some(LaneKind::F64),
        DType::Int8 | DType::Int16 => None,
    }
}

/// The bits of a constant, as one lane has them; a bool is a whole mask.
fn bits_of(value: Number) -> u64 {
    match value {
        Number::Bool(it) => {
            if it {
                u64::MAX
            } else {
                0
            }
        }
        Number::Float32(it) => u64::from(it.to_bits()),
        Number::Float64(it) => it.to_bits(),
        Number::Int32(it) => u64::from(it.cast_unsigned()),
        other => other.as_i64().cast_unsigned(),
    }
}

impl<'w, 't, 'p> Lowering<'w, 't, 'p> {
    /// The body of a loop; none where something of it is not known here.
    ///
    /// A body has as many lanes as its widest values leave: 8 or 4 doubles, 16 or 8 singles. Formulas are
    /// computed in doubles, so a body that calls one has few lanes, also for singles.
    pub(super) fn new(around: &'w mut Translation<'t, 'p>, it: &For, isa: Isa) -> Option<Self> {
        let mut own_locals = BTreeSet::new();
        let mut written = BTreeSet::new();
        let mut is_double = !definitions(&it.body).is_empty();
        let program = around.shared.program;
        walk(&it.body, &mut |item| {
            item.each_expr(&mut |expr| {
                expr.walk(&mut |it| {
                    is_double |= matches!(it.dtype, DType::Float64 | DType::Int64);
                });
            });
            match item {
                Item::Declare(it) => {
                    own_locals.insert(it.local);
                    is_double |= program.locals[it.local].dtype == DType::Float64;
                }
                Item::Assign(Assign { target: Target::Element(it), .. }) => {
                    written.insert(it.array);
                    let dtype = program.arrays[it.array].dtype;
                    is_double |= matches!(dtype, DType::Float64 | DType::Int64);
                }
                _ => {}
            }
        });
        let zero = around.emit.builder.ins().iconst(I64, 0);
        let decided = program.decisions.lanes(it.id);
        let lanes = isa.bytes() / if is_double { 8 } else { 4 };
        let first = Block { steps: Vec::new(), end: End::Done };
        let mut this = Self {
            around,
            body: Body {
                isa,
                lanes,
                blocks: vec![first],
                may_repeat: decided.may_overlap,
                is_cut: decided.is_split,
                ..Body::default()
            },
            words: vec![zero],
            known: BTreeMap::new(),
            fixed: BTreeMap::new(),
            same: Vec::new(),
            pointers: BTreeMap::new(),
            locals: BTreeMap::new(),
            own_locals,
            written,
            mask: None,
            symbol: it.positions.variable.clone(),
        };
        this.fetch_ahead();
        this.items(&it.body)?;
        Some(this)
    }

    /// Asks, line by line, for rows that the next turn of a loop around reads.
    pub(super) fn fetch_ahead(&mut self) {
        for mut row in std::mem::take(&mut self.around.ahead) {
            if let Some(along) = row.index.first_mut() {
                *along = DimensionIndex::Known(Affine::symbol(&self.symbol));
            }
            if let Some((place, apart)) = self.place(&row)
                && apart != 0
            {
                self.push(Step::Fetch { place });
            }
        }
    }

    /// The body and its words; none where its processor lacks an operation.
    pub(super) fn finish(mut self) -> Option<(Body, Vec<Clif>)> {
        self.body.finish();
        self.body.is_known().then_some((self.body, self.words))
    }

    // Values.

    /// The value of an operation. One that is known in this block is taken again, so equal parts of
    /// expressions are computed once. That is right for loads as well: [`Self::store`] forgets those of the
    /// array that it writes.
    pub(super) fn make(&mut self, op: Op, kind: LaneKind) -> Id {
        let known = if op.is_fixed() { &mut self.fixed } else { &mut self.known };
        if let Some(&id) = known.get(&(op, kind)) {
            return id;
        }
        self.body.values.push(Value { op, kind });
        let id = self.body.values.len() - 1;
        known.insert((op, kind), id);
        if !op.is_fixed() {
            self.push(Step::Make(id));
        }
        id
    }

    /// Adds a step to the block at hand.
    pub(super) fn push(&mut self, step: Step) {
        self.body.blocks.last_mut().expect("there is a block").steps.push(step);
    }

    /// Ends the block at hand and starts another one, whose number is the answer.
    ///
    /// Only fixed values are known in it: control may come to it from elsewhere.
    pub(super) fn next_block(&mut self, end: End) -> usize {
        self.body.blocks.last_mut().expect("there is a block").end = end;
        self.body.blocks.push(Block { steps: Vec::new(), end: End::Done });
        self.known.clear();
        self.at_block()
    }

    /// Ends the current block before or after a long function, where that pays. Several vectors go through a
    /// block before the next block begins. The processor overlaps more vectors in the function alone than in a
    /// whole body.
    pub(super) fn cut(&mut self) {
        if self.body.is_cut {
            let next = self.at_block() + 1;
            self.next_block(End::Go(next));
        }
    }

    pub(super) fn at_block(&self) -> usize {
        self.body.blocks.len() - 1
    }

    pub(super) fn constant(&mut self, value: Number) -> Option<Id> {
        let kind = kind_of(value.dtype())?;
        Some(self.make(Op::Constant(bits_of(value)), kind))
    }

    /// Has the function around pass one more word.
    pub(super) fn word(&mut self, value: Clif) -> usize {
        self.words.push(value);
        self.words.len() - 1
    }

    pub(super) fn binary(&mut self, op: Binary, kind: LaneKind, a: Id, b: Id) -> Id {
        self.make(Op::Binary(op, a, b), kind)
    }

    pub(super) fn unary(&mut self, op: Unary, kind: LaneKind, a: Id) -> Id {
        self.make(Op::Unary(op, a), kind)
    }

    pub(super) fn compare(&mut self, relation: Relation, kind: LaneKind, a: Id, b: Id) -> Id {
        self.make(Op::Compare(relation, kind, a, b), LaneKind::Mask)
    }

    pub(super) fn always(&mut self) -> Id {
        self.make(Op::Constant(u64::MAX), LaneKind::Mask)
    }

    /// The lanes of `always` that `a` does not have.
    pub(super) fn not(&mut self, a: Id) -> Id {
        let always = self.always();
        self.binary(Binary::AndNot, LaneKind::Mask, a, always)
    }

    /// A choice. `p < q ? p : q` is one instruction, with the same result for NaN and zeros: the processor
    /// takes the second operand wherever the first is not less.
    pub(super) fn select(&mut self, kind: LaneKind, mask: Id, then: Id, otherwise: Id) -> Id {
        if then == otherwise {
            return then;
        }
        if kind.is_float()
            && let Op::Compare(Relation::Less, of, p, q) = self.body.values[mask].op
            && of == kind
        {
            if (p, q) == (then, otherwise) {
                return self.binary(Binary::Min, kind, p, q);
            }
            if (q, p) == (then, otherwise) {
                return self.binary(Binary::Max, kind, q, p);
            }
        }
        self.make(Op::Select(mask, then, otherwise), kind)
    }

    // Places.

    /// Where an element is, and how many bytes lanes are apart.
    ///
    /// Elements that differ by constants share a pointer, which is the address without them in the first
    /// iteration. None where lanes are neither the same element nor neighbours, or go round in an array
    /// that keeps a few rows.
    pub(super) fn place(&mut self, element: &Element) -> Option<(ElementAddress, usize)> {
        let program = self.around.shared.program;
        let of = &program.arrays[element.array];
        let size = of.dtype.size_bytes() as i64;
        let ring = of.ring;
        let strides = self.around.shared.shape.arrays[element.array].strides.clone();
        let (mut offset, mut apart, mut without) = (0_i64, 0_i64, element.clone());
        for (dimension, (at, stride)) in without.index.iter_mut().zip(strides).enumerate() {
            let is_round = Ring::places_along(ring, dimension).is_some();
            match at {
                DimensionIndex::Known(sum) => {
                    let factor = sum.factor(&self.symbol);
                    if is_round {
                        if factor != 0 {
                            return None;
                        }
                        continue;
                    }
                    apart += factor * stride * size;
                    offset += sum.offset() * stride * size;
                    *sum = sum.clone().moved(-sum.offset());
                }
                DimensionIndex::Found { shift, .. } if shift.factor(&self.symbol) != 0 => return None,
                DimensionIndex::Found { .. } => {}
            }
        }
        if apart != 0 && apart != size {
            return None;
        }
        let offset = i32::try_from(offset).ok()?;
        let apart = usize::try_from(apart).ok()?;
        let key = PointerTarget::Elements(element.array, without.index.clone());
        if let Some(&pointer) = self.pointers.get(&key) {
            return Some((ElementAddress { pointer, offset }, apart));
        }
        let (address, constant, _) = self.around.address(&without);
        let address = self.around.emit.builder.ins().iadd_imm_s(address, constant);
        let word = self.word(address);
        self.body.pointers.push(Pointer { word, array: Some(element.array), bytes: of.dtype.size_bytes() });
        let pointer = self.body.pointers.len() - 1;
        self.pointers.insert(key, pointer);
        Some((ElementAddress { pointer, offset }, apart))
    }

    /// An element of each lane, or one for all.
    pub(super) fn load(&mut self, element: &Element, dtype: DType) -> Option<Id> {
        let kind = kind_of(dtype)?;
        let (place, apart) = self.place(element)?;
        match (dtype, apart) {
            (DType::Bool, 0) => None,
            (DType::Bool, _) => Some(self.make(Op::LoadBools(place), kind)),
            (_, 0) => Some(self.make(Op::LoadOne(place), kind)),
            _ => Some(self.make(Op::Load(place), kind)),
        }
    }

    /// Writes an element of each lane that takes part. A value stored for all lanes is known from here on, so
    /// later statements of this block do not load it again. Lanes that share an element are left to other
    /// code.
    pub(super) fn store(&mut self, element: &Element, value: Id) -> Option<()> {
        let dtype = self.around.shared.program.arrays[element.array].dtype;
        let kind = kind_of(dtype)?;
        let (place, apart) = self.place(element)?;
        if apart == 0 {
            return None;
        }
        let op = if dtype == DType::Bool { Op::LoadBools(place) } else { Op::Load(place) };
        let old = self.known.get(&(op, kind)).copied();
        let (value, mask) = match (self.mask, old) {
            (None, _) => (value, None),
            // The old elements are known, so the store needs no mask.
            (Some(mask), Some(old)) => (self.select(kind, mask, value, old), None),
            (Some(mask), None) if dtype == DType::Bool => {
                let old = self.make(op, kind);
                (self.select(kind, mask, value, old), None)
            }
            (Some(mask), None) => (value, Some(mask)),
        };
        let array = Some(element.array);
        let pointers = &self.body.pointers;
        self.known.retain(|(op, _), _| match op {
            Op::Load(it) | Op::LoadOne(it) | Op::LoadBools(it) => pointers[it.pointer].array != array,
            _ => true,
        });
        if dtype == DType::Bool {
            self.push(Step::StoreBools { place, value });
        } else {
            let is_streamed = mask.is_none() && self.is_streamed(element.array);
            self.push(Step::Store { place, value, mask, is_streamed });
        }
        if mask.is_none() {
            self.known.insert((op, kind), value);
        }
        Some(())
    }

    /// Whether rows of an array are written past the caches. That is so for arrays that the program writes
    /// and does not read. The fields must also be more than the last cache keeps from one call to the next.
    pub(super) fn is_streamed(&self, array: Handle<Array>) -> bool {
        self.around.shared.program.decisions.is_streamed(array) && self.around.shared.streams
    }

    // Locals.

    pub(super) fn local(&mut self, local: Handle<LoopLocal>) -> Option<Id> {
        let dtype = self.around.shared.program.locals[local].dtype;
        let kind = kind_of(dtype)?;
        match self.locals.get(&local) {
            Some(&Local::Value(id)) => Some(id),
            Some(&Local::Slot(slot)) => Some(self.make(Op::Slot(slot), kind)),
            None => self.constant(Number::zero(dtype)),
        }
    }

    /// Assigns a local. Without a slot, that is another value under its name and no code.
    pub(super) fn set_local(&mut self, local: Handle<LoopLocal>, value: Id) {
        match self.locals.get(&local) {
            Some(&Local::Slot(slot)) => {
                let kind = self.body.values[value].kind;
                self.push(Step::Keep { slot, value });
                self.known.insert((Op::Slot(slot), kind), value);
            }
            _ => {
                self.locals.insert(local, Local::Value(value));
            }
        }
    }

    pub(super) fn new_slot(&mut self) -> usize {
        self.body.n_slots += 1;
        self.body.n_slots - 1
    }

    /// Moves the locals that items write into slots, so that what follows finds them wherever it comes from.
    pub(super) fn settle(&mut self, items: &[Item]) -> Option<()> {
        let mut changed = BTreeSet::new();
        walk(items, &mut |item| {
            if let Item::Assign(Assign { target: Target::Local(local), .. }) = item {
                changed.insert(*local);
            }
        });
        for local in changed {
            if let Some(&Local::Value(value)) = self.locals.get(&local) {
                let slot = self.new_slot();
                self.locals.insert(local, Local::Slot(slot));
                self.set_local(local, value);
            }
        }
        Some(())
    }

    // Statements.

    pub(super) fn items(&mut self, items: &[Item]) -> Option<()> {
        items.iter().try_for_each(|item| self.item(item))
    }

    pub(super) fn item(&mut self, item: &Item) -> Option<()> {
        match item {
            Item::Assign(it) => {
                let value = self.expr(&it.value)?;
                match &it.target {
                    Target::Element(element) => self.store(element, value),
                    Target::Local(local) => {
                        let value = match self.mask {
                            None => value,
                            Some(mask) => {
                                let old = self.local(*local)?;
                                let kind = self.body.values[value].kind;
                                self.select(kind, mask, value, old)
                            }
                        };
                        self.set_local(*local, value);
                        Some(())
                    }
                }
            }
            Item::Declare(Declare { local, value, .. }) => {
                let value = match value {
                    Some((value, _)) => self.expr(value)?,
                    None => self.constant(Number::zero(self.around.shared.program.locals[*local].dtype))?,
                };
                // A declaration in a loop comes again.
                self.locals.remove(local);
                self.set_local(*local, value);
                Some(())
            }
            Item::If(it) => self.branches(it, 0),
            Item::While(it) => self.repeat(it),
            Item::For(_) | Item::Strips(_) | Item::Launch(_) | Item::Checked(_) | Item::Barrier => None,
        }
    }

    /// Branches from one on, each for the lanes in which no condition before it holds.
    pub(super) fn branches(&mut self, it: &If, first: usize) -> Option<()> {
        let Some(branch) = it.branches.get(first) else {
            return self.items(&it.otherwise);
        };
        let is_last = first + 1 == it.branches.len() && it.otherwise.is_empty();
        let around = self.mask;
        // A condition that is the same for all lanes may guard elements that do not exist.
        let is_same = self.is_same(&branch.condition);
        let condition = self.expr(&branch.condition)?;
        let inside = self.both(around, condition);
        let skipped = self.around.shared.program.decisions.skipped(it.id);
        let asks = is_same || skipped.is_some_and(|it| it.arms.contains(&first));
        let asks_for_others = is_same || skipped.is_some_and(|it| it.others.contains(&first));
        self.guarded(inside, asks, &branch.body, |this| this.items(&branch.body))?;
        if !is_last {
            let outside = self.not(condition);
            let outside = self.both(around, outside);
            let rest: Vec<Item> = it.branches[first + 1..]
                .iter()
                .flat_map(|it| it.body.iter().cloned())
                .chain(it.otherwise.iter().cloned())
                .collect();
            self.guarded(outside, asks_for_others, &rest, |this| this.branches(it, first + 1))?;
        }
        self.mask = around;
        Some(())
    }

    pub(super) fn both(&mut self, around: Option<Id>, condition: Id) -> Id {
        match around {
            None => condition,
            Some(around) => self.binary(Binary::And, LaneKind::Mask, around, condition),
        }
    }

    /// Does what `inside` does, for the lanes of a mask; if there are none, and `asks` holds, not at all.
    ///
    /// Without a question, a branch is computed for all lanes, and its results are masked. Otherwise it gets a block
    /// that is skipped. A condition that is the same for all lanes must be asked: what it guards may not exist.
    pub(super) fn guarded(
        &mut self,
        mask: Id,
        asks: bool,
        items: &[Item],
        inside: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let around = self.mask.replace(mask);
        if !asks {
            let locals = self.locals.clone();
            inside(self)?;
            self.forget_new(&locals);
            self.mask = around;
            return Some(());
        }
        self.settle(items)?;
        let asking = self.at_block();
        let then = self.next_block(End::Done);
        let locals = self.locals.clone();
        inside(self)?;
        self.forget_new(&locals);
        let after = self.at_block() + 1;
        self.next_block(End::Go(after));
        self.body.blocks[asking].end = End::IfAny(mask, then, after);
        self.mask = around;
        Some(())
    }

    /// Forgets the locals that a block has declared.
    pub(super) fn forget_new(&mut self, before: &BTreeMap<Handle<LoopLocal>, Local>) {
        self.locals.retain(|local, _| before.contains_key(local));
    }

    /// A `while`, whose lanes go round together:
    ///
    /// ```text
    ///          slot_active = lanes around; slot_turns = 0, or all where the run ends before this row; go to test
    /// test:    slot_active = slot_active and condition; if any, body, else after
    /// body:    count slot_turns up to max_turns, then beyond
    ///          …the statements, for the active lanes; go to test
    /// beyond:  raise for the active lanes; go to after
    /// after:
    /// ```
    pub(super) fn repeat(&mut self, it: &While) -> Option<()> {
        self.settle(&it.body)?;
        let (active_slot, turns) = (self.new_slot(), self.new_slot());
        let all = match self.mask {
            Some(mask) => mask,
            None => self.always(),
        };
        self.push(Step::Keep { slot: active_slot, value: all });
        let done = self.iterations_done(&it.trap)?;
        self.push(Step::Start { slot: turns, word: done });
        let test = self.at_block() + 1;
        self.next_block(End::Go(test));
        let condition = self.expr(&it.condition)?;
        let before = self.make(Op::Slot(active_slot), LaneKind::Mask);
        let active = self.binary(Binary::And, LaneKind::Mask, before, condition);
        self.push(Step::Keep { slot: active_slot, value: active });
        // The blocks that this one goes to are known when the body is there.
        let testing = self.at_block();
        let body = self.next_block(End::Done);
        let counting = self.body.blocks[body].steps.len();
        let around = self.mask.replace(active);
        let locals = self.locals.clone();
        self.items(&it.body)?;
        self.forget_new(&locals);
        self.mask = around;
        let beyond = self.next_block(End::Go(test));
        let words = self.trap(&it.trap)?;
        self.push(Step::Raise { words, mask: active });
        let after = self.at_block() + 1;
        self.next_block(End::Go(after));
        self.body.blocks[testing].end = End::IfAny(active, body, after);
        let limit = self.around.shared.max_turns;
        self.body.blocks[body].steps.insert(counting, Step::Count { slot: turns, limit, beyond });
        Some(())
    }

    /// The word with the number of iterations that count as done. Where the run must end before the first
    /// cell of the row, it is all of them. That is found out once for each row.
    fn iterations_done(&mut self, trap: &Trap) -> Option<usize> {
        self.factors_of(trap)?;
        let limit = i64::try_from(self.around.shared.max_turns).unwrap_or(i64::MAX);
        let host = self.around.load_word(self.around.frame, 0);
        let site = TrapSite { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
        self.around.shared.sites.push(site);
        let site = i64::try_from(self.around.shared.sites.len() - 1).unwrap_or(0);
        let function = self.around.host(Import::IsBehind);
        let mut arguments = vec![host, self.around.emit.builder.ins().iconst(I64, site)];
        for sum in [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]] {
            arguments.push(self.around.affine(sum));
        }
        let builder = &mut self.around.emit.builder;
        let call = builder.ins().call(function, &arguments);
        let is_behind = builder.inst_results(call)[0];
        let done = builder.ins().imul_imm_s(is_behind, limit);
        Some(self.word(done))
    }

    /// Checks that lanes can share a report: the loop goes along I, and nothing else of the report depends on
    /// its variable.
    fn factors_of(&self, trap: &Trap) -> Option<()> {
        let all = [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]].map(|it| it.factor(&self.symbol));
        (all == [0, 1, 0, 0]).then_some(())
    }

    /// The words of a report: the function, the host, the statement, and where the first iteration is.
    ///
    /// The host adds the iteration of each lane to I of the first cell. So the loop has to go along I, and nothing else
    /// of the report may depend on its variable.
    pub(super) fn trap(&mut self, trap: &Trap) -> Option<usize> {
        self.factors_of(trap)?;
        let site = TrapSite { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
        self.around.shared.sites.push(site);
        let site = i64::try_from(self.around.shared.sites.len() - 1).unwrap_or(0);
        let function = self.around.host(Import::RaiseLanes);
        let function = self.around.emit.builder.ins().func_addr(I64, function);
        let first = self.word(function);
        let host = self.around.load_word(self.around.frame, 0);
        self.word(host);
        let site = self.around.emit.builder.ins().iconst(I64, site);
        self.word(site);
        for sum in [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]] {
            let value = self.around.affine(sum);
            self.word(value);
        }
        Some(first)
    }
}
