//! Functions of a program as functions of machine code: loops, branches, statements, addresses.
//!
//! A function gets a frame, the positions that it is for, and the number of the thread that it runs on. The
//! frame is a list of words. The first one is the host's. Then each array has one: the address that its
//! indices count from, or the value of a scalar. Sizes, strides and numbers of levels are constants of the
//! code.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, FuncRef, GlobalValue, InstBuilder, MemFlagsData, SourceLoc, Type,
    Value as Clif,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use isobar_compiler::entity::Handle;
use isobar_compiler::loops::analysis::operations::definitions;
use isobar_compiler::loops::nodes::{
    Array, Assign, Element, Function, Integer, Item, Local, Program, Read, Target,
};
use isobar_compiler::loops::visit::walk;
use isobar_compiler::space::Symbol;
use isobar_compiler::types::DType;
use isobar_compiler::types::math::real::Table;
use serde::{Deserialize, Serialize};

use super::host::{HostHelper, Import, TrapSite};
use super::lanes::{Emitter, Operand, scalar_type};
use super::shape::Shape;
use super::wide::{Body, Isa};

/// State that the functions of one program share while they are made.
pub(super) struct ProgramContext<'p> {
    pub(super) program: &'p Program,
    pub(super) shape: &'p Shape,
    /// Where the run may have to end; code names them by position.
    pub(super) sites: Vec<TrapSite>,
    /// Loops that are spread over the threads; code names them by position.
    pub(super) launches: Vec<ParallelLoop>,
    /// Iterations of a `while` at one cell after which it counts as endless.
    pub(super) max_turns: u64,
    /// Whether a product and a sum may be rounded once.
    pub(super) may_fuse: bool,
    /// Whether the fields are more than the last cache keeps from one call to the next.
    pub(super) streams: bool,
}

/// A loop that the threads share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ParallelLoop {
    /// The function that runs at each position.
    pub(super) function: Handle<Function>,
    /// Positions of the loops around the launch, which the function gets before its own.
    pub(super) n_outer: usize,
    /// From one position to the next.
    pub(super) steps: Vec<i64>,
}

/// A function that is being made.
pub(super) struct Translation<'t, 'p> {
    pub(super) emit: Emitter<'t>,
    pub(super) shared: &'t mut ProgramContext<'p>,
    pub(super) links: &'t mut dyn Linker,
    /// Whether the processor multiplies and adds in one operation.
    pub(super) has_fused: bool,
    /// Imports that this function has already: Cranelift wants one reference in each function that uses an
    /// import.
    pub(super) imported: BTreeMap<Import, FuncRef>,
    /// Addresses of tables, by their name. All are loaded at the entry, so that loops find them in
    /// registers.
    pub(super) tables: BTreeMap<&'static str, Clif>,
    /// Address of the frame, and number of the thread: the first and the third argument.
    pub(super) frame: Clif,
    pub(super) thread: Clif,
    /// The positions of the function and of the loops around, in elements from the start of the compute
    /// domain. In a vector loop, the position of its variable is that of the first lane.
    pub(super) positions: BTreeMap<Symbol, Clif>,
    /// Indices that were found at run time; each holds inside of its check only.
    pub(super) integers: BTreeMap<Handle<Integer>, Clif>,
    /// A local that is not here has no value yet, and reads as zero.
    pub(super) locals: BTreeMap<Handle<Local>, LocalValue>,
    /// The value of a scalar, or the address that indices of an array count from.
    /// That is the element at the start of the compute domain; for an array of a single iteration, the first
    /// element. For an array that each thread has, it is that of this thread.
    pub(super) bases: BTreeMap<Handle<Array>, Clif>,
    /// One for each array, and one for the frame: the optimiser may move a load over a store to another
    /// region.
    pub(super) regions: BTreeMap<MemoryRegion, AliasRegion>,
    /// The variable of the vector loop around.
    pub(super) lane_symbol: Option<Symbol>,
    /// The lanes that take part; all, where there is none.
    pub(super) mask: Option<Operand>,
    /// Rows that the next turn of a loop around reads; the first loop over lanes asks for them.
    pub(super) ahead: Vec<Element>,
    /// Where a `while` around goes on when it has ended.
    pub(super) while_end: Option<cranelift_codegen::ir::Block>,
}

