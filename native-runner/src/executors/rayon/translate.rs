//! Functions of a program as functions of machine code: loops, branches, statements, addresses.
//!
//! A function gets a frame, the positions that it is for, and the number of the thread that it runs on. The frame
//! is a list of words: the host's own, then for each array the address of its first element or the value of a scalar.
//! Sizes, strides and numbers of levels are constants of the code.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64, I64X2};
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, BlockArg, FuncRef, GlobalValue, InstBuilder, MemFlagsData, SourceLoc,
    StackSlotData, StackSlotKind, Type, Value as Clif,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use isobar_compiler::backend::code::nodes::{
    Assign, At, Checked, Declare, Element, For, Function, If, Item, Launch, Meaning, Program, Read, Target,
    Trap, While, any, walk,
};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::space::{Affine, Axis, Ring, Size, Symbol};
use isobar_compiler::types::math::real::Table;
use isobar_compiler::types::math::record::Definition;
use isobar_compiler::types::math::{definition, power_definition};
use isobar_compiler::types::{BinaryOp, DType, Value};

use super::host::{Helper, Import, Site};
use super::lanes::{Chunks, Emitter, Operand, REGISTER, chunk_type, scalar_type};
use super::shape::Shape;

/// Iterations of a vector loop that are computed together, in several registers each.
const LANES: usize = 4;

/// What functions of one program share while they are made.
pub(super) struct Shared<'p> {
    pub(super) program: &'p Program,
    pub(super) shape: &'p Shape,
    /// Where the run may have to end; code names them by position.
    pub(super) sites: Vec<Site>,
    /// What loops spread over the threads are called; code names them by position.
    pub(super) launches: Vec<Spread>,
    pub(super) max_turns: u64,
    /// Whether a product and a sum may be rounded once.
    pub(super) may_fuse: bool,
}

/// A loop that the threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    /// What runs at each position, by position in the program's functions.
    pub(super) function: usize,
    pub(super) n_outer: usize,
    /// From one position to the next.
    pub(super) steps: Vec<i64>,
}

/// A function that is being made.
pub(super) struct Translation<'t, 'p> {
    pub(super) emit: Emitter<'t>,
    shared: &'t mut Shared<'p>,
    links: &'t mut dyn Links,
    /// Whether the processor multiplies and adds in one operation.
    pub(super) has_fused: bool,
    imported: BTreeMap<Import, FuncRef>,
    tables: BTreeMap<&'static str, Clif>,
    frame: Clif,
    thread: Clif,
    positions: BTreeMap<Symbol, Clif>,
    integers: BTreeMap<usize, Clif>,
    locals: BTreeMap<usize, Place>,
    bases: BTreeMap<usize, Clif>,
    regions: BTreeMap<usize, AliasRegion>,
    /// The variable of the vector loop around.
    lane_symbol: Option<Symbol>,
    /// The lanes that take part; all, where there is none.
    mask: Option<Operand>,
    /// Where a `while` around goes on when it has ended.
    while_end: Option<cranelift_codegen::ir::Block>,
}

/// Where a local is.
#[derive(Clone)]
enum Place {
    /// It is never written again.
    Constant(Operand),
    /// In registers of this type; one for all lanes, or as many as it takes.
    Variables { variables: Vec<Variable>, is_each: bool },
}

/// What code is joined with: functions of the host, tables.
pub(super) trait Links {
    fn function(&mut self, of: &mut cranelift_codegen::ir::Function, import: Import) -> FuncRef;
    fn table(&mut self, of: &mut cranelift_codegen::ir::Function, table: &'static Table) -> GlobalValue;
    /// Whether the processor multiplies and adds in one operation.
    fn has_fused(&self) -> bool;
}

/// The definitions of the elementary functions that items call, one for each call.
pub(super) fn definitions(items: &[Item]) -> Vec<&'static Definition> {
    let mut found = Vec::new();
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.walk(&mut |it| {
                found.extend(match &it.kind {
                    ExprKind::Call(function, arguments) => {
                        arguments.first().and_then(|it| definition(*function, it.dtype))
                    }
                    ExprKind::Binary(BinaryOp::Pow, left, _) => power_definition(left.dtype),
                    _ => None,
                });
            });
        });
    });
    found
}

/// Names of memory that no array shares.
const FRAME: u32 = u32::MAX;

