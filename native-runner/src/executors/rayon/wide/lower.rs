//! The body of a vector loop as operations on vectors, with the meaning that [`super::super::expression`] gives it.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value as Clif};
use isobar_compiler::backend::code::nodes::{
    Assign, At, Declare, Element, For, If, Item, Read, Target, Trap, While, any, walk,
};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::sdfg::nodes::{ContainerKind, Storage};
use isobar_compiler::space::{Affine, AxisSet, Ring, Symbol};
use isobar_compiler::types::math::record::{self, Definition};
use isobar_compiler::types::math::{definition, power_definition};
use isobar_compiler::types::{BinaryOp, DType, Function, UnaryOp, Value as Number};

use super::super::host::{Import, Site};
use super::super::lanes::Operand;
use super::super::translate::{Translation, definitions};
use super::nodes::{Binary, Block, Body, End, Id, Kind, Op, Place, Pointer, Relation, Step, Unary, Value};

/// Steps of a branch that are worth asking whether any lane takes it.
const WORTH_A_BRANCH: usize = 24;
/// From so many bytes of all fields on, what is written is written past the caches.
const STREAM_FROM: i64 = 16 << 20;
/// No array: the tables.
const TABLES: usize = usize::MAX;

impl Translation<'_, '_> {
    /// Runs all iterations by wide code; nothing is done where that does not know something of the body.
    pub(in super::super) fn wide_loop(&mut self, it: &For) -> bool {
        if !self.links.has_wide() {
            return false;
        }
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = it.positions.variable.clone();
        let before = self.positions.insert(symbol.clone(), start);
        self.lane_symbol = Some(symbol.clone());
        let made = Lowering::new(self, it).map(|lowering| lowering.finish());
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

/// What a local of the body is at the moment.
#[derive(Clone, Copy, Debug)]
enum Local {
    Value(Id),
    /// In a slot of the frame, since it changes in some turns or lanes only.
    Slot(usize),
}

struct Lowering<'w, 't, 'p> {
    around: &'w mut Translation<'t, 'p>,
    body: Body,
    words: Vec<Clif>,
    /// What is made in the block at hand, or fixed.
    known: BTreeMap<(Op, Kind), Id>,
    fixed: BTreeMap<(Op, Kind), Id>,
    /// Expressions that are the same for all lanes, and their words.
    same: Vec<(Expr<Read>, usize)>,
    pointers: BTreeMap<(usize, Vec<At>), usize>,
    locals: BTreeMap<usize, Local>,
    own_locals: BTreeSet<usize>,
    written: BTreeSet<usize>,
    mask: Option<Id>,
    symbol: Symbol,
}

/// The lanes' kind of a type; none where no vector holds it.
fn kind_of(dtype: DType) -> Option<Kind> {
    match dtype {
        DType::Bool => Some(Kind::Mask),
        DType::Int32 => Some(Kind::I32),
        DType::Int64 => Some(Kind::I64),
        DType::Float32 => Some(Kind::F32),
        DType::Float64 => Some(Kind::F64),
        DType::Int8 | DType::Int16 => None,
    }
}

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
    fn new(around: &'w mut Translation<'t, 'p>, it: &For) -> Option<Self> {
        let mut own_locals = BTreeSet::new();
        let mut written = BTreeSet::new();
        let mut is_double = !definitions(&it.body).is_empty();
        let program = around.shared.program;
        walk(&it.body, &mut |item| {
            item.each_expr(&mut |expr| {
                expr.walk(&mut |it| is_double |= matches!(it.dtype, DType::Float64 | DType::Int64));
            });
            match item {
                Item::Declare(it) => {
                    own_locals.insert(it.local);
                    is_double |= program.locals[it.local].dtype == DType::Float64;
                }
                Item::Assign(Assign { target: Target::Element(it), .. }) => {
                    written.insert(it.array);
                    let dtype = program.arrays[it.array].container.dtype;
                    is_double |= matches!(dtype, DType::Float64 | DType::Int64);
                }
                _ => {}
            }
        });
        let zero = around.emit.builder.ins().iconst(I64, 0);
        let lanes = if is_double { 8 } else { 16 };
        let first = Block { steps: Vec::new(), end: End::Done };
        let mut this = Self {
            around,
            body: Body { lanes, blocks: vec![first], ..Body::default() },
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
    fn fetch_ahead(&mut self) {
        for mut row in std::mem::take(&mut self.around.ahead) {
            if let Some(along) = row.index.first_mut() {
                *along = At::Known(Affine::symbol(&self.symbol));
            }
            if let Some((place, apart)) = self.place(&row)
                && apart != 0
            {
                self.push(Step::Fetch { place });
            }
        }
    }

    fn finish(mut self) -> (Body, Vec<Clif>) {
        self.body.n_words = self.words.len();
        self.body.finish();
        (self.body, self.words)
    }

    // Values.

    fn make(&mut self, op: Op, kind: Kind) -> Id {
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

    fn push(&mut self, step: Step) {
        self.body.blocks.last_mut().expect("there is a block").steps.push(step);
    }

    /// Ends the block at hand and starts another one, whose number is the answer.
    fn next_block(&mut self, end: End) -> usize {
        self.body.blocks.last_mut().expect("there is a block").end = end;
        self.body.blocks.push(Block { steps: Vec::new(), end: End::Done });
        self.known.clear();
        self.at_block()
    }

    fn at_block(&self) -> usize {
        self.body.blocks.len() - 1
    }

    fn constant(&mut self, value: Number) -> Option<Id> {
        let kind = kind_of(value.dtype())?;
        Some(self.make(Op::Constant(bits_of(value)), kind))
    }

    fn word(&mut self, value: Clif) -> usize {
        self.words.push(value);
        self.words.len() - 1
    }

    fn binary(&mut self, op: Binary, kind: Kind, a: Id, b: Id) -> Id {
        self.make(Op::Binary(op, a, b), kind)
    }

    fn unary(&mut self, op: Unary, kind: Kind, a: Id) -> Id {
        self.make(Op::Unary(op, a), kind)
    }

    fn compare(&mut self, relation: Relation, kind: Kind, a: Id, b: Id) -> Id {
        self.make(Op::Compare(relation, kind, a, b), Kind::Mask)
    }

    fn always(&mut self) -> Id {
        self.make(Op::Constant(u64::MAX), Kind::Mask)
    }

    fn not(&mut self, a: Id) -> Id {
        let always = self.always();
        self.binary(Binary::AndNot, Kind::Mask, a, always)
    }

    fn select(&mut self, kind: Kind, mask: Id, then: Id, otherwise: Id) -> Id {
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
    fn place(&mut self, element: &Element) -> Option<(Place, usize)> {
        let program = self.around.shared.program;
        let of = &program.arrays[element.array];
        let size = of.container.dtype.size_bytes() as i64;
        let ring = of.container.ring;
        let strides = self.around.shared.shape.arrays[element.array].strides.clone();
        let (mut offset, mut apart, mut without) = (0_i64, 0_i64, element.clone());
        for (dimension, (at, stride)) in without.index.iter_mut().zip(strides).enumerate() {
            let is_round = Ring::places_along(ring, dimension).is_some();
            match at {
                At::Known(sum) => {
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
                At::Found { shift, .. } if shift.factor(&self.symbol) != 0 => return None,
                At::Found { .. } => {}
            }
        }
        if apart != 0 && apart != size {
            return None;
        }
        let offset = i32::try_from(offset).ok()?;
        let apart = usize::try_from(apart).ok()?;
        let key = (element.array, without.index.clone());
        if let Some(&pointer) = self.pointers.get(&key) {
            return Some((Place { pointer, offset }, apart));
        }
        let (address, constant, _) = self.around.address(&without);
        let address = self.around.emit.builder.ins().iadd_imm_s(address, constant);
        let word = self.word(address);
        self.body.pointers.push(Pointer {
            word,
            array: element.array,
            bytes: of.container.dtype.size_bytes(),
        });
        let pointer = self.body.pointers.len() - 1;
        self.pointers.insert(key, pointer);
        Some((Place { pointer, offset }, apart))
    }

    fn load(&mut self, element: &Element, dtype: DType) -> Option<Id> {
        let kind = kind_of(dtype)?;
        let (place, apart) = self.place(element)?;
        match (dtype, apart) {
            (DType::Bool, 0) => None,
            (DType::Bool, _) => Some(self.make(Op::LoadBools(place), kind)),
            (_, 0) => Some(self.make(Op::LoadOne(place), kind)),
            _ => Some(self.make(Op::Load(place), kind)),
        }
    }

    fn store(&mut self, element: &Element, value: Id) -> Option<()> {
        let dtype = self.around.shared.program.arrays[element.array].container.dtype;
        let kind = kind_of(dtype)?;
        let (place, apart) = self.place(element)?;
        if apart == 0 {
            return None;
        }
        let op = if dtype == DType::Bool { Op::LoadBools(place) } else { Op::Load(place) };
        let old = self.known.get(&(op, kind)).copied();
        let (value, mask) = match (self.mask, old) {
            (None, _) => (value, None),
            // What is there is at hand.
            (Some(mask), Some(old)) => (self.select(kind, mask, value, old), None),
            (Some(mask), None) if dtype == DType::Bool => {
                let old = self.make(op, kind);
                (self.select(kind, mask, value, old), None)
            }
            (Some(mask), None) => (value, Some(mask)),
        };
        let array = element.array;
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

    /// Whether rows of an array are written past the caches: what the program writes and does not read, where its
    /// fields are more than a last cache keeps from one call to the next.
    fn is_streamed(&self, array: usize) -> bool {
        let of = &self.around.shared.program.arrays[array].container;
        of.kind == ContainerKind::Field { is_read: false, is_written: true }
            && of.storage == Storage::Caller
            && of.axes == AxisSet::IJK
            && of.shape.len() == 3
            && of.dtype.is_float()
            && self.around.shared.shape.field_bytes(self.around.shared.program)
                >= std::env::var("XSTREAM").ok().and_then(|it| it.parse().ok()).unwrap_or(STREAM_FROM)
    }

    // Locals.

    fn local(&mut self, local: usize) -> Option<Id> {
        let dtype = self.around.shared.program.locals[local].dtype;
        let kind = kind_of(dtype)?;
        match self.locals.get(&local) {
            Some(&Local::Value(id)) => Some(id),
            Some(&Local::Slot(slot)) => Some(self.make(Op::Slot(slot), kind)),
            None => self.constant(Number::zero(dtype)),
        }
    }

    fn set_local(&mut self, local: usize, value: Id) {
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

    fn new_slot(&mut self) -> usize {
        self.body.n_slots += 1;
        self.body.n_slots - 1
    }

    /// Moves the locals that items write into slots, so that what follows finds them wherever it comes from.
    fn settle(&mut self, items: &[Item]) -> Option<()> {
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

    fn items(&mut self, items: &[Item]) -> Option<()> {
        items.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, item: &Item) -> Option<()> {
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
            Item::For(_) | Item::Launch(_) | Item::Checked(_) => None,
        }
    }

    fn branches(&mut self, it: &If, first: usize) -> Option<()> {
        let Some(branch) = it.branches.get(first) else {
            return self.items(&it.otherwise);
        };
        let is_last = first + 1 == it.branches.len() && it.otherwise.is_empty();
        let around = self.mask;
        // A condition that is the same for all lanes may guard elements that do not exist.
        let is_same = self.is_same(&branch.condition);
        let condition = self.expr(&branch.condition)?;
        let inside = self.both(around, condition);
        self.guarded(inside, is_same, &branch.body, |this| this.items(&branch.body))?;
        if !is_last {
            let outside = self.not(condition);
            let outside = self.both(around, outside);
            let rest: Vec<Item> = it.branches[first + 1..]
                .iter()
                .flat_map(|it| it.body.iter().cloned())
                .chain(it.otherwise.iter().cloned())
                .collect();
            self.guarded(outside, is_same, &rest, |this| this.branches(it, first + 1))?;
        }
        self.mask = around;
        Some(())
    }

    fn both(&mut self, around: Option<Id>, condition: Id) -> Id {
        match around {
            None => condition,
            Some(around) => self.binary(Binary::And, Kind::Mask, around, condition),
        }
    }

    /// Does what `inside` does, for the lanes of a mask; if there are none, and that is worth asking, not at all.
    fn guarded(
        &mut self,
        mask: Id,
        must_ask: bool,
        items: &[Item],
        inside: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let around = self.mask.replace(mask);
        let mut n_steps = 0;
        walk(items, &mut |item| item.each_expr(&mut |expr| expr.walk(&mut |_| n_steps += 1)));
        let asks = must_ask
            || n_steps > WORTH_A_BRANCH
            || !definitions(items).is_empty()
            || any(items, &mut |it| matches!(it, Item::While(_)));
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

    /// What a block declares ends with it.
    fn forget_new(&mut self, before: &BTreeMap<usize, Local>) {
        self.locals.retain(|local, _| before.contains_key(local));
    }

    fn repeat(&mut self, it: &While) -> Option<()> {
        self.settle(&it.body)?;
        let (active_slot, turns) = (self.new_slot(), self.new_slot());
        let all = match self.mask {
            Some(mask) => mask,
            None => self.always(),
        };
        self.push(Step::Keep { slot: active_slot, value: all });
        self.push(Step::Start { slot: turns });
        let test = self.at_block() + 1;
        self.next_block(End::Go(test));
        let condition = self.expr(&it.condition)?;
        let before = self.make(Op::Slot(active_slot), Kind::Mask);
        let active = self.binary(Binary::And, Kind::Mask, before, condition);
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

    /// The words of a report: the function, the host, the statement, and where the first iteration is.
    fn trap(&mut self, trap: &Trap) -> Option<usize> {
        let factors =
            [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]].map(|it| it.factor(&self.symbol));
        if factors != [0, 1, 0, 0] {
            return None;
        }
        let site = Site { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
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

    // Expressions.

    fn depends(&self, sum: &Affine) -> bool {
        sum.factor(&self.symbol) != 0
    }

    /// Whether an expression is the same in all iterations, and reads no memory that may not exist.
    fn is_same(&self, expr: &Expr<Read>) -> bool {
        let mut is_same = true;
        expr.accesses(&mut |read| {
            is_same &= match read {
                Read::Local(local) => !self.own_locals.contains(local),
                Read::Sum(sum) => !self.depends(sum),
                Read::Element(element) => {
                    self.around.shared.program.arrays[element.array].is_scalar_argument()
                        && !self.written.contains(&element.array)
                }
            };
        });
        is_same
    }

    fn same(&mut self, expr: &Expr<Read>) -> Option<Id> {
        let kind = kind_of(expr.dtype)?;
        if let ExprKind::Literal(value) = &expr.kind {
            return self.constant(*value);
        }
        if let Some((_, at)) = self.same.iter().find(|(it, _)| it == expr) {
            return Some(self.make(Op::Word(*at), kind));
        }
        let around = self.around.lane_symbol.take();
        let Operand::Same(value) = self.around.expr(expr) else {
            unreachable!("nothing of it differs from lane to lane")
        };
        self.around.lane_symbol = around;
        let value = match expr.dtype {
            DType::Bool => self.around.emit.builder.ins().bmask(I64, value),
            DType::Int32 => {
                debug_assert_eq!(self.around.emit.builder.func.dfg.value_type(value), I32);
                value
            }
            _ => value,
        };
        let at = self.word(value);
        self.same.push((expr.clone(), at));
        Some(self.make(Op::Word(at), kind))
    }

    fn expr(&mut self, expr: &Expr<Read>) -> Option<Id> {
        if self.is_same(expr) {
            return self.same(expr);
        }
        let kind = kind_of(expr.dtype)?;
        match &expr.kind {
            ExprKind::Access(read) | ExprKind::Element(read, _) => match read {
                Read::Local(local) => self.local(*local),
                Read::Element(element) => self.load(element, expr.dtype),
                Read::Sum(_) => None,
            },
            ExprKind::Unary(op, operand) => {
                let value = self.expr(operand)?;
                match op {
                    UnaryOp::Plus => Some(value),
                    UnaryOp::Not => Some(self.not(value)),
                    UnaryOp::Minus if kind.is_float() => Some(self.negative(kind, value)),
                    UnaryOp::Minus => {
                        let zero = self.constant(Number::zero(expr.dtype))?;
                        Some(self.binary(Binary::Sub, kind, zero, value))
                    }
                }
            }
            ExprKind::Binary(op, left, right) => self.operation(*op, left, right),
            ExprKind::Ternary { condition, then, otherwise } => {
                let condition = self.expr(condition)?;
                let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                Some(self.select(kind, condition, then, otherwise))
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::Cast(to, operand) => {
                let value = self.expr(operand)?;
                self.cast(operand.dtype, *to, value)
            }
            ExprKind::Literal(_) | ExprKind::Position(_) => None,
        }
    }

    fn negative(&mut self, kind: Kind, value: Id) -> Id {
        let sign = if kind == Kind::F64 { 1 << 63 } else { 1 << 31 };
        let sign = self.make(Op::Constant(sign), kind);
        self.binary(Binary::Xor, kind, value, sign)
    }

    fn magnitude(&mut self, kind: Kind, value: Id) -> Id {
        let rest = if kind == Kind::F64 { u64::MAX >> 1 } else { u64::from(u32::MAX >> 1) };
        let rest = self.make(Op::Constant(rest), kind);
        self.binary(Binary::And, kind, value, rest)
    }

    fn operation(&mut self, op: BinaryOp, left: &Expr<Read>, right: &Expr<Read>) -> Option<Id> {
        let dtype = left.dtype;
        let kind = kind_of(dtype)?;
        if self.around.fuses() && kind.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &left.kind {
                let (a, b, c) = (self.expr(one)?, self.expr(other)?, self.expr(right)?);
                return Some(self.make(Op::Fused { a, b, c, subtracts: op == BinaryOp::Sub }, kind));
            }
            if let ExprKind::Binary(BinaryOp::Mul, one, other) = &right.kind {
                let (c, mut a, b) = (self.expr(left)?, self.expr(one)?, self.expr(other)?);
                if op == BinaryOp::Sub {
                    a = self.negative(kind, a);
                }
                return Some(self.make(Op::Fused { a, b, c, subtracts: false }, kind));
            }
        }
        let is_float = dtype.is_float();
        match op {
            BinaryOp::Div | BinaryOp::Mod if !is_float => return None,
            BinaryOp::Mod => return None,
            BinaryOp::Pow => {
                let definition = power_definition(dtype).filter(|_| is_float)?;
                let a = self.expr(left)?;
                let b = self.expr(right)?;
                let b = self.cast(right.dtype, dtype, b)?;
                return self.formula(definition, &[a, b]);
            }
            _ => {}
        }
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        let arithmetic = |op| Op::Binary(op, a, b);
        Some(match op {
            BinaryOp::Add => self.make(arithmetic(Binary::Add), kind),
            BinaryOp::Sub => self.make(arithmetic(Binary::Sub), kind),
            BinaryOp::Mul => self.make(arithmetic(Binary::Mul), kind),
            BinaryOp::Div => self.make(arithmetic(Binary::Div), kind),
            BinaryOp::And => self.make(arithmetic(Binary::And), Kind::Mask),
            BinaryOp::Or => self.make(arithmetic(Binary::Or), Kind::Mask),
            BinaryOp::Ne if dtype == DType::Bool => self.make(arithmetic(Binary::Xor), Kind::Mask),
            BinaryOp::Eq if dtype == DType::Bool => {
                let differ = self.make(arithmetic(Binary::Xor), Kind::Mask);
                self.not(differ)
            }
            _ if dtype == DType::Bool => return None,
            BinaryOp::Eq => self.compare(Relation::Equal, kind, a, b),
            BinaryOp::Ne => self.compare(Relation::NotEqual, kind, a, b),
            BinaryOp::Lt => self.compare(Relation::Less, kind, a, b),
            BinaryOp::Le => self.compare(Relation::LessOrEqual, kind, a, b),
            BinaryOp::Gt => self.compare(Relation::Less, kind, b, a),
            BinaryOp::Ge => self.compare(Relation::LessOrEqual, kind, b, a),
            BinaryOp::Mod | BinaryOp::Pow => return None,
        })
    }

    fn call(&mut self, function: Function, arguments: &[Expr<Read>]) -> Option<Id> {
        let dtype = arguments.first()?.dtype;
        let kind = kind_of(dtype)?;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expr(argument)?);
        }
        let a = values[0];
        // A function of two arguments has them; one that was given one takes it for both.
        let b = values.get(1).copied().unwrap_or(a);
        if !dtype.is_float() {
            return self.call_on_integers(function, kind, a, b);
        }
        Some(match function {
            Function::Abs => self.magnitude(kind, a),
            Function::Sqrt => self.unary(Unary::Sqrt, kind, a),
            Function::Floor => self.unary(Unary::Floor, kind, a),
            Function::Ceil => self.unary(Unary::Ceil, kind, a),
            Function::Trunc => self.unary(Unary::Trunc, kind, a),
            Function::Round => self.unary(Unary::Nearest, kind, a),
            Function::MinC => self.binary(Binary::Min, kind, b, a),
            Function::MaxC => self.binary(Binary::Max, kind, b, a),
            Function::Min | Function::Max => {
                let op = if function == Function::Min { Binary::Min } else { Binary::Max };
                let one = self.binary(op, kind, b, a);
                let is_nan = self.compare(Relation::Unordered, kind, b, b);
                self.select(kind, is_nan, b, one)
            }
            Function::IsNan => self.compare(Relation::Unordered, kind, a, a),
            Function::IsInf | Function::IsFinite => {
                let size = self.magnitude(kind, a);
                let infinity = self.constant(Number::Float64(f64::INFINITY).cast(dtype))?;
                let relation = if function == Function::IsInf { Relation::Equal } else { Relation::Less };
                self.compare(relation, kind, size, infinity)
            }
            _ => return self.formula(definition(function, dtype)?, &[a]),
        })
    }

    fn call_on_integers(&mut self, function: Function, kind: Kind, a: Id, b: Id) -> Option<Id> {
        if kind == Kind::Mask {
            return None;
        }
        Some(match function {
            Function::Abs => self.unary(Unary::Abs, kind, a),
            Function::Min | Function::MinC => self.binary(Binary::Min, kind, a, b),
            Function::Max | Function::MaxC => self.binary(Binary::Max, kind, a, b),
            Function::Mod | Function::ModC | Function::IsNan | Function::IsInf | Function::IsFinite => {
                return None;
            }
            // Rounding leaves an integer what it is.
            _ => a,
        })
    }

    /// The value converted as an assignment converts it.
    fn cast(&mut self, from: DType, to: DType, value: Id) -> Option<Id> {
        if from == to {
            return Some(value);
        }
        let (of, kind) = (kind_of(from)?, kind_of(to)?);
        if to == DType::Bool {
            let zero = self.constant(Number::zero(from))?;
            return Some(self.compare(Relation::NotEqual, of, value, zero));
        }
        if from == DType::Bool {
            let (one, zero) = (self.constant(Number::Int64(1).cast(to))?, self.constant(Number::zero(to))?);
            return Some(self.select(kind, value, one, zero));
        }
        if from.is_float() && !to.is_float() {
            let whole = self.whole(from, value)?;
            return Some(if kind == Kind::I64 {
                whole
            } else {
                self.make(Op::Convert(Kind::I64, whole), kind)
            });
        }
        Some(self.make(Op::Convert(of, value), kind))
    }

    /// Toward zero; no number is 0, and what does not fit is the nearest that does.
    fn whole(&mut self, from: DType, value: Id) -> Option<Id> {
        if self.body.lanes > 8 {
            return None;
        }
        let of = kind_of(from)?;
        // What is too small becomes the least by itself, as does everything else that does not fit.
        let whole = self.make(Op::Convert(of, value), Kind::I64);
        let bound = self.constant(Number::Float64(-(i64::MIN as f64)).cast(from))?;
        let is_large = self.compare(Relation::LessOrEqual, of, bound, value);
        let largest = self.constant(Number::Int64(i64::MAX))?;
        let whole = self.select(Kind::I64, is_large, largest, whole);
        let is_nan = self.compare(Relation::Unordered, of, value, value);
        let zero = self.constant(Number::Int64(0))?;
        Some(self.select(Kind::I64, is_nan, zero, whole))
    }

    /// The value of an elementary function, whose arguments have its type.
    fn formula(&mut self, definition: &'static Definition, arguments: &[Id]) -> Option<Id> {
        use record::Op as Formula;
        let is_single = definition.dtype == DType::Float32;
        let mut params = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            params.push(if is_single {
                self.make(Op::Convert(Kind::F32, argument), Kind::F64)
            } else {
                argument
            });
        }
        let mut values: Vec<Id> = Vec::with_capacity(definition.steps.len());
        for (_, step) in definition.steps.iter() {
            let at = |it: record::Value| values[it.index()];
            let double = Kind::F64;
            let value = match step.op {
                Formula::Param(n) | Formula::SingleParam(n) => params[n],
                Formula::Constant(it) => self.make(Op::Constant(it.to_bits()), double),
                Formula::BitsConstant(it) => self.make(Op::Constant(it), Kind::I64),
                Formula::Neg(a) => {
                    let a = at(a);
                    self.negative(double, a)
                }
                Formula::Abs(a) => {
                    let a = at(a);
                    self.magnitude(double, a)
                }
                Formula::Sqrt(a) => self.make(Op::Unary(Unary::Sqrt, at(a)), double),
                Formula::Floor(a) => self.make(Op::Unary(Unary::Floor, at(a)), double),
                Formula::Nearest(a) => self.make(Op::Unary(Unary::Nearest, at(a)), double),
                Formula::Add(a, b) => self.make(Op::Binary(Binary::Add, at(a), at(b)), double),
                Formula::Sub(a, b) => self.make(Op::Binary(Binary::Sub, at(a), at(b)), double),
                Formula::Mul(a, b) => self.make(Op::Binary(Binary::Mul, at(a), at(b)), double),
                Formula::Div(a, b) => self.make(Op::Binary(Binary::Div, at(a), at(b)), double),
                Formula::ProductError(a, b, c) => {
                    self.make(Op::Fused { a: at(a), b: at(b), c: at(c), subtracts: true }, double)
                }
                Formula::Less(a, b) => {
                    self.make(Op::Compare(Relation::Less, double, at(a), at(b)), Kind::Mask)
                }
                Formula::Equal(a, b) => {
                    self.make(Op::Compare(Relation::Equal, double, at(a), at(b)), Kind::Mask)
                }
                Formula::And(a, b) => self.make(Op::Binary(Binary::And, at(a), at(b)), Kind::Mask),
                Formula::Or(a, b) => self.make(Op::Binary(Binary::Or, at(a), at(b)), Kind::Mask),
                Formula::Not(a) => {
                    let a = at(a);
                    self.not(a)
                }
                Formula::Choose(condition, yes, no) => {
                    self.make(Op::Select(at(condition), at(yes), at(no)), double)
                }
                Formula::BitsOf(a) | Formula::OfBits(a) | Formula::Narrow(a) => at(a),
                Formula::Plus(a, b) => self.make(Op::Binary(Binary::Add, at(a), at(b)), Kind::I64),
                Formula::BitAnd(a, mask) => {
                    let mask = self.make(Op::Constant(mask), Kind::I64);
                    self.make(Op::Binary(Binary::And, at(a), mask), Kind::I64)
                }
                Formula::BitOr(a, b) => self.make(Op::Binary(Binary::Or, at(a), at(b)), Kind::I64),
                Formula::ShiftLeft(a, by) => {
                    self.make(Op::ShiftLeft(at(a), u8::try_from(by).ok()?), Kind::I64)
                }
                Formula::ShiftRight(a, by) => {
                    self.make(Op::ShiftRight(at(a), u8::try_from(by).ok()?), Kind::I64)
                }
                Formula::Pick(table, index) => {
                    let key = (TABLES, vec![At::Known(Affine::symbol(&Symbol::new(table.name)))]);
                    let pointer = match self.pointers.get(&key) {
                        Some(&known) => known,
                        None => {
                            let address = self.around.table(table);
                            let word = self.word(address);
                            self.body.pointers.push(Pointer { word, array: TABLES, bytes: 8 });
                            self.pointers.insert(key, self.body.pointers.len() - 1);
                            self.body.pointers.len() - 1
                        }
                    };
                    self.make(Op::Gather(Place { pointer, offset: 0 }, at(index)), double)
                }
            };
            values.push(value);
        }
        let result = values[definition.result.index()];
        Some(if is_single { self.make(Op::Convert(Kind::F64, result), Kind::F32) } else { result })
    }
}