/// Where a local is.
#[derive(Clone)]
pub(super) enum LocalValue {
    /// It is never written again.
    Constant(Operand),
    /// In registers of this type; one for all lanes, or as many as it takes.
    Variables { variables: Vec<Variable>, is_each: bool },
}

/// The parts that code is linked with: functions of the host, tables.
pub(super) trait Linker {
    fn function(&mut self, of: &mut cranelift_codegen::ir::Function, import: Import) -> FuncRef;
    fn table(&mut self, of: &mut cranelift_codegen::ir::Function, table: &'static Table) -> GlobalValue;
    /// Whether the processor multiplies and adds in one operation.
    fn has_fused(&self) -> bool;
    /// The vectors of loops over lanes that are code of their own, where there are such.
    fn wide_vectors(&self) -> Option<Isa>;
    /// The function that runs all iterations of a body, which gets the address of its words.
    ///
    /// It is made by an assembler of our own: Cranelift defines no vectors of more than 128 bits for this
    /// processor.
    fn wide(&mut self, of: &mut cranelift_codegen::ir::Function, body: &Body) -> FuncRef;
}

/// The number of the frame's region; those of arrays are their positions.
const FRAME: u32 = u32::MAX;

/// Memory that overlaps no other region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryRegion {
    Frame,
    Array(Handle<Array>),
}