pub(super) fn translate<'t, 'p>(
    builder: FunctionBuilder<'t>,
    shared: &'t mut Shared<'p>,
    links: &'t mut dyn Links,
    function: &Function,
    config: cranelift_codegen::isa::TargetFrontendConfig,
) {
    let mut builder = builder;
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let &[frame, at, thread] = builder.block_params(entry) else { unreachable!("every function has three") };
    let mut this = Translation {
        emit: Emitter { builder, lanes: 1 },
        shared,
        has_fused: links.has_fused(),
        links,
        imported: BTreeMap::new(),
        tables: BTreeMap::new(),
        frame,
        thread,
        positions: BTreeMap::new(),
        integers: BTreeMap::new(),
        locals: BTreeMap::new(),
        bases: BTreeMap::new(),
        regions: BTreeMap::new(),
        lane_symbol: None,
        mask: None,
        while_end: None,
    };
    for (position, symbol) in function.positions.iter().enumerate() {
        let value = this.load_word(at, position);
        this.positions.insert(symbol.clone(), value);
    }
    this.find_bases(&function.body);
    this.find_tables(&function.body);
    this.items(&function.body);
    this.emit.builder.ins().return_(&[]);
    this.emit.builder.finalize(config);
}

/// The arrays that items touch.
fn touched(items: &[Item]) -> std::collections::BTreeSet<usize> {
    let mut arrays = std::collections::BTreeSet::new();
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |read| {
                if let Read::Element(element) = read {
                    arrays.insert(element.array);
                }
            });
        });
        if let Item::Assign(Assign { target: Target::Element(element), .. }) = item {
            arrays.insert(element.array);
        }
    });
    arrays
}

impl Translation<'_, '_> {
    /// A word that does not change while the function runs.
    fn load_word(&mut self, address: Clif, position: usize) -> Clif {
        let region = self.region(usize::MAX, FRAME);
        let flags = MemFlagsData::trusted().with_readonly().with_can_move().with_alias_region(Some(region));
        let offset = i32::try_from(position * 8).expect("a frame has few words");
        self.emit.builder.ins().load(I64, flags, address, offset)
    }

    fn region(&mut self, array: usize, user_id: u32) -> AliasRegion {
        let regions = &mut self.emit.builder.func.dfg.alias_regions;
        *self
            .regions
            .entry(array)
            .or_insert_with(|| regions.insert(AliasRegionData { user_id, description: "an array".into() }))
    }

    /// Loads at the start where the arrays are, and the scalars.
    fn find_bases(&mut self, body: &[Item]) {
        for array in touched(body) {
            let word = self.load_word(self.frame, 1 + array);
            let of = &self.shared.program.arrays[array];
            let base = if of.is_scalar_argument() {
                scalar_of_word(&mut self.emit, of.container.dtype, word)
            } else if of.is_per_thread {
                let each = self.shared.shape.arrays[array].each_bytes;
                let own = self.emit.builder.ins().imul_imm_s(self.thread, each);
                self.emit.builder.ins().iadd(word, own)
            } else {
                word
            };
            self.bases.insert(array, base);
        }
    }

    /// Whether a product and a sum are one operation.
    pub(super) fn fuses(&self) -> bool {
        self.shared.may_fuse && self.has_fused
    }

    pub(super) fn imported(&mut self, helper: Helper) -> FuncRef {
        self.host(Import::Helper(helper))
    }

    fn host(&mut self, import: Import) -> FuncRef {
        if let Some(&known) = self.imported.get(&import) {
            return known;
        }
        let function = self.links.function(self.emit.builder.func, import);
        self.imported.insert(import, function);
        function
    }

    /// Where a table is, loaded where the function starts.
    pub(super) fn table(&mut self, table: &'static Table) -> Clif {
        self.tables[table.name]
    }

    fn find_tables(&mut self, body: &[Item]) {
        for definition in definitions(body) {
            for table in definition.tables() {
                if !self.tables.contains_key(table.name) {
                    let global = self.links.table(self.emit.builder.func, table);
                    let address = self.emit.builder.ins().symbol_value(I64, global);
                    self.tables.insert(table.name, address);
                }
            }
        }
    }

    fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        let origin = match item {
            Item::Assign(it) => Some(&it.origin),
            Item::Declare(it) => it.value.as_ref().map(|(_, origin)| origin),
            Item::Checked(it) => Some(&it.origin),
            Item::While(it) => Some(&it.origin),
            Item::If(it) => it.branches.first().map(|it| &it.origin),
            Item::For(_) | Item::Launch(_) => None,
        };
        // Which statement an instruction is of; 0 is none.
        let location = origin.map_or_else(SourceLoc::default, |it| SourceLoc::new(it.stmt.0));
        self.emit.builder.set_srcloc(location);
        match item {
            Item::Assign(it) => self.assign(it),
            Item::Declare(it) => self.declare(it),
            Item::Checked(it) => self.checked(it),
            Item::For(it) if self.may_be_vector(it) => self.vector_loop(it),
            Item::For(it) => self.scalar_loop(it),
            Item::Launch(it) => self.launch(it),
            Item::If(it) => self.branches(it),
            Item::While(it) => self.repeat(it),
        }
    }

    // Integers of symbols.

    fn affine(&mut self, sum: &Affine) -> Clif {
        let (mut constant, mut terms) = (sum.offset(), Vec::new());
        for (symbol, factor) in sum.terms() {
            match self.known(symbol) {
                Some(value) => constant += factor * value,
                None => terms.push((self.positions[symbol], factor)),
            }
        }
        self.sum(&terms, constant)
    }

    fn sum(&mut self, terms: &[(Clif, i64)], constant: i64) -> Clif {
        let ins = |this: &mut Self, value: Clif, factor: i64| match factor {
            1 => value,
            _ => this.emit.builder.ins().imul_imm_s(value, factor),
        };
        let mut all: Option<Clif> = None;
        for &(value, factor) in terms {
            let term = ins(self, value, factor);
            all = Some(match all {
                None => term,
                Some(sum) => self.emit.builder.ins().iadd(sum, term),
            });
        }
        match all {
            None => self.emit.builder.ins().iconst(I64, constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => self.emit.builder.ins().iadd_imm_s(sum, constant),
        }
    }

    /// What a symbol stands for that is the same for the whole run.
    fn known(&self, symbol: &Symbol) -> Option<i64> {
        match self.shared.program.symbols.get(symbol) {
            Some(Meaning::Size(axis)) => Some(self.shared.shape.domain[axis.index()]),
            Some(&Meaning::Levels { array, side }) => Some(self.shared.shape.levels(array, side)),
            Some(Meaning::Position(_)) | None => None,
        }
    }

    fn size(&mut self, size: &Size) -> Clif {
        let (parts, how) = match size {
            Size::Affine(sum) => return self.affine(sum),
            Size::Min(parts) => (parts, IntCC::SignedLessThan),
            Size::Max(parts) => (parts, IntCC::SignedGreaterThan),
        };
        let parts: Vec<Clif> = parts.iter().map(|it| self.size(it)).collect();
        let better = |this: &mut Self, a: Clif, b: Clif| {
            let is_better = this.emit.builder.ins().icmp(how, a, b);
            this.emit.builder.ins().select(is_better, a, b)
        };
        let all = parts.into_iter().reduce(|a, b| better(self, a, b));
        all.unwrap_or_else(|| self.emit.builder.ins().iconst(I64, 0))
    }

    // Elements.

    /// The address of an element without what is known beforehand, that, and how far its lanes are apart.
    fn address(&mut self, element: &Element) -> (Clif, i64, i64) {
        let shape = &self.shared.shape.arrays[element.array];
        let strides = shape.strides.clone();
        let size = self.shared.program.arrays[element.array].container.dtype.size_bytes() as i64;
        let (mut constant, mut apart) = (0_i64, 0_i64);
        let mut factors: BTreeMap<Symbol, i64> = BTreeMap::new();
        let mut found = Vec::new();
        let ring = self.shared.program.arrays[element.array].container.ring;
        for (dimension, (at, stride)) in element.index.iter().zip(strides).enumerate() {
            let bytes = stride * size;
            if let Some(places) = Ring::places_along(ring, dimension) {
                let position = match at {
                    At::Known(sum) => self.affine(sum),
                    At::Found { integer, shift } => {
                        let shift = self.affine(shift);
                        self.emit.builder.ins().isub(self.integers[integer], shift)
                    }
                };
                found.push((self.emit.builder.ins().band_imm_s(position, places - 1), bytes));
                continue;
            }
            let (sum, sign) = match at {
                At::Known(sum) => (sum, 1),
                At::Found { integer, shift } => {
                    found.push((self.integers[integer], bytes));
                    (shift, -1)
                }
            };
            constant += sign * sum.offset() * bytes;
            for (symbol, factor) in sum.terms() {
                match self.known(symbol) {
                    Some(value) => constant += sign * factor * value * bytes,
                    None => *factors.entry(symbol.clone()).or_default() += sign * factor * bytes,
                }
            }
        }
        if let Some(symbol) = &self.lane_symbol {
            apart = factors.get(symbol).copied().unwrap_or(0);
        }
        // What changes fastest comes last, so that the rest is computed outside of the innermost loop.
        let last = self.lane_symbol.clone();
        let (mut terms, mut of_lane) = (Vec::new(), None);
        for (symbol, factor) in factors {
            if factor == 0 {
                continue;
            }
            if Some(&symbol) == last.as_ref() {
                of_lane = Some((self.positions[&symbol], factor));
            } else {
                terms.push((self.positions[&symbol], factor));
            }
        }
        terms.extend(found);
        let mut address = self.bases[&element.array];
        if !terms.is_empty() {
            let outside = self.sum(&terms, 0);
            address = self.emit.builder.ins().iadd(address, outside);
        }
        if let Some(term) = of_lane {
            let inside = self.sum(&[term], 0);
            address = self.emit.builder.ins().iadd(address, inside);
        }
        if i32::try_from(constant).is_err() || i32::try_from(constant + 4096 * 16).is_err() {
            address = self.emit.builder.ins().iadd_imm_s(address, constant);
            constant = 0;
        }
        (address, constant, apart)
    }

    fn flags(&mut self, array: usize) -> MemFlagsData {
        let region = self.region(array, u32::try_from(array).expect("few arrays"));
        MemFlagsData::new().with_notrap().with_alias_region(Some(region))
    }

    pub(super) fn read(&mut self, read: &Read, dtype: DType) -> Operand {
        match read {
            Read::Local(local) => self.local(*local),
            Read::Sum(sum) => {
                let value = self.position_value(sum);
                self.cast(DType::Int64, dtype, value)
            }
            Read::Element(element) => self.load(element, dtype),
        }
    }

    /// An integer of symbols, which may differ from lane to lane.
    fn position_value(&mut self, sum: &Affine) -> Operand {
        let first = self.affine(sum);
        let factor = self.lane_symbol.as_ref().map_or(0, |it| sum.factor(it));
        if factor == 0 {
            return Operand::Same(first);
        }
        let lanes = i64::try_from(self.emit.lanes).unwrap_or(1);
        let values: Vec<Clif> =
            (0..lanes).map(|lane| self.emit.builder.ins().iadd_imm_s(first, lane * factor)).collect();
        self.emit.gathered(DType::Int64, &values)
    }

    fn load(&mut self, element: &Element, dtype: DType) -> Operand {
        let of = &self.shared.program.arrays[element.array];
        if of.is_scalar_argument() {
            return Operand::Same(self.bases[&element.array]);
        }
        let (address, offset, apart) = self.address(element);
        let (flags, offset) = (self.flags(element.array), offset_of(offset));
        let size = dtype.size_bytes() as i64;
        if self.emit.lanes == 1 || apart == 0 {
            return Operand::Same(self.load_one(dtype, flags, address, offset));
        }
        match chunk_type(dtype) {
            Some(chunk) if apart == size && dtype != DType::Bool => {
                let chunks = (0..self.emit.n_chunks(chunk)).map(|at| {
                    let offset = offset + offset_of((at * REGISTER) as i64);
                    self.emit.builder.ins().load(chunk, flags, address, offset)
                });
                Operand::Each(chunks.collect())
            }
            _ => {
                let values = (0..self.emit.lanes as i64).map(|lane| {
                    let here = self.emit.builder.ins().iadd_imm_s(address, lane * apart);
                    self.load_one(dtype, flags, here, offset)
                });
                let values: Vec<Clif> = values.collect();
                self.emit.gathered(dtype, &values)
            }
        }
    }

    fn load_one(&mut self, dtype: DType, flags: MemFlagsData, address: Clif, offset: i32) -> Clif {
        let value = self.emit.builder.ins().load(scalar_type(dtype), flags, address, offset);
        if dtype == DType::Bool {
            // Any byte but 0 is true.
            return self.emit.builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0);
        }
        value
    }

    fn store(&mut self, element: &Element, value: Operand) {
        let dtype = self.shared.program.arrays[element.array].container.dtype;
        // Where a lane takes no part, its element keeps its value.
        let value = match self.mask.clone() {
            None => value,
            Some(mask) => {
                let old = self.load(element, dtype);
                self.emit.select(dtype, &mask, &value, &old)
            }
        };
        let (address, offset, apart) = self.address(element);
        let (flags, offset) = (self.flags(element.array), offset_of(offset));
        if self.emit.lanes == 1 {
            let Operand::Same(value) = value else { unreachable!("there is one lane") };
            self.emit.builder.ins().store(flags, value, address, offset);
            return;
        }
        if apart == dtype.size_bytes() as i64 && dtype != DType::Bool {
            for (at, chunk) in self.emit.spread(dtype, &value).into_iter().enumerate() {
                let offset = offset + offset_of((at * REGISTER) as i64);
                self.emit.builder.ins().store(flags, chunk, address, offset);
            }
            return;
        }
        for lane in 0..self.emit.lanes {
            let of_lane = self.emit.lane(dtype, &value, lane);
            let here = self.emit.builder.ins().iadd_imm_s(address, lane as i64 * apart);
            self.emit.builder.ins().store(flags, of_lane, here, offset);
        }
    }

    // Locals.

    fn local(&mut self, local: usize) -> Operand {
        match self.locals.get(&local).cloned() {
            Some(Place::Constant(operand)) => operand,
            Some(Place::Variables { variables, is_each }) => {
                let values: Chunks = variables.iter().map(|&it| self.emit.builder.use_var(it)).collect();
                if is_each { Operand::Each(values) } else { Operand::Same(values[0]) }
            }
            None => {
                let dtype = self.shared.program.locals[local].dtype;
                Operand::Same(self.emit.literal(Value::zero(dtype)))
            }
        }
    }

    fn declare(&mut self, it: &Declare) {
        let dtype = self.shared.program.locals[it.local].dtype;
        let value = match &it.value {
            Some((value, _)) => self.expr(value),
            None => Operand::Same(self.emit.literal(Value::zero(dtype))),
        };
        debug_assert!(self.emit.is_for_lanes(&value), "{value:?}");
        if it.is_const {
            self.locals.insert(it.local, Place::Constant(value));
            return;
        }
        let place = if self.emit.lanes == 1 {
            let variable = self.emit.builder.declare_var(scalar_type(dtype));
            Place::Variables { variables: vec![variable], is_each: false }
        } else {
            let chunk = chunk_type(dtype).expect("narrow integers stay out of vector loops");
            let n_chunks = self.emit.n_chunks(chunk);
            let variables = (0..n_chunks).map(|_| self.emit.builder.declare_var(chunk)).collect();
            Place::Variables { variables, is_each: true }
        };
        self.locals.insert(it.local, place);
        self.set_local(it.local, value);
    }

    fn set_local(&mut self, local: usize, value: Operand) {
        let dtype = self.shared.program.locals[local].dtype;
        let Some(Place::Variables { variables, is_each }) = self.locals.get(&local).cloned() else {
            unreachable!("what is written is declared before, and not as a constant")
        };
        let value = if !is_each {
            let Operand::Same(value) = value else {
                unreachable!("a vector loop writes its own locals only")
            };
            [value].into_iter().collect()
        } else if dtype == DType::Bool {
            self.emit.mask_like(&value, I64X2)
        } else {
            self.emit.spread(dtype, &value)
        };
        for (&variable, value) in variables.iter().zip(value) {
            self.emit.builder.def_var(variable, value);
        }
    }

    fn assign(&mut self, it: &Assign) {
        let value = self.expr(&it.value);
        match &it.target {
            Target::Element(element) => self.store(element, value),
            Target::Local(local) => {
                let value = match self.mask.clone() {
                    None => value,
                    Some(mask) => {
                        let old = self.local(*local);
                        let dtype = self.shared.program.locals[*local].dtype;
                        self.emit.select(dtype, &mask, &value, &old)
                    }
                };
                self.set_local(*local, value);
            }
        }
    }

    // Control flow.

    /// Runs `body` once if the byte holds.
    fn when(&mut self, condition: Clif, body: impl FnOnce(&mut Self)) {
        self.choose(condition, body, |_| {});
    }

    fn choose(&mut self, condition: Clif, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let builder = &mut self.emit.builder;
        let (yes, no, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().brif(condition, yes, &[], no, &[]);
        builder.seal_block(yes);
        builder.seal_block(no);
        builder.switch_to_block(yes);
        then(self);
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.switch_to_block(no);
        otherwise(self);
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    /// Runs `body` with an integer that starts at `start`, as long as `is_inside` of it holds; `next` tells what
    /// follows. Answers the first that is not inside.
    fn count(
        &mut self,
        start: Clif,
        is_inside: impl Fn(&mut Self, Clif) -> Clif,
        next: impl Fn(&mut Self, Clif) -> Clif,
        body: impl FnOnce(&mut Self, Clif),
    ) -> Clif {
        let builder = &mut self.emit.builder;
        let (inside, after) = (builder.create_block(), builder.create_block());
        let at = builder.append_block_param(inside, I64);
        let end = builder.append_block_param(after, I64);
        let enters = is_inside(self, start);
        let start = [BlockArg::Value(start)];
        self.emit.builder.ins().brif(enters, inside, &start, after, &start);
        self.emit.builder.switch_to_block(inside);
        body(self, at);
        let following = next(self, at);
        let goes_on = is_inside(self, following);
        let following = [BlockArg::Value(following)];
        self.emit.builder.ins().brif(goes_on, inside, &following, after, &following);
        self.emit.builder.seal_block(inside);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
        end
    }

    fn with_position(&mut self, symbol: &Symbol, value: Clif, body: impl FnOnce(&mut Self)) {
        let before = self.positions.insert(symbol.clone(), value);
        body(self);
        match before {
            Some(before) => self.positions.insert(symbol.clone(), before),
            None => self.positions.remove(symbol),
        };
    }

    fn scalar_loop(&mut self, it: &For) {
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = &it.positions.variable;
        let body = |this: &mut Self, at: Clif| {
            this.with_position(symbol, at, |this| this.items(&it.body));
        };
        if it.is_descending {
            let last = self.emit.builder.ins().iadd_imm_s(end, -1);
            let is_inside = |this: &mut Self, at: Clif| {
                this.emit.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, start)
            };
            let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, -1);
            self.count(last, is_inside, next, body);
        } else {
            let is_inside =
                |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThan, at, end);
            let step = it.positions.step;
            let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, step);
            self.count(start, is_inside, next, body);
        }
    }

    /// The iterations in groups of lanes, and one by one what is left.
    fn vector_loop(&mut self, it: &For) {
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = &it.positions.variable;
        let lanes = LANES as i64;
        let last = self.emit.builder.ins().iadd_imm_s(end, -lanes);
        let has_all =
            |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThanOrEqual, at, last);
        let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, lanes);
        let rest = self.count(start, has_all, next, |this, at| {
            this.emit.lanes = LANES;
            this.lane_symbol = Some(symbol.clone());
            this.with_position(symbol, at, |this| this.items(&it.body));
            this.lane_symbol = None;
            this.emit.lanes = 1;
        });
        let is_inside =
            |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThan, at, end);
        let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, 1);
        self.count(rest, is_inside, next, |this, at| {
            this.with_position(symbol, at, |this| this.items(&it.body));
        });
    }

    /// Whether iterations of a loop can be lanes.
    fn may_be_vector(&self, it: &For) -> bool {
        // Lanes that are done wait for the others of a `while`, which C knows no way to say.
        let has_while = any(&it.body, &mut |it| matches!(it, Item::While(_)));
        let is_meant = it.is_simd || it.is_parallel && it.axis == Axis::I && has_while;
        if !is_meant || it.is_descending || it.positions.step != 1 || self.emit.lanes > 1 {
            return false;
        }
        let symbol = &it.positions.variable;
        let program = self.shared.program;
        let mut own_locals = std::collections::BTreeSet::new();
        walk(&it.body, &mut |item| {
            if let Item::Declare(declare) = item {
                own_locals.insert(declare.local);
            }
        });
        let apart = |element: &Element| -> i64 {
            let strides = &self.shared.shape.arrays[element.array].strides;
            let factor = |at: &At| match at {
                At::Known(sum) => sum.factor(symbol),
                At::Found { shift, .. } => -shift.factor(symbol),
            };
            element.index.iter().zip(strides).map(|(at, stride)| factor(at) * stride).sum()
        };
        // Where places come round along the lanes, these are not side by side.
        let goes_round = |element: &Element| {
            let ring = program.arrays[element.array].container.ring;
            ring.is_some_and(|ring| match &element.index[ring.dimension] {
                At::Known(sum) => sum.factor(symbol) != 0,
                At::Found { .. } => true,
            })
        };
        let mut is_fit = true;
        let fits = |expr: &Expr<Read>| {
            let mut fits = true;
            expr.walk(&mut |it| fits &= chunk_type(it.dtype).is_some());
            expr.accesses(&mut |it| fits &= !matches!(it, Read::Element(element) if goes_round(element)));
            fits
        };
        walk(&it.body, &mut |item| {
            item.each_expr(&mut |expr| is_fit &= fits(expr));
            is_fit &= match item {
                Item::Assign(Assign { target: Target::Element(element), .. }) => {
                    apart(element) != 0 && !goes_round(element)
                }
                Item::Assign(Assign { target: Target::Local(local), .. }) => own_locals.contains(local),
                Item::Declare(it) => chunk_type(program.locals[it.local].dtype).is_some(),
                // A condition on the position itself guards elements that need not exist.
                Item::If(it) => it.branches.iter().all(|it| {
                    let mut is_free = true;
                    it.condition.accesses(&mut |read| {
                        is_free &= !matches!(read, Read::Sum(sum) if sum.factor(symbol) != 0);
                    });
                    is_free
                }),
                Item::While(_) => true,
                Item::For(_) | Item::Launch(_) | Item::Checked(_) => false,
            };
        });
        is_fit
    }

    fn branches(&mut self, it: &If) {
        self.branches_from(it, 0);
    }

    fn branches_from(&mut self, it: &If, first: usize) {
        let Some(branch) = it.branches.get(first) else {
            self.items(&it.otherwise);
            return;
        };
        let is_last = first + 1 == it.branches.len() && it.otherwise.is_empty();
        match self.expr(&branch.condition) {
            Operand::Same(condition) => self.choose(
                condition,
                |this| this.scoped(|this| this.items(&branch.body)),
                |this| this.scoped(|this| this.branches_from(it, first + 1)),
            ),
            condition @ Operand::Each(_) => {
                let around = self.mask.clone();
                let inside = self.narrow(around.as_ref(), &condition);
                self.masked(inside, |this| this.items(&branch.body));
                if !is_last {
                    let outside = self.emit.not(&condition);
                    let outside = self.narrow(around.as_ref(), &outside);
                    self.masked(outside, |this| this.branches_from(it, first + 1));
                }
            }
        }
    }

    fn narrow(&mut self, around: Option<&Operand>, condition: &Operand) -> Operand {
        match around {
            None => condition.clone(),
            Some(around) => self.emit.both(around, condition),
        }
    }

    /// Runs `body` for the lanes of a mask, if there are any.
    fn masked(&mut self, mask: Operand, body: impl FnOnce(&mut Self)) {
        let is_any = self.emit.any(&mask);
        let around = self.mask.replace(mask);
        self.when(is_any, |this| this.scoped(body));
        self.mask = around;
    }

    /// What a block declares ends with it.
    fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        let (locals, integers) = (self.locals.clone(), self.integers.clone());
        body(self);
        (self.locals, self.integers) = (locals, integers);
    }

    fn repeat(&mut self, it: &While) {
        let builder = &mut self.emit.builder;
        let (test, body, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        let turn = builder.append_block_param(test, I64);
        let zero = builder.ins().iconst(I64, 0);
        // In a vector loop, the lanes that have not come to their end.
        let active: Vec<Variable> = if self.emit.lanes > 1 {
            (0..self.emit.n_chunks(I64X2)).map(|_| self.emit.builder.declare_var(I64X2)).collect()
        } else {
            Vec::new()
        };
        let all = match self.mask.clone() {
            Some(mask) => mask,
            None => Operand::Same(self.emit.literal(Value::Bool(true))),
        };
        if !active.is_empty() {
            let all = self.emit.mask_like(&all, I64X2);
            active.iter().zip(all).for_each(|(&it, mask)| self.emit.builder.def_var(it, mask));
        }
        self.emit.builder.ins().jump(test, &[BlockArg::Value(zero)]);
        self.emit.builder.switch_to_block(test);
        let condition = self.expr(&it.condition);
        let condition = if active.is_empty() {
            condition
        } else {
            let before = active.iter().map(|&it| self.emit.builder.use_var(it)).collect();
            let now = self.emit.both(&Operand::Each(before), &condition);
            let now = self.emit.mask_like(&now, I64X2);
            active.iter().zip(&now).for_each(|(&it, &mask)| self.emit.builder.def_var(it, mask));
            Operand::Each(now)
        };
        let goes_on = self.emit.any(&condition);
        self.emit.builder.ins().brif(goes_on, body, &[], after, &[]);
        self.emit.builder.seal_block(body);
        self.emit.builder.switch_to_block(body);

        let builder = &mut self.emit.builder;
        let (endless, fine) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(endless);
        let limit = i64::try_from(self.shared.max_turns).unwrap_or(i64::MAX);
        let is_endless = builder.ins().icmp_imm_s(IntCC::Equal, turn, limit);
        builder.ins().brif(is_endless, endless, &[], fine, &[]);
        builder.seal_block(endless);
        builder.seal_block(fine);
        builder.switch_to_block(endless);
        self.raise(&it.trap, &condition);
        self.emit.builder.ins().jump(after, &[]);

        self.emit.builder.switch_to_block(fine);
        let around = match &condition {
            Operand::Same(_) => self.mask.clone(),
            Operand::Each(_) => self.mask.replace(condition.clone()),
        };
        // A check inside may have to end the loop.
        let end = self.while_end.replace(after);
        self.scoped(|this| this.items(&it.body));
        self.while_end = end;
        self.mask = around;
        let next = self.emit.builder.ins().iadd_imm_s(turn, 1);
        self.emit.builder.ins().jump(test, &[BlockArg::Value(next)]);
        self.emit.builder.seal_block(test);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    /// Tells the host that the run must end, at the cell of each lane that takes part.
    fn raise(&mut self, trap: &Trap, taking_part: &Operand) {
        let site = Site { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
        self.shared.sites.push(site);
        let site = i64::try_from(self.shared.sites.len() - 1).unwrap_or(0);
        let function = self.host(Import::Raise);
        let host = self.load_word(self.frame, 0);
        for lane in 0..self.emit.lanes {
            let takes_part = self.emit.lane(DType::Bool, taking_part, lane);
            self.when(takes_part, |this| {
                let site = this.emit.builder.ins().iconst(I64, site);
                let mut arguments = vec![host, site];
                for sum in [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]] {
                    let value = this.position_value(sum);
                    arguments.push(this.emit.lane(DType::Int64, &value, lane));
                }
                this.emit.builder.ins().call(function, &arguments);
            });
        }
    }

    fn checked(&mut self, it: &Checked) {
        let mut is_outside: Option<Clif> = None;
        for index in &it.indices {
            let Operand::Same(value) = self.expr(&index.value) else {
                unreachable!("what is found at run time stays out of vector loops")
            };
            self.integers.insert(index.integer, value);
            let size = self.size(&index.size);
            // A negative index is beyond every size, as a number without sign.
            let beyond = self.emit.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, value, size);
            is_outside = Some(match is_outside {
                None => beyond,
                Some(other) => self.emit.builder.ins().bor(other, beyond),
            });
        }
        let is_outside = is_outside.unwrap_or_else(|| self.emit.builder.ins().iconst(I8, 0));
        let builder = &mut self.emit.builder;
        let (outside, inside, after) =
            (builder.create_block(), builder.create_block(), builder.create_block());
        builder.set_cold_block(outside);
        builder.ins().brif(is_outside, outside, &[], inside, &[]);
        builder.seal_block(outside);
        builder.seal_block(inside);
        builder.switch_to_block(outside);
        let always = Operand::Same(self.emit.literal(Value::Bool(true)));
        self.raise(&it.trap, &always);
        match self.while_end {
            Some(end) if it.is_in_while => self.emit.builder.ins().jump(end, &[]),
            _ => self.emit.builder.ins().jump(after, &[]),
        };
        self.emit.builder.switch_to_block(inside);
        self.scoped(|this| this.items(&it.body));
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    fn launch(&mut self, it: &Launch) {
        let n_words = it.outer.len() + 2 * it.positions.len();
        let size = u32::try_from(n_words.max(1) * 8).expect("few positions");
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = self.emit.builder.create_sized_stack_slot(slot);
        let mut words: Vec<Clif> = it.outer.iter().map(|symbol| self.positions[symbol]).collect();
        for positions in &it.positions {
            words.push(self.size(&positions.start));
            words.push(self.size(&positions.end));
        }
        for (at, word) in words.into_iter().enumerate() {
            let offset = i32::try_from(at * 8).expect("few positions");
            self.emit.builder.ins().stack_store(I64, word, slot, offset);
        }
        let steps = it.positions.iter().map(|it| it.step).collect();
        self.shared.launches.push(Spread { function: it.function, n_outer: it.outer.len(), steps });
        let which = i64::try_from(self.shared.launches.len() - 1).unwrap_or(0);
        let function = self.host(Import::Launch);
        let host = self.load_word(self.frame, 0);
        let which = self.emit.builder.ins().iconst(I64, which);
        let address = self.emit.builder.ins().stack_addr(I64, slot, 0);
        self.emit.builder.ins().call(function, &[host, which, address]);
    }
}

/// A scalar's value from the word that holds it.
fn scalar_of_word(emit: &mut Emitter<'_>, dtype: DType, word: Clif) -> Clif {
    let narrow = |emit: &mut Emitter<'_>, to: Type| match to {
        I64 => word,
        _ => emit.builder.ins().ireduce(to, word),
    };
    match dtype {
        DType::Bool => emit.builder.ins().icmp_imm_s(IntCC::NotEqual, word, 0),
        DType::Float64 => emit.as_type(word, cranelift_codegen::ir::types::F64),
        DType::Float32 => {
            let bits = narrow(emit, cranelift_codegen::ir::types::I32);
            emit.as_type(bits, cranelift_codegen::ir::types::F32)
        }
        _ => narrow(emit, scalar_type(dtype)),
    }
}

fn offset_of(bytes: i64) -> i32 {
    i32::try_from(bytes).expect("larger distances are added to the address")
}