/// Makes the code of one function of the program: `fn(frame: *const u64, positions: *const i64, thread:
/// i64)`.
///
/// The entry block loads all that does not change while the function runs: positions, bases of arrays,
/// tables. The entry dominates all blocks behind it, so each of these values can be used everywhere.
///
/// ```text
/// block0(frame, at, thread):
///     i = load at[0]                       ; the positions, as the launch has them
///     a = load frame[1 + a]                ; the base of each array that the body touches
///     b = load frame[1 + b] + thread * n   ; of what each thread has for itself
///     …the statements
///     return
/// ```
pub(super) fn translate<'t, 'p>(
    builder: FunctionBuilder<'t>,
    shared: &'t mut ProgramContext<'p>,
    links: &'t mut dyn Linker,
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
        ahead: Vec::new(),
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
///
/// Indices of run time are expressions of a check, so the arrays that they read are among them. The order
/// is that of the program, and so is the order of the loads at the entry: same program, same bytes.
fn touched(items: &[Item]) -> std::collections::BTreeSet<Handle<Array>> {
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
    ///
    /// It is read-only and may be moved: the host writes frame and positions before it enters the code, and
    /// never after.
    pub(super) fn load_word(&mut self, address: Clif, position: usize) -> Clif {
        let region = self.region(MemoryRegion::Frame);
        let flags = MemFlagsData::trusted().with_readonly().with_can_move().with_alias_region(Some(region));
        let offset = i32::try_from(position * 8).expect("a frame has few words");
        self.emit.builder.ins().load(I64, flags, address, offset)
    }

    /// The region of an array's memory, made at its first use. Right because no two arrays of a frame
    /// overlap, where one of them is written: `Machine::run` asks its caller for that.
    pub(super) fn region(&mut self, region: MemoryRegion) -> AliasRegion {
        let user_id = match region {
            MemoryRegion::Frame => FRAME,
            MemoryRegion::Array(array) => u32::try_from(array.index()).expect("few arrays"),
        };
        let regions = &mut self.emit.builder.func.dfg.alias_regions;
        *self
            .regions
            .entry(region)
            .or_insert_with(|| regions.insert(AliasRegionData { user_id, description: "an array".into() }))
    }

    /// Loads at the start where the arrays are, and the scalars.
    ///
    /// A word is an address, or the bits of a scalar. Arrays that each thread has for itself lie at equal
    /// distances, and the frame has the address of the first thread's.
    pub(super) fn find_bases(&mut self, body: &[Item]) {
        for array in touched(body) {
            let word = self.load_word(self.frame, 1 + array.index());
            let of = &self.shared.program.arrays[array];
            let base = if of.is_scalar_argument() {
                scalar_of_word(&mut self.emit, of.dtype, word)
            } else if of.is_per_thread {
                let each = self.shared.shape.from_thread_to_thread;
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

    /// A function of single numbers, as this function calls it.
    pub(super) fn imported(&mut self, helper: HostHelper) -> FuncRef {
        self.host(Import::Helper(helper))
    }

    /// Something of the host, as this function calls it; imported once.
    pub(super) fn host(&mut self, import: Import) -> FuncRef {
        if let Some(&known) = self.imported.get(&import) {
            return known;
        }
        let function = self.links.function(self.emit.builder.func, import);
        self.imported.insert(import, function);
        function
    }

    /// Where a table is, loaded where the function starts.
    ///
    /// [`Self::find_tables`] has seen all formulas of the body, so it is there.
    pub(super) fn table(&mut self, table: &'static Table) -> Clif {
        self.tables[table.name]
    }

    /// Loads the addresses of the tables that the body's formulas look up. They are loaded here even if
    /// only a branch needs them: a value that is made in a branch is not there behind it.
    pub(super) fn find_tables(&mut self, body: &[Item]) {
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

    pub(super) fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    /// A statement, in the block at hand; the builder stands behind it afterwards, maybe in another block.
    ///
    /// A loop whose lanes have masks becomes a vector loop. All other loops run one iteration after the
    /// other, even where the schedule has mapped them to lanes. There a pass has found that they are no rows
    /// of lanes (`loops/passes/mask_lanes`).
    pub(super) fn item(&mut self, item: &Item) {
        let origin = match item {
            Item::Assign(it) => Some(&it.origin),
            Item::Declare(it) => it.value.as_ref().map(|(_, origin)| origin),
            Item::Checked(it) => Some(&it.origin),
            Item::While(it) => Some(&it.origin),
            Item::If(it) => it.branches.first().map(|it| &it.origin),
            Item::For(_) | Item::Strips(_) | Item::Launch(_) | Item::Barrier => None,
        };
        // Which statement an instruction is of; 0 is none.
        let location = origin.map_or_else(SourceLoc::default, |it| SourceLoc::new(it.stmt.0));
        self.emit.builder.set_srcloc(location);
        match item {
            Item::Assign(it) => self.assign(it),
            Item::Declare(it) => self.declare(it),
            Item::Checked(it) => self.checked(it),
            Item::For(it) if self.shared.program.decisions.lanes(it.id).is_masked => self.vector_loop(it),
            Item::For(it) => self.scalar_loop(it),
            Item::Strips(_) => unreachable!("lanes of this target have masks, so nothing is strip-mined"),
            Item::Launch(it) => self.launch(it),
            Item::If(it) => self.branches(it),
            Item::While(it) => self.repeat(it),
            // The parts that it separates run one after the other here.
            Item::Barrier => {}
        }
    }
}

/// A scalar's value from the word that holds it.
///
/// The inverse of [`word`](super::host::word): a float is its bits, an integer its low bits, a bool is any
/// word but 0.
fn scalar_of_word(emit: &mut Emitter<'_>, dtype: DType, word: Clif) -> Clif {
    let narrow = |emit: &mut Emitter<'_>, to: Type| match to {
        I64 => word,
        _ => emit.builder.ins().ireduce(to, word),
    };
    match dtype {
        DType::Bool => emit.builder.ins().icmp_imm_s(IntCC::NotEqual, word, 0),
        DType::Float64 => emit.as_type(word, F64),
        DType::Float32 => {
            let bits = narrow(emit, I32);
            emit.as_type(bits, F32)
        }
        _ => narrow(emit, scalar_type(dtype)),
    }
}
